/// The usability of a key. The raw values are in the API. More cases may be added.
public enum KeyState: String, Codable, Sendable {
    case valid
    /// Expired; its file stays for a day.
    case expired
    /// Revoked by the user; its file is deleted.
    case revoked
    /// Neither expired nor revoked, and not stored.
    case missing
}
