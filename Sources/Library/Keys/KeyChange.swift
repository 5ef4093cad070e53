/// A change of keys.
public enum KeyChange: String, Sendable {
    /// The origin sent them again, and they were the same.
    case renewed
    /// They have expired.
    case expired
    /// The user has revoked them; their files are deleted.
    case invalidated
    /// Their expiration dates have changed.
    case dated
}
