extension API {
    /// The image that is kept with an asset: `GET /api/v1/assets/<name>/artwork`. `PUT` there takes another: JPEG, PNG
    /// or WebP as it is, at most 4 MB, answered by the `Asset`.
    public struct Artwork: Equatable, Sendable {
        /// `image/jpeg`, `image/png` or `image/webp`.
        public let mediaType: String
        /// The file, as it was given.
        public let bytes: [UInt8]

        /// An image.
        public init(mediaType: String, bytes: [UInt8]) {
            self.mediaType = mediaType
            self.bytes = bytes
        }

        /// Recognises a JPEG, PNG or WebP file by its first bytes; nil for any other file, and for one over `limit`.
        public init?(file bytes: [UInt8]) {
            guard bytes.count <= Self.limit, let mediaType = Self.mediaType(of: bytes) else { return nil }
            self.init(mediaType: mediaType, bytes: bytes)
        }

        private static func mediaType(of bytes: [UInt8]) -> String? {
            if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
            let isWebP = bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
            return isWebP ? "image/webp" : nil
        }

        /// Maximum size in bytes.
        public static let limit = 4 << 20
        /// The accepted files, to stand behind "artwork is".
        public static let accepted = "a JPEG, PNG or WebP image of at most 4 MB"
    }
}
