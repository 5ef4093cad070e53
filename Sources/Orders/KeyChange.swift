/// A change of keys. More cases may be added.
public enum KeyChange: String, Codable, Sendable {
    /// The origin sent them again, and they were the same.
    case renewed
    /// They expire within a day, and once more: within an hour.
    case expiring
    /// They have expired.
    case expired
    /// The user has revoked them; their files are deleted.
    case revoked
    /// Their expiration dates have changed.
    case expiryChanged
}
