import TestSupport

extension TestOrigin.Request {
    /// Whether it asks for a segment, an initialization section or a key.
    var isForMedia: Bool { !path.contains(".m3u8") }

    /// What is asked for: two requests with the same one ask for the same bytes.
    var resource: String { path + (range.map { " " + $0 } ?? "") }
}

extension Scene {
    /// The origin's requests for media so far.
    func mediaRequests() async throws -> [TestOrigin.Request] {
        try await origin.requests().filter(\.isForMedia)
    }

    /// What was asked for more than once, with its count; a request that a kill cut off does not count.
    func repetitions(butFor cutOff: [TestOrigin.Request] = []) async throws -> [String: Int] {
        let excused = Set(cutOff.map(\.order))
        return try await mediaRequests().filter { !excused.contains($0.order) }
            .reduce(into: [:]) { $0[$1.resource, default: 0] += 1 }.filter { $0.value > 1 }
    }
}
