import Assets
import EventLoop
import Fetching
import TestRooms
import TestSupport
import Testing

@testable import HTTPServer

extension TestHouse {
    /// The paths in the playlist of a rendition of an entry.
    func paths(_ entry: String, _ id: String) async throws -> [String] {
        let lists = try await self.entry(entry)
        let list = try #require(lists.first { $0.contains("/\(id)/") })
        return try await paths(at: list)
    }

    /// Plays segments of renditions from the origin, so that they are stored with their initialization sections and
    /// keys.
    func play(_ name: String, _ parts: [(id: String, places: [Int])]) async throws {
        for (id, places) in parts {
            let paths = try await paths(typed("/\(name)/master.m3u8"), id)
            let isMedia = { (path: String) in !path.contains("init") && !path.hasSuffix(".key") }
            let segments = paths.filter(isMedia)
            for path in paths.filter({ !isMedia($0) }) + places.map({ segments[$0] }) {
                #expect(try await get(path).status == 200)
            }
        }
    }

    /// A player's answer to a request for a missing segment that waits for a comparison of the content, while another player brings
    /// the segment of a rendition.
    func get(
        _ path: String, duringComparisonOf asset: Asset, while number: Int, of rendition: String
    ) async throws -> HTTPAnswer {
        try await origin.add(OriginRule("*/[01].ts") { $0.hold = true })
        Task { await library.revisions.checkBeforeFetching(into: asset, isStart: true) }
        try await waitUntil("the comparison") { try await origin.load().paused > 0 }
        let answer = Task { try await get(path) }
        try await waitUntil("the request to wait") { @LoopActor in
            players.connections.connections.contains { $0.holding.use == .handling }
        }
        let loaded = try await self.rendition(rendition, of: asset)
        let fetch = try fetch(number, of: loaded, in: asset)
        try await fetch.end()
        fetch.release(.playback)

        try await origin.clearRules()
        try await origin.release()
        return try await answer.value
    }

    /// The ids of the renditions that an entry lists.
    func listed(_ entry: String) async throws -> [String] {
        try await self.entry(entry).map { String($0.split(separator: "/")[3]) }
    }
}
