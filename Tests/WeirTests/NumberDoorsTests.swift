import AccessLog
import ArgumentParser
import Assets
import Extras
import Foundation
import HLS
import HTTPMessage
import Orders
import Origin
import SafeText
import TestSupport
import Testing
import WeirAPI

@testable import Control
@testable import Daemon
@testable import Sharing
@testable import weir

/// The doors through which numbers come from outside, each with numbers that nobody means: a door refuses them, or yields a
/// number from 0 to the largest of its type.
@Suite("A number from outside")
struct NumberDoorsTests {
    /// The numbers that a door yields, each with the largest that it may be.
    typealias Yield = [(value: Double, largest: Double)]

    struct Door: Sendable, CustomTestStringConvertible {
        let name: String
        /// Throws if the door refuses the number.
        let read: @Sendable (_ number: String) throws -> Yield
        var testDescription: String { name }

        init(_ name: String, _ read: @escaping @Sendable (_ number: String) throws -> Yield) {
            self.name = name
            self.read = read
        }
    }

    private struct Refusal: Error {}

    private static let numbers = [
        "0", "-0", "0.0", "-0.0", "1e-300", "-1e-300", "1e300", "-1e300", "1e999", "-1e999", "NaN", "nan", "Infinity",
        "inf",
        "-inf", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "0x1p63", "1e15", "1e18",
        String(repeating: "9", count: 400), "0." + String(repeating: "0", count: 400) + "1",
    ]

    private static func numbers(_ all: (any BoundedNumber)?...) -> Yield {
        all.compactMap { $0 }.map { ($0.value, type(of: $0).largest) }
    }

    private static func durations(_ all: MediaDuration?...) -> Yield {
        all.compactMap { $0 }.map { ($0.seconds, 1e15) }
    }

    private static func counts(_ all: Int...) -> Yield { all.map { (Double($0), 1e18) } }

    private static func decode<Shape: Decodable>(_ text: String, as shape: Shape.Type) throws -> Shape {
        try API.decode(shape, from: Array(text.utf8))
    }

    private static func report(_ change: (inout [String: String]) -> Void) throws -> Yield {
        var keys = ["playhead": "1", "rate": "1", "stallTime": "0", "startup": "0"]
        change(&keys)
        let members = keys.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        let report = try decode("{\(members),\"isStalled\":false,\"stalls\":0}", as: PlayerReport.self)
        guard report.keyOutOfRange == nil else { throw Refusal() }
        return numbers(report.playhead, report.rate, report.stallTime, report.startup)
    }

    private static func media(_ lines: String) throws -> MediaPlaylist {
        let text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n\(lines)\n#EXTINF:4,\n0.ts\n"
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw Refusal() }
        return playlist
    }

    private static func variant(_ attribute: String) throws -> Variant {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000,\(attribute)\nv.m3u8\n"
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)),
            let variant = playlist.variants.first
        else { throw Refusal() }
        return variant
    }

    private static func chapters(_ text: String) throws -> Yield {
        let list = try ChapterList(Array(text.utf8))
        return list.chapters.flatMap { durations($0.start, $0.duration) }
    }

    private static func expiry(_ number: String) throws -> Yield {
        switch HandlerReply.answer(Array("{\"url\":\"https://h/a\",\"expires\":\(number)}".utf8)) {
        case .location(_, let terms): return terms.expires.map { [($0, Moment.largest)] } ?? []
        default: throw Refusal()
        }
    }

    static let doors: [Door] = [
        // API bodies.
        Door("seconds to cache") { numbers(try decode("{\"seconds\":\($0)}", as: API.CacheRequest.self).seconds) },
        Door("interval of thumbnails") {
            numbers(try decode("{\"path\":\"/a.jpg\",\"interval\":\($0)}", as: API.AttachRequest.self).interval)
        },
        Door("start of a range") {
            let range = try decode("[\($0),null]", as: MediaRange.self)
            return numbers(range.start, range.end)
        },
        Door("end of a range") {
            let range = try decode("[0,\($0)]", as: MediaRange.self)
            return numbers(range.start, range.end)
        },
        Door("playhead of a report") { number in try report { $0["playhead"] = number } },
        Door("rate of a report") { number in try report { $0["rate"] = number } },
        Door("stallTime of a report") { number in try report { $0["stallTime"] = number } },
        Door("startup of a report") { number in try report { $0["startup"] = number } },
        Door("settings of a link") {
            let change = try decode(
                "{\"delayDown\":\($0),\"delayUp\":\($0),\"loss\":\($0),\"dnsDelay\":\($0)}", as: LinkChange.self)
            return numbers(change.delayDown, change.delayUp, change.loss, change.dnsDelay)
        },
        Door("rate of a link") {
            guard case .bits(let bits) = try decode($0, as: LinkRate.self) else { return [] }
            return numbers(bits)
        },
        Door("condition on frames") { try condition("fps<=\($0)") },
        Door("condition on bits") { try condition("peak<=\($0)") },
        Door("condition on megabits") { try condition("peak<=\($0)M") },
        Door("condition on pixels") { try condition("height<=\($0)") },
        // Query values.
        Door("since of a log") { numbers(try ControlQuery("since=\($0)", knowing: ["since"]).moment("since")) },
        // Options.
        Door("weir report") {
            let command = try ReportCommand.parse([
                "s", "--playhead=\($0)", "--rate=\($0)", "--stalls=0", "--stall-time=\($0)", "--startup=\($0)",
            ])
            return numbers(command.playhead, command.rate, command.stallTime, command.startup)
        },
        // The command itself is parsed asynchronously, because of its completions.
        Door("weir cache") { number in
            guard let seconds = Seconds(argument: number) else { throw Refusal() }
            return numbers(seconds)
        },
        Door("weir attach") { numbers(try AttachCommand.parse(["a", "b.jpg", "--interval=\($0)"]).interval) },
        Door("weir watch") { numbers(try WatchCommand.parse(["--interval=\($0)"]).interval) },
        Door("weir link set") {
            let change = try LinkSetCommand.parse([
                "--delay-down=\($0)", "--delay-up=\($0)s", "--loss=\($0)%", "--dns-delay=\($0)ms",
            ]).change
            return numbers(change.delayDown, change.delayUp, change.loss, change.dnsDelay)
        },
        Door("weir link set --down") {
            guard case .bits(let bits)? = try LinkSetCommand.parse(["--down=\($0)g"]).change.down else { return [] }
            return numbers(bits)
        },
        Door("weir get --range") {
            guard let range = MediaRange("\($0)-"), let other = MediaRange("-\($0)") else { throw Refusal() }
            return numbers(range.start, range.end, other.start, other.end)
        },
        Door("a bit rate") {
            guard let bits = BitRateText.bits($0), let mega = BitRateText.bits("\($0)M") else { throw Refusal() }
            return counts(bits, mega)
        },
        // TOML.
        Door("a size of the configuration") {
            guard let bytes = ByteSize.bytes("\($0)GB") else { throw Refusal() }
            return counts(Int(bytes))
        },
        Door("a number of the configuration") {
            let file = try ConfigurationFile("verify-rate = \($0)\n", path: "/weir.toml")
            guard case .number(let number)? = file.entries.first?.setting, number >= 0 else { throw Refusal() }
            return [(Double(number), 0x1p63)]
        },
        // Playlists and channel lists.
        Door("EXTINF") { durations(try media("#EXTINF:\($0),\na.ts").segments.first?.duration) },
        Door("EXT-X-SERVER-CONTROL") {
            let control = try media(
                "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=\($0),HOLD-BACK=\($0),PART-HOLD-BACK=\($0)"
            ).serverControl
            return durations(control?.canSkipUntil, control?.holdBack, control?.partHoldBack)
        },
        Door("EXT-X-PART-INF") { durations(try media("#EXT-X-PART-INF:PART-TARGET=\($0)").partTarget) },
        Door("EXT-X-PART") { durations(try media("#EXT-X-PART:DURATION=\($0),URI=\"p\"").parts.first?.duration) },
        Door("EXT-X-START") { durations(try media("#EXT-X-START:TIME-OFFSET=\($0)").start?.timeOffset.distance) },
        Door("EXT-X-DATERANGE") {
            let line = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",DURATION=\($0)"
            return durations(try media(line).dateRanges.first?.duration)
        },
        Door("FRAME-RATE") { numbers(try variant("FRAME-RATE=\($0)").frameRate) },
        Door("BANDWIDTH") { counts(Int(try variant("BANDWIDTH=\($0)").bandwidth)) },
        Door("a channel") {
            let list = ChannelList(Array("#EXTM3U\n#EXTINF:\($0),a\nhttp://h/a.m3u8\n".utf8))
            return durations(list.channels.first?.duration)
        },
        // Files beside an asset.
        Door("chapters of Apple") { try chapters("[{\"start-time\":\($0),\"duration\":\($0),\"titles\":[]}]") },
        Door("chapters of yt-dlp") { try chapters("[{\"start_time\":\($0),\"end_time\":\($0),\"title\":\"a\"}]") },
        Door("chapters with an end alone") { try chapters("[{\"start_time\":1,\"end_time\":\($0),\"title\":\"a\"}]") },
        Door("times of a cue") { try chapters("WEBVTT\n\n\($0):00.000 --> \($0):01.000\na\n") },
        Door("seconds of a cue") { try chapters("WEBVTT\n\n00:\($0) --> 99:\($0)\na\n") },
        Door("clock of subtitles") {
            let text = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\($0),LOCAL:00:\($0)\n\n00:01.000 --> 00:02.000\na\n"
            return [(abs(JoinedSubtitles.offset(of: Array(text.utf8))), 1e9)]
        },
        // A player and a handler.
        Door("CMCD") {
            let data = CMCD("bl=\($0),pr=\($0),pt=\($0),bsa=\($0),bsda=\($0),dfa=\($0),msd=\($0)".utf8)
            return numbers(data.bufferLength, data.playbackRate, data.playhead, data.stallTime, data.startup)
                + counts(data.stalls ?? 0, data.framesDropped ?? 0)
        },
        Door("expiry of an answer") { try expiry($0) },
    ]

    private static func condition(_ text: String) throws -> Yield {
        guard case .number(let number) = try VariantCondition(text).value else { throw Refusal() }
        return numbers(number)
    }

    @Test("is refused, or is from 0 to the largest of its type", arguments: doors, numbers)
    func isRefusedOrWithinItsType(door: Door, number: String) {
        guard let yield = try? door.read(number) else { return }
        for (value, largest) in yield {
            #expect(value.sign == .plus && value <= largest, "\(door.name), \(number.prefix(30)): \(value)")
        }
    }

    @Test("is decoded by the types that bound it")
    func isBoundedWhereItIsDecoded() throws {
        let root = Repository.path("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        let found = try files.filter { $0.hasSuffix(".swift") }.filter {
            try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8).contains("(Double.self")
        }
        // A chapter's own type takes any number, and names the chapter whose time is negative.
        #expect(found.sorted() == ["Extras/ChapterList.swift", "SafeText/BoundedNumber.swift"])
    }

    @Test("that is an ordinary one comes through each door", arguments: doors)
    func isKept(door: Door) throws {
        let whole = [
            "a number of the configuration": "4", "BANDWIDTH": "4", "a bit rate": "20000", "condition on bits": "20000",
            "condition on pixels": "4", "times of a cue": "04",
        ]
        #expect(try !door.read(whole[door.name] ?? "4.5").isEmpty)
    }
}
