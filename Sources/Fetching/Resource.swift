public import HTTPMessage

/// One thing to fetch: a segment, an initialization section or a key, to be kept; or a part, which passes through.
public struct Resource: Hashable, Sendable {
    /// Its name in its folder, and what it is.
    public let name: PieceName
    /// Where the origin has it: a location to fetch, not the identity.
    public let url: WebURL
    /// The part of the file at `url` that it is; nil for the whole.
    public let range: Range<Int64>?

    /// A resource by its name.
    public init(name: PieceName, url: WebURL, range: Range<Int64>?) {
        (self.name, self.url, self.range) = (name, url, range)
    }

    /// The most bytes that it may have (a key's exact length stands in `exactLength`).
    public var limit: Int64 {
        switch name.role {
        case .segment, .passing: Limits.segment
        case .initialization: Limits.initializationSection
        case .key: Limits.key
        case .data: Limits.sessionData
        }
    }

    /// The length that it must have, where that is known before it comes.
    public var exactLength: Int64? {
        if let range { return range.upperBound - range.lowerBound }
        if case .key = name.role { return Limits.key }
        return nil
    }

    /// What its bytes must look like, in a word; nil where any will do: 16 bytes are a key, and session data need be no
    /// JSON.
    var expectedContent: String? {
        switch name.role {
        case .segment, .initialization, .passing: "media"
        case .data: name.fileExtension == "json" ? "JSON" : nil
        case .key: nil
        }
    }

    /// The most that is taken from an origin, in bytes.
    public enum Limits {
        /// A media segment.
        public static let segment: Int64 = 512 << 20
        /// A media initialization section.
        public static let initializationSection: Int64 = 16 << 20
        /// An AES-128 key: exactly this.
        public static let key: Int64 = 16
        /// What an EXT-X-SESSION-DATA leads to.
        public static let sessionData: Int64 = 1 << 20
    }
}
