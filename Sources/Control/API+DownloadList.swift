extension API {
    /// `GET /api/v1/downloads`.
    public struct DownloadList: Codable, Equatable, Sendable {
        /// The downloads, in the order in which they were asked for.
        public var downloads: [Download]
        /// A list.
        public init(downloads: [Download]) { self.downloads = downloads }
    }
}
