import Foundation
import TestSupport

/// A client that loads a whole presentation: each playlist and each resource once.
enum PlaylistWalk {
    /// The URIs in a playlist, in order: lines, and URI attributes.
    static func references(in playlist: String) -> [String] {
        playlist.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("#") else { return String(line) }
            guard let start = line.range(of: "URI=\"") else { return nil }
            return String(line[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    /// The bodies of all resources of the presentation at `url`, by URL, without playlists.
    ///
    /// Throws `HTTPProbeError` or ``Refused`` for the first response that is not a complete 200.
    static func load(_ url: String) async throws -> [String: Data] {
        var bodies: [String: Data] = [:]
        var seen: Set<String> = []
        var waiting = [url]
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            let answer = try await HTTPProbe.fetch(next)
            guard answer.status == 200, answer.isComplete else { throw Refused(url: next, answer: answer) }
            if next.contains(".m3u8") {
                waiting += references(in: answer.text).map { resolve($0, against: next) }.reversed()
            } else {
                bodies[next] = answer.body
            }
        }
        return bodies
    }

    /// The URLs of all that the playlist at `url` names, in order.
    static func references(at url: String) async throws -> [String] {
        references(in: try await HTTPProbe.fetch(url).text).map { resolve($0, against: url) }
    }

    /// The URLs of a media playlist's segments.
    static func segments(_ url: String) async throws -> [String] {
        segments(try await HTTPProbe.fetch(url).text, at: url)
    }

    /// The URLs of the segments in a media playlist's text.
    static func segments(_ text: String, at url: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { resolve(String($0), against: url) }
    }

    /// The URL of the first segment of the last variant behind a multivariant playlist.
    static func firstSegment(ofLastVariant url: String) async throws -> String {
        guard let variant = try await segments(url).last, let segment = try await segments(variant).first else {
            throw TimedOut("a segment behind \(url)")
        }
        return segment
    }

    private static func resolve(_ reference: String, against base: String) -> String {
        URL(string: reference, relativeTo: URL(string: base))?.absoluteString ?? reference
    }

    /// A response that is not a complete 200.
    struct Refused: Error, CustomStringConvertible {
        let url: String
        let answer: HTTPAnswer

        var description: String { "\(url): \(answer.status), \(answer.text.prefix(200))" }
    }
}
