import Assets
import Foundation
import HTTPMessage
import TestRooms
import TestSupport

/// Given playlists and other texts at the origin, with the fixtures' media.
extension TestHouse {
    /// Sets the text of a path at the origin. The path is a glob.
    func put(_ path: String, _ text: String, type: String = "application/vnd.apple.mpegurl") async throws {
        try await origin.add(OriginRule(path) { ($0.status, $0.body, $0.contentType) = (200, text, type) })
    }

    /// Adds a multivariant playlist with one variant, `media.m3u8`, to a folder. `lines` come before the variant.
    func putMaster(_ folder: String, _ lines: String = "") async throws {
        let head = "#EXTM3U\n" + (lines.isEmpty ? "" : lines + "\n")
        try await put("\(folder)/master.m3u8*", head + "#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=160x90\nmedia.m3u8\n")
    }

    /// Adds a media playlist with the first segments of a fixture. `lines` come before the first segment.
    func putMedia(_ path: String, _ lines: String, count: Int = 2, isLive: Bool = false) async throws {
        let segments = (0..<count).map { "#EXTINF:2,\n/ts/90p/\($0).ts\n" }.joined()
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(date)\n" + (lines.isEmpty ? "" : lines + "\n")
        try await put(path, head + segments + (isLive ? "" : "#EXT-X-ENDLIST\n"))
    }

    /// The playlist of the entry's rendition `index`.
    func mediaText(_ entry: String, _ index: Int = 0) async throws -> String {
        try await get(try await self.entry(entry)[index]).text
    }
}
