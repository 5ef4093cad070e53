import Foundation
import TestSupport

/// Makes the requests of a low-latency HLS player: blocking reloads, delta updates, hinted parts.
struct LowLatencyPlayer {
    /// A received part.
    struct Part {
        let segment: Int
        let index: Int
        let body: Data
    }

    /// The URL of the media playlist.
    let url: String
    /// True if the player requests delta updates.
    let skips: Bool
    /// Received parts, in order.
    private(set) var parts: [Part] = []
    /// Number of delta updates received.
    private(set) var updates = 0
    /// URLs in rendition reports.
    private(set) var reports: Set<String> = []
    private var bodies: [String: Data] = [:]

    init(url: String, skips: Bool) {
        self.url = url
        self.skips = skips
    }

    /// Plays from the live edge until it has received `count` parts: requests the playlist with the next part, and the
    /// hinted part meanwhile.
    mutating func play(parts count: Int) async throws {
        var text = try await get(url).text
        while parts.count < count {
            try await read(text)
            guard let last = parts.last else { throw TimedOut("a part in \(text)") }
            let directives = "?_HLS_msn=\(last.segment)&_HLS_part=\(last.index + 1)" + (skips ? "&_HLS_skip=YES" : "")
            let playlist = url + directives
            let hint = uris(of: "#EXT-X-PRELOAD-HINT", in: text).first
            async let next = get(playlist)
            if let hint {
                bodies[hint] = try await get(resolve(hint)).body
            }
            text = try await next.text
            if text.contains("#EXT-X-SKIP:") {
                updates += 1
            }
        }
    }

    /// The segments with all parts received, with their bytes.
    var wholeSegments: [Int: Data] {
        let grouped = Dictionary(grouping: parts, by: \.segment)
        return grouped.filter { $0.value.count == 4 }.mapValues { $0.reduce(Data()) { $0 + $1.body } }
    }

    /// Fetches the new parts of a playlist; at first only those of the newest segment.
    private mutating func read(_ text: String) async throws {
        reports.formUnion(uris(of: "#EXT-X-RENDITION-REPORT", in: text).map(resolve))
        var listed: [(segment: Int, index: Int, uri: String)] = []
        var segment = value("#EXT-X-MEDIA-SEQUENCE:", in: text) + value("SKIPPED-SEGMENTS=", in: text)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-PART:"), let uri = uris(of: "#EXT-X-PART:", in: String(line)).first {
                let index = listed.last.map { $0.segment == segment ? $0.index + 1 : 0 } ?? 0
                listed.append((segment, index, uri))
            } else if !line.hasPrefix("#") {
                segment += 1
            }
        }
        let start = parts.last.map { ($0.segment, $0.index) } ?? ((listed.last?.segment ?? 0) - 1, 9)
        for part in listed where (part.segment, part.index) > start {
            let body: Data
            if let known = bodies[part.uri] {
                body = known
            } else {
                body = try await get(resolve(part.uri)).body
            }
            parts.append(Part(segment: part.segment, index: part.index, body: body))
        }
    }

    private func get(_ url: String) async throws -> HTTPAnswer {
        let answer = try await HTTPProbe.fetch(url)
        guard answer.status == 200, answer.isComplete else { throw PlaylistWalk.Refused(url: url, answer: answer) }
        return answer
    }

    private func resolve(_ uri: String) -> String {
        URL(string: uri, relativeTo: URL(string: url))?.absoluteString ?? uri
    }

    private func uris(of tag: String, in text: String) -> [String] {
        PlaylistWalk.references(in: text.split(separator: "\n").filter { $0.hasPrefix(tag) }.joined(separator: "\n"))
    }

    private func value(_ name: String, in text: String) -> Int {
        guard let start = text.range(of: name)?.upperBound else { return 0 }
        return Int(text[start...].prefix { $0.isNumber }) ?? 0
    }
}
