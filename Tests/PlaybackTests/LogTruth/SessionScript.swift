import AccessLog
import Foundation
import Playback
import TestSupport
import Testing

/// The actions of players of one presentation on a manual clock, and the expected logs.
struct SessionScript: Sendable, CustomTestStringConvertible {
    /// Pieces of a rendition, to sum up their bytes.
    struct Pieces: Sendable {
        var rendition: String
        var numbers: [Int]
        /// True if the initialization section is included.
        var hasSection = false
        /// True if the pieces are spliced with others, which changes their bytes.
        var isJoined = false

        /// Segments of a rendition.
        static func of(
            _ rendition: String, _ numbers: ClosedRange<Int>, section: Bool = false, isJoined: Bool = false
        ) -> Pieces {
            Pieces(rendition: rendition, numbers: Array(numbers), hasSection: section, isJoined: isJoined)
        }
    }

    /// One event of the access log. Times are seconds.
    struct Line: Sendable {
        /// The number of the player, from 0.
        var player = 0
        /// The played rendition; nil if it cannot be known.
        var rendition: String?
        var start = 0.0
        var requests: Int
        /// Received media time: of video if there is video.
        var downloaded: Double
        var watched: Double
        /// The durations of the stalls.
        var stalls: [Double] = []
        var startup: Double?
        var overdue = 0
        /// The end of the event in seconds since the script's start; nil if it is not compared.
        var ended: Double?
        var type = AccessEvent.PlaybackType.vod
        var origin: [Pieces] = []
        var joined: [Pieces] = []
        var store: [Pieces] = []
        /// Bytes from the origin of a piece that did not arrive completely.
        var partial = 0
        /// Fields that are reported by the player instead of inferred.
        var told: Set<String> = []
    }

    /// A line of the error log.
    struct Trouble: Sendable, Equatable {
        var status: Int
        var domain: ErrorEvent.Domain
        /// Seconds since the script's start.
        var time: Double
    }

    let testDescription: String
    var show = Show.film
    /// Pieces that earlier sessions have stored.
    var stored: [Pieces] = []
    var steps: [Step]
    var lines: [Line]
    var switches = 0
    var errors: [Trouble] = []
    /// Tolerance of times in seconds. An action that is not visible here can be off by a segment.
    var slack = 0.002
}

/// The content of a script's origin.
enum Show: Sendable {
    /// A film of sixty segments of two seconds in two qualities, made from the six segments of a fixture.
    case film
    case ts, cmaf
    /// The fixture `ts` without its lowest variant, whose video begins at another time.
    case ladder
    /// A live stream.
    case live

    /// The entry playlist's path at the origin.
    var entry: String {
        switch self {
        case .film: "/film/master.m3u8"
        case .ts, .ladder: "/ts/master.m3u8"
        case .cmaf: "/cmaf/master.m3u8"
        case .live: "/_live/show/media.m3u8"
        }
    }

    var name: String {
        switch self {
        case .film: "film"
        case .ts, .ladder: "ts"
        case .cmaf: "cmaf"
        case .live: "show"
        }
    }

    /// The path of a rendition's playlist at the origin.
    func playlist(of rendition: String) -> String {
        switch self {
        case .film: "/film/\(rendition.dropFirst(6)).m3u8"
        case .ts, .ladder: "/ts/\(rendition.dropFirst(6))/media.m3u8"
        case .cmaf: "/cmaf/\(rendition)/media.m3u8"
        case .live: entry
        }
    }

    /// The path of a segment at the origin. As a glob it matches only itself.
    func path(_ number: Int, of rendition: String) -> String {
        switch self {
        case .film: "/ts/\(rendition.dropFirst(6))/\(number % 6).ts?n=\(number)"
        case .ts, .ladder: "/ts/\(rendition.dropFirst(6))/\(number).ts"
        case .cmaf: "/cmaf/\(rendition)/\(number).m4s"
        case .live: "/_live/show/\(number).ts"
        }
    }

    /// The fixture's file for a segment.
    func file(_ number: Int, of rendition: String) -> String {
        switch self {
        case .film: "/ts/\(rendition.dropFirst(6))/\(number % 6).ts"
        case .live: "/ts/90p/\(number % 6).ts"
        case .ts, .cmaf, .ladder: path(number, of: rendition)
        }
    }

    /// BANDWIDTH of the variant with a rendition.
    func bandwidth(of rendition: String) -> Int? {
        switch (self, rendition) {
        case (.live, _): nil
        case (.cmaf, "video-90p"): 80_312
        case (.cmaf, "video-180p"): 116_384
        case (.cmaf, _): 173_272
        case (_, "video-90p"): 94_000
        case (_, "video-180p"): 133_104
        default: 184_992
        }
    }

    /// The sum of the pieces' bytes.
    func bytes(_ all: [SessionScript.Pieces]) throws -> Int {
        try all.reduce(0) { sum, pieces in
            let section = pieces.hasSection ? try Repository.fixture("/cmaf/\(pieces.rendition)/init.mp4").count : 0
            return try sum + section
                + pieces.numbers.reduce(0) { sum, number in
                    let path = file(number, of: pieces.rendition)
                    if pieces.isJoined {
                        return try sum + Spliced.transport(String(path.dropFirst())).count
                    }
                    return try sum + Repository.fixture(path).count
                }
        }
    }
}
