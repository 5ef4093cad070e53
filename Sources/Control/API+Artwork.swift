internal import Library

/// The library's, which has the same name.
private typealias Image = Artwork

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

        /// What a file has, to be looked at before it is sent; nil for what is none of these, or is too long.
        public init?(file bytes: [UInt8]) {
            guard let image = Image(bytes) else { return nil }
            self.init(mediaType: image.kind.mediaType, bytes: bytes)
        }

        /// The most bytes that are kept.
        public static var limit: Int { Image.limit }
        /// What is accepted, to stand behind "artwork is".
        public static var accepted: String { Image.accepted }
    }
}
