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
