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
    }
}
