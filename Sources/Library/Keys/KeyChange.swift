/// What may become of keys.
public enum KeyChange: String, Sendable {
    /// They came anew from the origin, and were the same.
    case renewed
    /// Their time is over.
    case expired
    /// A person has taken them back; their files are gone.
    case invalidated
    /// They have other dates.
    case dated
}
