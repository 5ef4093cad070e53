extension API {
    /// `POST /api/v1/assets/NAME/export`: writes what is whole of an asset to a place outside of the store, and answers
    /// when it is there.
    public struct ExportRequest: Codable, Equatable, Sendable {
        /// The formats of an export.
        public enum Format: String, Codable, CaseIterable, Sendable {
            /// A folder that plays by itself.
            case folder
            /// That folder in an archive.
            case tar
            /// One file with the best picture and every language, by ffmpeg: MPEG-4.
            case mp4
            /// As `mp4`, in Matroska.
            case mkv
        }

        /// Target path on the daemon's disk: absolute, and not existing yet.
        public var path: String
        /// Left out, what the ending of the path says: `.tar`, `.mp4`, `.mkv`, or a folder.
        public var format: Format?
        /// True to hard-link a folder's files to the store's, if both are on one disk.
        public var link: Bool?

        /// A request.
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
        /// The bytes of the media that went into it.
        public var bytes: Int
        /// Stored content that was left out, with the reason; absent for none.
        public var leftOut: [String]?

        /// What was made.
        public init(name: String, path: String, format: ExportRequest.Format, bytes: Int, leftOut: [String]? = nil) {
            (self.name, self.path, self.format, self.bytes, self.leftOut) = (name, path, format, bytes, leftOut)
        }
    }

    /// `POST /api/v1/assets`: makes an asset of a folder on the daemon's disk, and answers with the asset when it is
    /// there.
    public struct ImportRequest: Codable, Equatable, Sendable {
        /// The folder, or the playlist in it to begin with; absolute.
        public var path: String
        /// Name of the asset; if absent, the folder's own name, or one made from the path.
        public var name: String?

        /// A request.
        public init(path: String, name: String? = nil) { (self.path, self.name) = (path, name) }
    }
}
