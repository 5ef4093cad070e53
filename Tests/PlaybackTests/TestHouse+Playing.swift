import TestRooms
import TestSupport
import Testing

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

    /// The ids of the renditions that an entry lists.
    func listed(_ entry: String) async throws -> [String] {
        try await self.entry(entry).map { String($0.split(separator: "/")[3]) }
    }
}
