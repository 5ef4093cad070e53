extension API {
    /// `POST /api/v1/assets/NAME/export`: writes what is whole of an asset to a place outside of the store, and answers
    /// when it is there.
    public struct ExportRequest: Codable, Equatable, Sendable {
        /// What an export makes.
        public enum Format: String, Codable, CaseIterable, Sendable {
            /// A folder that plays by itself.
            case folder
            /// That folder in an archive.
            case tar
            /// One file with the best picture and every language, by ffmpeg: MPEG-4.
            case mp4
            /// The same: Matroska.
            case mkv
        }

        /// Where on the daemon's disk; absolute, and nothing may be there yet.
        public var path: String
        /// Left out, what the ending of the path says: `.tar`, `.mp4`, `.mkv`, or a folder.
        public var format: Format?
        /// Whether the files of a folder are the store's own under a second name, where one disk has both.
        public var link: Bool?

        /// A request.
        public init(path: String, format: Format? = nil, link: Bool? = nil) {
            (self.path, self.format, self.link) = (path, format, link)
        }
    }

    /// What an export has made.
    public struct Export: Codable, Equatable, Sendable {
        /// The asset's name.
        public var name: String
        /// Where it is.
        public var path: String
        /// What it is.
        public var format: ExportRequest.Format
        /// The bytes of the media that went into it.
        public var bytes: Int
        /// What is stored and did not go into it, with the reason; left out for nothing.
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
        /// What to call the asset; left out, what the folder says, or a name made of the path.
        public var name: String?

        /// A request.
        public init(path: String, name: String? = nil) { (self.path, self.name) = (path, name) }
    }
}
