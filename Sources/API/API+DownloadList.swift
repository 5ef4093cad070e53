extension API {
    /// `GET /api/v1/downloads`.
    public struct DownloadList: Codable, Equatable, Sendable {
        /// The downloads, in the order in which they were asked for. Of those that are complete `loaded`, `expected`, `parts`
        /// and `selection` are left empty, and `bytes` is what is kept of the asset: `GET /api/v1/downloads/<id>` tells more.
        public var downloads: [Download]
        /// A list.
        public init(downloads: [Download]) { self.downloads = downloads }
    }
}
