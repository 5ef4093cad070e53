extension API {
    /// The body of `POST /api/v1/assets/NAME/export`, which writes the complete part of an asset to a path outside the
    /// store and answers at the end.
    public struct ExportRequest: Codable, Equatable, Sendable {
        /// The formats of an export.
        public enum Format: String, Codable, CaseIterable, Sendable {
            /// A folder that plays without Weir.
            case folder
            /// The folder of `folder` as an archive.
            case tar
            /// One MPEG-4 file with the best video and every language, made by ffmpeg.
            case mp4
            /// One Matroska file with the same content as `mp4`.
            case mkv
        }

        /// Target path on the daemon's disk: absolute, and not yet existing.
        public var path: String
        /// The format; if absent, the path's ending decides: `.tar`, `.mp4`, `.mkv`, or else a folder.
        public var format: Format?
        /// True to hard-link a folder's files to the store's files, if both are on one disk.
        public var link: Bool?

        /// Creates a request.
        public init(path: String, format: Format? = nil, link: Bool? = nil) {
            (self.path, self.format, self.link) = (path, format, link)
        }
    }

    /// Result of an export.
    public struct Export: Codable, Equatable, Sendable {
        /// The asset's name.
        public var name: String
        /// Path of the result.
        public var path: String
        /// Format of the result.
        public var format: ExportRequest.Format
        /// The bytes of exported media.
        public var bytes: Int
        /// Stored content that was left out, with the reason; absent for none.
        public var leftOut: [String]?

        /// Creates a result.
        public init(name: String, path: String, format: ExportRequest.Format, bytes: Int, leftOut: [String]? = nil) {
            (self.name, self.path, self.format, self.bytes, self.leftOut) = (name, path, format, bytes, leftOut)
        }
    }

    /// The body of `POST /api/v1/assets`, which creates an asset from a folder on the daemon's disk and answers at the
    /// end with the asset.
    public struct ImportRequest: Codable, Equatable, Sendable {
        /// The absolute path of the folder, or of the playlist in it to start from.
        public var path: String
        /// Name of the asset; if absent, the folder's name, or one derived from the path.
        public var name: String?

        /// Creates a request.
        public init(path: String, name: String? = nil) { (self.path, self.name) = (path, name) }
    }
}
