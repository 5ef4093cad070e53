import TestSupport

extension TestOrigin.Request {
    /// True for a request of a segment, an initialization section or a key.
    var isForMedia: Bool { !path.contains(".m3u8") && !isComparison }

    /// Path and range: requests with equal values are for the same bytes.
    var resource: String { path + (range.map { " " + $0 } ?? "") }
}

extension Scene {
    /// The origin's requests for media so far.
    func mediaRequests() async throws -> [TestOrigin.Request] {
        try await origin.requests().filter(\.isForMedia)
    }

    /// Resources requested more than once, with counts, without requests that a kill cut.
    func repetitions(butFor cutOff: [TestOrigin.Request] = []) async throws -> [String: Int] {
        let excused = Set(cutOff.map(\.order))
        return try await mediaRequests().filter { !excused.contains($0.order) }
            .reduce(into: [:]) { $0[$1.resource, default: 0] += 1 }.filter { $0.value > 1 }
    }
}

extension OriginRule {
    /// A media playlist that DRM protects.
    static let protectedPlaylist = """
        #EXTM3U
        #EXT-X-VERSION:5
        #EXT-X-TARGETDURATION:2
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
        #EXTINF:2,
        /ts/90p/0.ts
        #EXT-X-ENDLIST

        """

    /// Answers a path with the text of a playlist.
    static func playlist(_ path: String, _ body: String) -> OriginRule {
        OriginRule(path) { ($0.status, $0.body, $0.contentType) = (200, body, "application/vnd.apple.mpegurl") }
    }
}
