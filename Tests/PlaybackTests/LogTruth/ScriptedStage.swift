import AccessLog
import EventLoop
import Foundation
import HTTPServer
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback
@testable import Playheads

/// Plays a script over sockets. The origin holds each segment back until the script releases it.
@LoopActor final class ScriptedStage {
    /// One player.
    final class Player {
        var session = ""
        /// The paths in the loaded playlists, by rendition.
        var paths: [String: [String]] = [:]
        /// The pending responses.
        var waiting: [String: Task<HTTPAnswer, any Error>] = [:]
        /// A request that the player abandons before its end.
        var abandoned: RawConnection?
        /// Received bytes of media.
        var bytes = 0
    }

    let fixture: TestHouse
    let clock: TestClock
    let show: Show
    private var players: [Int: Player] = [:]
    private var held: Set<String> = []
    /// The bits from the origin while a player waited, and the seconds of waiting, according to the script.
    private var observed = (bits: 0.0, seconds: 0.0)
    private var asked: [String: Double] = [:]
    /// The received bytes of incomplete segments.
    private var begun: [String: Int] = [:]
    private var counters: [String: AccessEvent] = [:]

    init(_ script: SessionScript) async throws {
        let clock = TestClock()
        self.clock = clock
        fixture = try await TestHouse(.clock(clock), .playback())
        show = script.show
        if case .film = show {
            try await putFilm()
        }
        if case .ladder = show {
            try await putLadder()
        }
        try await store(script.stored)
    }

    private func putFilm() async throws {
        let lines = { (height: Int) in
            (0..<60).map { "#EXTINF:2,\n/ts/\(height)p/\($0 % 6).ts?n=\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
        }
        let master =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=94000,RESOLUTION=160x90\n90p.m3u8\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=184992,RESOLUTION=480x270\n270p.m3u8\n"
        try await fixture.put("/film/master.m3u8", master)
        for height in [90, 270] {
            try await fixture.put("/film/\(height)p.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + lines(height))
        }
    }

    private func putLadder() async throws {
        var lines = String(decoding: try Spliced.bytes("ts/master.m3u8"), as: UTF8.self).split(separator: "\n")
        let lowest = try #require(lines.firstIndex { $0.contains("EXT-X-STREAM-INF") })
        lines.removeSubrange(lowest...lowest + 1)
        try await fixture.put("/ts/master.m3u8", lines.joined(separator: "\n") + "\n")
    }

    /// Stores pieces by playing them, long before the script begins. Their session is over, and its log lines are
    /// written.
    private func store(_ all: [SessionScript.Pieces]) async throws {
        guard !all.isEmpty else { return }
        let lists = try await fixture.entry(fixture.typed(show.entry))
        for pieces in all {
            let list = try #require(lists.first { $0.contains("/\(pieces.rendition)/") })
            let paths = try await fixture.paths(at: list)
            let isWanted = { (path: String) in
                pieces.numbers.contains { Self.isSegment($0, path) } || pieces.hasSection && path.contains("/init")
            }
            for path in paths.filter(isWanted) {
                #expect(try await fixture.get(path).status == 200)
            }
        }
        await fixture.playback.sessions.close()
        clock.advance(by: 3600)
        try fixture.clearLogs()
    }

    private static func isSegment(_ number: Int, _ path: String) -> Bool {
        path.split(separator: "/").last?.prefix { $0 != "." } == "\(number)"
    }

    // MARK: Players

    private func player(_ index: Int) async throws -> Player {
        if let known = players[index] {
            return known
        }
        return try await load(index)
    }

    /// Loads an entry playlist, which begins a session.
    @discardableResult
    func load(_ index: Int = 0, _ view: String? = nil) async throws -> Player {
        let player = Player()
        let entry = view ?? fixture.typed(show.entry)
        let answer = try await fixture.get(entry, ["User-Agent": "player/\(index)"])
        try #require(answer.status == 200, "\(answer.text)")
        let paths = PlaylistText.paths(in: answer.text, at: entry)
        let isMedia = !answer.text.contains("EXT-X-STREAM-INF")
        for path in paths {
            let parts = path.split(separator: "/").map(String.init)
            player.session = parts[2]
            if isMedia {
                player.paths[parts[3], default: []].append(path)
            } else {
                player.paths[parts[3]] = [path]
            }
        }
        players[index] = player
        return player
    }

    /// The path of a segment, or of the initialization section if `number` is nil. Loads the playlist first.
    private func path(_ number: Int?, of rendition: String, _ player: Player) async throws -> String {
        let known = try #require(player.paths[rendition], "\(rendition) among \(player.paths.keys)")
        if known.count == 1, known[0].hasSuffix(".m3u8") {
            player.paths[rendition] = try await fixture.paths(at: known[0])
        }
        let isWanted = { (path: String) in number.map { Self.isSegment($0, path) } ?? path.contains("/init") }
        return try #require(player.paths[rendition]?.first(where: isWanted))
    }

    func session(of index: Int) async throws -> String { try await player(index).session }

    /// Puts another session's id into the player's URLs.
    func pretend(_ session: String, _ index: Int) async throws {
        let player = try await player(index)
        for rendition in player.paths.keys {
            _ = try? await path(0, of: rendition, player)
        }
        player.paths = player.paths.mapValues { $0.map { $0.replacing("/\(player.session)/", with: "/\(session)/") } }
        player.session = session
    }

    // MARK: Requests

    /// Starts a request for a segment, which the origin holds back.
    ///
    /// - Parameters:
    ///   - served: the rendition that is requested from the origin.
    ///   - isJoined: true if that request is already under way.
    func ask(
        _ number: Int, of rendition: String, by index: Int = 0, _ data: String? = nil, served: String? = nil,
        isJoined: Bool = false
    ) async throws {
        let player = try await player(index)
        let url = fixture.players.url(try await path(number, of: rendition, player))
        let origin = show.path(number, of: served ?? rendition)
        if !isJoined {
            try await hold(origin)
        }
        let before = awaited(player)
        var fields = ["User-Agent": "player/\(index)"]
        fields["CMCD-Request"] = data
        player.waiting["\(rendition)/\(number)"] = Task { try await HTTPProbe.fetch(url, fields: fields) }
        asked["\(index) \(rendition)/\(number)"] = clock.time
        if !isJoined {
            try await waitUntil("\(origin) held") { try await isHeld(origin) }
        }
        try await waitUntil("a player that waits") { awaited(player) == before + 1 }
    }

    private func hold(_ path: String) async throws {
        try await fixture.origin.add(OriginRule(path) { ($0.hold, $0.times) = (true, 1) })
        held.insert(path)
    }

    private func isHeld(_ path: String) async throws -> Bool {
        try await fixture.origin.requests(for: path).contains { $0.state == "paused" }
    }

    private func release(_ path: String) async throws {
        if held.remove(path) != nil {
            try await fixture.origin.release(path)
        }
    }

    private func awaited(_ player: Player) -> Int {
        fixture.library.playheads.sessions[player.session]?.awaited ?? 0
    }

    /// Releases the origin's response, and receives the segment.
    func arrive(
        _ number: Int, of rendition: String, by index: Int = 0, served: String? = nil, status: Int = 200
    ) async throws {
        let player = try await player(index)
        let key = "\(rendition)/\(number)"
        let origin = show.path(number, of: served ?? rendition)
        try await release(origin)
        let answer = try await #require(player.waiting.removeValue(forKey: key)).value
        #expect(answer.status == status && answer.isComplete, "\(origin): \(answer.status) \(answer.text.prefix(99))")
        if status == 200 {
            let seconds = clock.time - (asked["\(index) \(key)"] ?? 0)
            let bits = Double(answer.body.count - (begun[origin] ?? 0)) * 8
            if seconds > 0 {
                observed = (observed.bits + bits, observed.seconds + seconds)
            }
        }
        try await got(status == 200 ? answer.body.count : 0, player)
        try await waitUntil("the end of the wait") { player.waiting.count == awaited(player) }
    }

    /// Requests a resource whose response comes at once: from the store, or an error.
    func take(
        _ number: Int?, of rendition: String, by index: Int = 0, _ fields: [String: String] = [:],
        method: String = "GET", status: Int = 200, isComplete: Bool = true
    ) async throws {
        let player = try await player(index)
        let path = try await path(number, of: rendition, player)
        let answer = try await fixture.get(
            path, fields.merging(["User-Agent": "player/\(index)"]) { $1 }, method: method)
        #expect(answer.status == status && answer.isComplete == isComplete, "\(path): \(answer.status)")
        if !isComplete, let number {
            begun[show.path(number, of: rendition)] = answer.body.count
        }
        try await got(status < 300 ? answer.body.count : 0, player)
    }

    private func got(_ bytes: Int, _ player: Player) async throws {
        player.bytes += bytes
        fixture.library.playheads.catchUp()
        guard player.bytes > 0 else { return }
        try await waitUntil("\(player.bytes) bytes in \(player.session)") {
            bytesLogged(player.session) == player.bytes
        }
    }

    private func bytesLogged(_ session: String) -> Int {
        fixture.playback.sessions.summaries.filter { $0.id == session }.reduce(0) { $0 + Int($1.bytes.all) }
    }

    /// Requests a segment, and closes the connection after `bytes`.
    func leave(_ number: Int, of rendition: String, after bytes: Int, in seconds: Double) async throws {
        let player = try await player(0)
        let path = try await path(number, of: rendition, player)
        try await fixture.origin.add(
            OriginRule(show.path(number, of: rendition)) { ($0.pauseAfter, $0.times) = (bytes, 1) })
        var connection: RawConnection? = try await fixture.ask(path)
        _ = try await connection?.receiveHead()
        _ = try await connection?.receive(count: bytes)
        clock.advance(by: seconds)
        connection = nil
        try await waitUntil("nobody waits") { awaited(player) == 0 }
        try await got(bytes, player)
    }

    // MARK: Time

    /// Advances the clock in steps, and checks that no counter falls.
    func wait(_ seconds: Double) async {
        for _ in 0..<4 {
            fixture.library.playheads.catchUp()
            clock.advance(by: seconds / 4)
            await look()
        }
    }

    private func look() async {
        for event in await fixture.playback.sessions.accessEvents(LogQuery()) {
            let key = "\(event.guid) \(event.number)"
            if let last = counters[key] {
                #expect(event.watched >= last.watched && event.stallTime >= last.stallTime)
                #expect(event.stalls >= last.stalls && event.requests >= last.requests)
                #expect(event.bytes.all >= last.bytes.all && event.downloaded >= last.downloaded)
                #expect(event.overdue >= last.overdue && event.observed.count >= last.observed.count)
            }
            counters[key] = event
        }
    }

    /// The rate of the origin during requests in bits per second, according to the script.
    var observedRate: Double? { observed.seconds > 0 ? observed.bits / observed.seconds : nil }
}
