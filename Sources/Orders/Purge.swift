/// The deletion of everything that is stored of an asset.
public struct Purge: Codable, Equatable, Sendable {
    /// The reason of a purge. The raw values are in the catalogue and in the API, and never change. More may be added.
    public enum Cause: String, Codable, Sendable {
        case expired
        /// The disk was full, and the asset had default priority.
        case space
        /// The disk was full, and only important assets were left.
        case spaceThoughImportant = "space-important"
    }

    /// The time, in seconds since 1970.
    public var date: Int64
    /// The freed bytes.
    public var bytes: Int64
    /// The reason.
    public var cause: Cause

    /// Makes a purge of its fields.
    public init(date: Int64, bytes: Int64, cause: Cause) {
        self.date = date
        self.bytes = bytes
        self.cause = cause
    }
}
