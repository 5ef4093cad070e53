import AccessLog
import Foundation
import Playback
import TestSupport
import Testing

/// What players do with one presentation, on a clock that only the script moves, and what the logs must say of it.
struct SessionScript: Sendable, CustomTestStringConvertible {
    /// Pieces of a rendition, for their bytes.
    struct Pieces: Sendable {
        var rendition: String
        var numbers: [Int]
        /// Whether the initialization section is one of them.
        var hasSection = false
        /// Whether they are put together with others, which changes their bytes.
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
        /// Whose it is: players count from 0.
        var player = 0
        /// The rendition that was played; nil where nobody can know.
        var rendition: String?
        var start = 0.0
        var requests: Int
        /// Media time that came, pictures' alone where there are such.
        var downloaded: Double
        var watched: Double
        /// How long each stall was.
        var stalls: [Double] = []
        var startup: Double?
        var overdue = 0
        /// When it ended, in seconds since the script began; nil where that is not looked at.
        var ended: Double?
        var type = AccessEvent.PlaybackType.vod
        var origin: [Pieces] = []
        var joined: [Pieces] = []
        var store: [Pieces] = []
        /// Bytes from the origin of a piece that did not come whole.
        var partial = 0
        /// What is not inferred, since the player tells it.
        var told: Set<String> = []
    }

    /// A line of the error log.
    struct Trouble: Sendable, Equatable {
        var status: Int
        var domain: ErrorEvent.Domain
        /// When, in seconds since the script began.
        var time: Double
    }

    let testDescription: String
    var show = Show.film
    /// What other sessions have stored before.
    var stored: [Pieces] = []
    var steps: [Step]
    var lines: [Line]
    var switches = 0
    var errors: [Trouble] = []
    /// By how much times may differ: what a player does that nobody can see takes up to a segment.
    var slack = 0.002
}

/// What a script's origin has.
enum Show: Sendable {
    /// A film of sixty segments of two seconds in two qualities, over the media of six.
    case film
    /// A fixture.
    case ts, cmaf
    /// The first one without its lowest variant, whose pictures begin elsewhere.
    case ladder
    /// A stream without an end.
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

    /// The asset's name.
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

    /// The path of a segment at the origin, which as a glob matches it alone.
    func path(_ number: Int, of rendition: String) -> String {
        switch self {
        case .film: "/ts/\(rendition.dropFirst(6))/\(number % 6).ts?n=\(number)"
        case .ts, .ladder: "/ts/\(rendition.dropFirst(6))/\(number).ts"
        case .cmaf: "/cmaf/\(rendition)/\(number).m4s"
        case .live: "/_live/show/\(number).ts"
        }
    }

    /// The fixture's file behind a segment.
    func file(_ number: Int, of rendition: String) -> String {
        switch self {
        case .film: "/ts/\(rendition.dropFirst(6))/\(number % 6).ts"
        case .live: "/ts/90p/\(number % 6).ts"
        case .ts, .cmaf, .ladder: path(number, of: rendition)
        }
    }

    /// BANDWIDTH of the variant that leads to a rendition.
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

    /// How many bytes these pieces are.
    func bytes(_ all: [SessionScript.Pieces]) throws -> Int {
        try all.reduce(0) { sum, pieces in
            let section = pieces.hasSection ? try Repository.fixture("/cmaf/\(pieces.rendition)/init.mp4").count : 0
            return try sum + section
                + pieces.numbers.reduce(0) { sum, number in
                    let path = file(number, of: pieces.rendition)
                    if pieces.isJoined { return try sum + Spliced.transport(String(path.dropFirst())).count }
                    return try sum + Repository.fixture(path).count
                }
        }
    }
}
