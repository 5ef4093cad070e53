import AccessLog
import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import HTTPServer
@testable import Playback

/// Real players that are stopped when a segment of 16 MB begins, for a night by the server's clock, and then go on.
@Suite(.serialized) @LoopActor struct PausedPlayerTests {
    enum State: String {
        /// Every segment is in the store.
        case stored
        /// The segment comes from the origin, all of it while the player is stopped.
        case new
        /// The segment comes from the origin, and ends after the player goes on.
        case growing
        /// As `new`, from a playlist that may still grow.
        case live
    }

    struct Play: CustomTestStringConvertible, Sendable {
        let player: Player
        let state: State
        var testDescription: String { "\(player.rawValue), \(state.rawValue)" }
    }

    private nonisolated static let plays: [Play] = [
        Play(player: .ffmpeg, state: .stored), Play(player: .ffmpeg, state: .new),
        Play(player: .ffmpeg, state: .growing), Play(player: .ffmpeg, state: .live),
        Play(player: .mpv, state: .stored), Play(player: .mpv, state: .new), Play(player: .mpv, state: .growing),
        Play(player: .mpv, state: .live), Play(player: .vlc, state: .stored), Play(player: .vlc, state: .new),
        Play(player: .chromium, state: .stored), Play(player: .chromium, state: .new),
    ]

    /// The lengths of the pauses, one after the other, in seconds.
    private static let pauses = [61, 600, 36_000]

    @Test(.namingCases) func aPlayerThatIsStoppedForANightLosesNothing() async throws {
        let film = try LongSegments()
        let plain = try await PlainPlays(film)
        await sideBySide(Self.plays) { play in
            try await Self.expectNothingLost(play, film, plain)
        }
    }

    private static func expectNothingLost(_ play: Play, _ film: LongSegments, _ plain: PlainPlays) async throws {
        let stop = Stop()
        // VLC refuses to run as root, and is started as nobody.
        let fixture = try await TestHouse(
            .origin(film.folder),
            .playback { players in
                players.http.owners = OwnerRule(users: [65_534])
                players.seen = { stop.see($0) }
            })
        let entry = fixture.typed("/media.m3u8")
        try await prepare(play.state, fixture, entry)
        stop.isArmed = true
        defer { stop.end() }
        let child = try start(play.player, fixture.players.url(entry))
        try await waitUntil("a player that is stopped", within: .seconds(30)) {
            stop.process != nil || child.exit != nil
        }
        let connection = try #require(stop.connection, "\(child.standardOutput)\(child.standardError)")
        try await waitUntil("a reply that is held up") { fixture.heldUp.contains { $0 === connection } }
        for pause in pauses {
            fixture.pass(.seconds(pause))
            #expect(connection.phase == .replying, "after \(pause) s")
        }
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        stop.end()

        switch play.player {
        case .vlc: try await expectEveryByte(at: child, fixture, film)
        case .ffmpeg: try await expectFrames(of: child, plain)
        default: try await expectEnd(of: child, play.player, plain)
        }
    }

    /// With a plain origin too, VLC stands still after it was stopped, with all that it has read.
    private static func expectEveryByte(
        at child: ChildProcess, _ fixture: TestHouse, _ film: LongSegments
    ) async throws {
        try await waitUntil("every byte at the player", within: .seconds(20)) {
            fixture.playback.sessions.summaries.last.map { $0.bytes.all >= film.length } ?? false
        }
        child.send(SIGTERM)
        #expect([.code(0), .code(143)].contains(try await child.end()))
    }

    private static func expectFrames(of child: ChildProcess, _ plain: PlainPlays) async throws {
        #expect(try await child.end(within: .seconds(90)) == .code(0))
        #expect(child.standardError == "")
        let found = FrameHashes(framemd5: child.standardOutput)
        #expect(found.streams.map { $0.frames.map(\.hash) } == plain.frames.streams.map { $0.frames.map(\.hash) })
    }

    private static func expectEnd(of child: ChildProcess, _ player: Player, _ plain: PlainPlays) async throws {
        #expect(try await child.end(within: .seconds(90)) == .code(0))
        let report = try JSONDecoder().decode(Player.Report.self, from: child.standardOutputData)
        #expect(report.ended && PlainPlays.problems(of: report) == plain.problems[player], "\(child.standardOutput)")
    }

    /// Starts a player, ffmpeg with the hashes of all frames as its output.
    private static func start(_ player: Player, _ url: String) throws -> ChildProcess {
        guard player == .ffmpeg else {
            let bound = player == .vlc ? "20" : "60"
            return try ChildProcess(Repository.path("tools/lab/player"), [player.rawValue, url, "--within", bound])
        }
        return try ChildProcess("ffmpeg", ["-nostdin", "-v", "error", "-i", url, "-map", "0", "-f", "framemd5", "-"])
    }

    private static func prepare(_ state: State, _ fixture: TestHouse, _ entry: String) async throws {
        switch state {
        case .stored:
            for path in try await fixture.entry(entry) {
                #expect(try await fixture.get(path).status == 200)
            }
        case .new: break
        case .growing: try await fixture.origin.add(OriginRule("/1.ts") { $0.pauseAfter = 12 << 20 })
        case .live: try await fixture.put("/media.m3u8", LongSegments.playlist(isEnded: false))
        }
    }
}

/// The film played from a plain origin.
private struct PlainPlays: Sendable {
    let frames: FrameHashes
    let problems: [Player: [String]]

    init(_ film: LongSegments) async throws {
        let origin = try await TestOrigin(root: film.folder.path)
        let url = origin.url("/media.m3u8")
        async let mpv = Player.mpv.play(url, within: .seconds(60))
        async let chromium = Player.chromium.play(url, within: .seconds(60))
        frames = try await FrameHashes.of(url)
        problems = [.mpv: Self.problems(of: try await mpv), .chromium: Self.problems(of: try await chromium)]
        withExtendedLifetime(origin) {}
    }

    /// The problems of a player. mpv measures its clocks across a stop, and on a busy machine, and may say that sound and picture
    /// drifted apart.
    static func problems(of report: Player.Report) -> [String] {
        report.problems.filter { !$0.hasPrefix("[cplayer]") }
    }
}

/// Three segments of two seconds, which null packets make as long as those of a film in the best quality. Players skip them.
private struct LongSegments: Sendable {
    let folder: TemporaryFolder
    /// The bytes of all segments.
    private(set) var length = 0
    private static let count = 3
    private static let size = 16 << 20

    init() throws {
        folder = try TemporaryFolder()
        let packet = Data([0x47, 0x1F, 0xFF, 0x10]) + Data(repeating: 0xFF, count: 184)
        for number in 0..<Self.count {
            var segment = try Repository.fixture("/ts/90p/\(number).ts")
            let missing = (Self.size - segment.count) / packet.count
            segment.reserveCapacity(Self.size)
            for _ in 0..<missing {
                segment.append(packet)
            }
            length += segment.count
            try segment.write(to: URL(filePath: folder.path("\(number).ts")))
        }
        try Data(Self.playlist(isEnded: true).utf8).write(to: URL(filePath: folder.path("media.m3u8")))
    }

    static func playlist(isEnded: Bool) -> String {
        let segments = (0..<count).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n" + segments + (isEnded ? "#EXT-X-ENDLIST\n" : "")
    }
}

/// Stops the process at the other end of the first connection that asks for the second segment, before it has read any of it.
@LoopActor private final class Stop {
    var isArmed = false
    private(set) var process: pid_t?
    private(set) weak var connection: Connection?

    nonisolated init() {}

    func see(_ exchange: Exchange) {
        guard isArmed, process == nil, exchange.head.path.hasSuffix("/1.ts") else { return }
        let client = exchange.connection.client.address.port
        process = exchange.head[.host]?.split(separator: ":").last.flatMap { UInt16($0) }.flatMap { server in
            Self.process(connectedFrom: client, to: server)
        }
        connection = exchange.connection
        if let process {
            kill(process, SIGSTOP)
        }
    }

    /// Lets the process go on.
    func end() { if let process { kill(process, SIGCONT) } }

    /// The process with the socket between two ports of this machine.
    private static func process(connectedFrom local: UInt16, to remote: UInt16) -> pid_t? {
        // `String(contentsOfFile:)` reads no more of it than a page.
        let sockets = try? FileHandle(forReadingAtPath: "/proc/net/tcp")?.readToEnd()
        let lines = String(decoding: sockets ?? Data(), as: UTF8.self).split(separator: "\n").dropFirst().map {
            $0.split(separator: " ")
        }
        let ends = [local, remote].map { ":" + String(format: "%04X", $0) }
        let line = lines.first { $0.count > 9 && $0[1].hasSuffix(ends[0]) && $0[2].hasSuffix(ends[1]) }
        guard let line else { return nil }
        let link = "socket:[\(line[9])]"
        let files = FileManager.default
        let processes = ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
        return processes.first { process in
            let folder = "/proc/\(process)/fd"
            let descriptors = (try? files.contentsOfDirectory(atPath: folder)) ?? []
            return descriptors.contains { (try? files.destinationOfSymbolicLink(atPath: folder + "/" + $0)) == link }
        }
    }
}
