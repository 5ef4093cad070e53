import Foundation

/// The resources of ``OriginServer`` that are no files: bytes that name their own offset, long playlists, and live and event
/// playlists over the segments of one rendition of the fixtures, repeated for ever.
///
/// `tools/origin` documents them at its head. Segment n of a live playlist is the fixture's segment n modulo their number, with
/// a discontinuity wherever it starts again.
struct MadePlaylists {
    private struct Broadcast {
        let isEvent: Bool
        let started = ContinuousClock.now
        /// Number of segments so far.
        var edge: Int
        var isEnded = false
    }

    private static let window = 4

    /// Declared duration of live segments, in seconds. The fixture's segments last two.
    var seconds = 2

    private let folder: String
    private let count: Int
    private var broadcasts: [String: Broadcast] = [:]

    /// - Parameter folder: the rendition's folder, with `0.ts`, `1.ts` and so on.
    init(folder: String) {
        self.folder = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        count = names.count { $0.hasSuffix(".ts") }
    }

    /// The resource of a decoded path with its raw query; nil if the path is not one of a made resource.
    mutating func resource(path: String, query: String) -> (body: OriginBody, type: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("_size", 2):
            return sizedBody(path: path, name: parts[1])
        case ("_vod", 3):
            return longPresentation(path: path, shape: parts[1], name: parts[2])
        case ("_live", 3), ("_event", 3):
            let isAutomatic = query.split(separator: "&").contains { $0.hasPrefix("auto=") }
            return broadcast(parts[1], isEvent: parts[0] == "_event", isAutomatic: isAutomatic, name: parts[2])
        default:
            return nil
        }
    }

    /// Adds segments; returns the number of segments so far.
    mutating func advance(_ name: String, by count: Int) {
        begin(name, isEvent: false)
        broadcasts[name]?.edge += count
    }

    mutating func end(_ name: String) {
        begin(name, isEvent: false)
        broadcasts[name]?.isEnded = true
    }

    // MARK: - Bytes and long playlists

    private func sizedBody(path: String, name: String) -> (OriginBody, String)? {
        guard let stem = name.removing(suffix: ".ts") else { return nil }
        let number = stem.prefix { $0 != "-" }
        guard let size = Int(number), size >= 0 else { return nil }
        return (.pattern(size: size, name: path), OriginMediaType.transportStream)
    }

    private func longPresentation(path: String, shape: String, name: String) -> (OriginBody, String)? {
        let numbers = shape.split(separator: "x").compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }

        let count = numbers[0]
        if name == "media.m3u8" {
            return playlist(MadePlaylists.long(count))
        }
        guard let number = name.removing(suffix: ".ts").flatMap({ Int($0) }), number < count else { return nil }
        return (.pattern(size: numbers[1], name: path), OriginMediaType.transportStream)
    }

    private static func long(_ count: Int) -> [String] {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        for number in 0..<count {
            lines += ["#EXTINF:2.000,", "\(number).ts"]
        }
        return lines + ["#EXT-X-ENDLIST"]
    }

    private func playlist(_ lines: [String]) -> (OriginBody, String) {
        let text = lines.map { $0 + "\n" }.joined()
        return (.bytes(Array(text.utf8)), OriginMediaType.playlist)
    }

    // MARK: - Broadcasts

    private mutating func begin(_ name: String, isEvent: Bool) {
        guard broadcasts[name] == nil else { return }
        let edge = isEvent ? 2 : MadePlaylists.window
        broadcasts[name] = Broadcast(isEvent: isEvent, edge: edge)
    }

    private mutating func broadcast(
        _ broadcast: String, isEvent: Bool, isAutomatic: Bool, name: String
    ) -> (OriginBody, String)? {
        switch name {
        case "master.m3u8":
            let query = isAutomatic ? "?auto=1" : ""
            return playlist([
                "#EXTM3U",
                "#EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS=\"avc1.42c00a,mp4a.40.2\",RESOLUTION=160x90",
                "media.m3u8" + query,
            ])
        case "media.m3u8":
            begin(broadcast, isEvent: isEvent)
            if isAutomatic {
                moveEdge(of: broadcast)
            }
            return playlist(lines(of: broadcasts[broadcast]!, isEvent: isEvent))
        default:
            begin(broadcast, isEvent: isEvent)
            guard let number = name.removing(suffix: ".ts").flatMap({ Int($0) }) else { return nil }
            return segment(number, of: broadcasts[broadcast]!, isEvent: isEvent)
        }
    }

    /// Adds the segments that have come in real time.
    private mutating func moveEdge(of name: String) {
        guard var broadcast = broadcasts[name], !broadcast.isEnded else { return }
        let elapsed = Int((ContinuousClock.now - broadcast.started) / .seconds(seconds))
        let first = broadcast.isEvent ? 2 : MadePlaylists.window
        broadcast.edge = max(broadcast.edge, first + elapsed)
        if broadcast.isEvent && broadcast.edge >= count {
            broadcast.edge = count
            broadcast.isEnded = true
        }
        broadcasts[name] = broadcast
    }

    private func lines(of broadcast: Broadcast, isEvent: Bool) -> [String] {
        let first = isEvent ? 0 : max(0, broadcast.edge - MadePlaylists.window)
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:\(seconds)",
            "#EXT-X-MEDIA-SEQUENCE:\(first)", "#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, first - 1) / count)",
        ]
        if isEvent {
            lines.append("#EXT-X-PLAYLIST-TYPE:EVENT")
        }
        for number in first..<max(first, broadcast.edge) {
            if number > 0 && number % count == 0 {
                lines.append("#EXT-X-DISCONTINUITY")
            }
            if number == first {
                let newYear2026 = 1_767_225_600
                let start = newYear2026 + first * seconds
                lines.append("#EXT-X-PROGRAM-DATE-TIME:" + OriginDate.text(start, format: "%Y-%m-%dT%H:%M:%S.000Z"))
            }
            lines += ["#EXTINF:\(seconds).000,", "\(number).ts"]
        }
        if broadcast.isEnded {
            lines.append("#EXT-X-ENDLIST")
        }
        return lines
    }

    /// A segment that is there at this moment; a live one stays for one more window.
    private func segment(_ number: Int, of broadcast: Broadcast, isEvent: Bool) -> (OriginBody, String)? {
        let isKept = isEvent || number >= broadcast.edge - 2 * MadePlaylists.window
        guard number >= 0, number < broadcast.edge, isKept else { return nil }
        guard let file = OriginBody.OpenFile(path: "\(folder)/\(number % count).ts") else { return nil }
        return (.file(file), OriginMediaType.transportStream)
    }
}

/// Media types by the extension of a file's name.
enum OriginMediaType {
    static let playlist = "application/vnd.apple.mpegurl"
    static let transportStream = "video/mp2t"

    private static let types = [
        "m3u8": playlist, "m3u": "audio/x-mpegurl", "ts": transportStream, "m4s": "video/iso.segment",
        "mp4": "video/mp4", "m4a": "audio/mp4", "aac": "audio/aac", "mp3": "audio/mpeg", "vtt": "text/vtt",
        "srt": "application/x-subrip", "key": "application/octet-stream", "html": "text/html", "txt": "text/plain",
        "json": "application/json", "xml": "text/xml", "jpg": "image/jpeg", "png": "image/png", "webp": "image/webp",
    ]

    static func of(path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        let ending = name.split(separator: ".").dropFirst().last ?? ""
        return types[String(ending)] ?? "application/octet-stream"
    }
}

extension String {
    /// The text before a suffix; nil if it has another end.
    fileprivate func removing(suffix: String) -> String? {
        guard hasSuffix(suffix) else { return nil }
        return String(dropLast(suffix.count))
    }
}
