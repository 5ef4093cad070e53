/// An image for an asset, as it came: JPEG, PNG or WebP, known by how it begins, and never looked into further.
public struct Artwork: Equatable, Sendable {
    /// What it is. The raw value is the file's extension.
    public enum Kind: String, Sendable, CaseIterable {
        /// JPEG (ITU-T T.81).
        case jpeg = "jpg"
        /// PNG (RFC 2083).
        case png
        /// WebP (RFC 9649).
        case webp

        /// The media type.
        public var mediaType: String { self == .jpeg ? "image/jpeg" : "image/\(rawValue)" }
        /// What the file is called in the bundle.
        package var fileName: String { "artwork.\(rawValue)" }
    }

    /// What it is.
    public let kind: Kind
    /// All of it.
    public let bytes: [UInt8]

    /// The most bytes that are kept.
    public static let limit = 4 << 20
    /// What is accepted, to stand behind "artwork is".
    public static let accepted = "a JPEG, PNG or WebP image of at most 4 MB"

    /// An image; nil for what is none, or is too long.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.limit, let kind = Self.kind(of: bytes) else { return nil }
        self.kind = kind
        self.bytes = bytes
    }

    private static func kind(of bytes: [UInt8]) -> Kind? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) { return .webp }
        return nil
    }
}
