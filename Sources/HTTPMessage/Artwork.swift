/// An image of an asset, unchanged: JPEG, PNG or WebP. The first bytes identify the format; the rest is not parsed.
public struct Artwork: Equatable, Sendable {
    /// The image format. The raw value is the file extension.
    public enum Kind: String, Sendable, CaseIterable {
        /// JPEG (ITU-T T.81).
        case jpeg = "jpg"
        /// PNG (RFC 2083).
        case png
        /// WebP (RFC 9649).
        case webp
        /// The media type.
        public var mediaType: String {
            switch self {
            case .jpeg: "image/jpeg"
            case .png, .webp: "image/\(rawValue)"
            }
        }
        /// The name of the file in the bundle.
        public var fileName: String { "artwork.\(rawValue)" }
    }

    /// The image format.
    public let kind: Kind
    /// The complete file.
    public let bytes: [UInt8]
    /// Maximum size in bytes.
    public static let limit = 4 << 20
    /// Describes the accepted images; completes the sentence "artwork is …".
    public static let accepted = "a JPEG, PNG or WebP image of at most 4 MB"

    /// Creates an image; nil if the format is unknown or the file is too large.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.limit, let kind = Self.kind(of: bytes) else { return nil }
        self.kind = kind
        self.bytes = bytes
    }

    private static func kind(of bytes: [UInt8]) -> Kind? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            return .jpeg
        }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            return .png
        }
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            return .webp
        }
        return nil
    }
}
