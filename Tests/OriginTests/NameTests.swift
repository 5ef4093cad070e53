import EventLoop
import Glibc
import HTTPMessage
import Synchronization
import Testing

@testable import Origin

/// A resolver with a table. A lookup can be held back.
private final class TableLookup: NameLookup {
    private struct State {
        var table: [String: [String]]
        var asked: [String] = []
        var isHeld = false
    }

    private let state: Mutex<State>

    init(_ table: [String: [String]], isHeld: Bool = false) {
        state = Mutex(State(table: table, isHeld: isHeld))
    }

    var asked: [String] { state.withLock { $0.asked } }
    func release() { state.withLock { $0.isHeld = false } }

    func addresses(of name: String) -> NameCache.Answer {
        let found = state.withLock { state in
            state.asked.append(name)
            return state.table[name]
        }
        // Ends with the test: the thread of a lookup cannot be interrupted.
        while state.withLock({ $0.isHeld }) {
            poll(nil, 0, 1)
        }
        guard let found else { return .none("no such name") }
        return .addresses(found.compactMap { SocketAddress(literal: $0, port: 0) })
    }
}

/// An address that accepts no connection and refuses none: its queue is full.
private final class FullListener {
    private var sockets: [Int32] = []

    init(_ last: UInt32, _ port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 + last).bigEndian
        address.sin_port = port.bigEndian
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        for index in 0..<5 {
            let descriptor = socket(AF_INET, flags, 0)
            sockets.append(descriptor)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
                    _ = index == 0 ? bind(descriptor, $0, size) : connect(descriptor, $0, size)
                }
            }
            if index == 0 {
                #expect(listen(descriptor, 0) == 0)
            }
        }
    }

    deinit { sockets.forEach { close($0) } }
}

extension OverSockets {
    /// Names, addresses and the stages of an attempt, over real sockets.
    @Suite @LoopActor struct NameTests {
        nonisolated private static let body = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) })

        nonisolated private static func serve(_ request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
            let start = request.fields["range"].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
            var fields = ["ETag": "\"a\""]
            if start > 0 {
                fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            }
            return [.reply(start > 0 ? 206 : 200, fields, body[start...])]
        }

        nonisolated private static func beginning(_ count: Int) -> ScriptedOrigin.Step {
            .reply(200, ["ETag": "\"a\"", "Content-Length": "\(body.count)"], body[..<count])
        }

        private static let edges = ["edge.test": ["127.0.0.2", "127.0.0.3"]]

        private func request(_ bench: Bench, _ port: UInt16, _ target: String = "/x") throws -> OriginRequest {
            try bench.request("http://edge.test:\(port)\(target)")
        }

        /// The user names the host by its name, and the playlist by its address, or the other way round.
        @Test(arguments: [
            ("nas.test", "127.0.0.1", true), ("127.0.0.1", "nas.test", true), ("mixed.test", "127.0.0.1", false),
            ("other.test", "127.0.0.1", false), ("none.test", "127.0.0.1", false),
        ])
        func theNamedHostHasAnotherName(named: String, host: String, isAllowed: Bool) async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let lookup = TableLookup([
                "nas.test": ["127.0.0.1"], "mixed.test": ["127.0.0.1", "1.1.1.1"], "other.test": ["10.0.0.5"],
            ])
            let bench = Bench(lookup) { $0.giveUpRule.retries = .never }
            var request = OriginRequest(try WebURL("http://\(host):\(origin.port)/x"))
            request.namedPeer = OriginRequest.Peer(host: named, port: origin.port)
            let (recorder, error) = await bench.run(request)
            #expect(error?.code == (isAllowed ? nil : .refusedAddress))
            #expect(recorder.text == (isAllowed ? "x" : ""))
        }

        @Test func aSlowResolverDelaysOnlyTheFirstRequest() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.serve(request) + [.close] }
            let lookup = TableLookup(["edge.test": ["127.0.0.1"]], isHeld: true)
            let bench = Bench(lookup) {
                $0.giveUpRule.connectLimit = .milliseconds(40)
                $0.giveUpRule.firstByteLimit = .milliseconds(400)
                $0.giveUpRule.retries = .never
            }
            let recorders = (0..<3).map { _ in Recorder() }
            for recorder in recorders {
                bench.client.start(try request(bench, origin.port), receiver: recorder)
            }
            #expect(await eventually { lookup.asked.count == 1 })
            await turn(.milliseconds(100))
            #expect(recorders.allSatisfy { $0.ends.isEmpty })
            lookup.release()
            for recorder in recorders {
                let error = await recorder.error
                #expect(error == nil)
                #expect(recorder.has(Self.body))
            }
            #expect(await bench.run(try request(bench, origin.port)).1 == nil)
            #expect(lookup.asked == ["edge.test"])
        }

        @Test func aResolverWithoutAnAnswerHasALimitOfItsOwn() async throws {
            let lookup = TableLookup([:], isHeld: true)
            defer { lookup.release() }
            let bench = Bench(lookup) {
                $0.giveUpRule.resolveLimit = .milliseconds(50)
                $0.giveUpRule.retries = .never
            }
            let error = await bench.run(try request(bench, 80)).1
            #expect(error?.code == .unreachable && error?.underlying == "its name could not be resolved in 0 s")
            lookup.release()
            #expect(await bench.run(try request(bench, 80)).1?.underlying == "no such name")
        }

        /// A resolver that is silent for some names holds up no more than the threads that wait for it.
        @Test func manyNamesAreLookedUpAtOnce() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let names = (0..<80).map { "host\($0).test" }
            let lookup = TableLookup(Dictionary(uniqueKeysWithValues: names.map { ($0, ["127.0.0.1"]) }), isHeld: true)
            let bench = Bench(lookup) { $0.giveUpRule.retries = .never }
            let recorders = names.map { _ in Recorder() }
            for (name, recorder) in zip(names, recorders) {
                var request = OriginRequest(try WebURL("http://\(name):\(origin.port)/x"))
                request.namedPeer = OriginRequest.Peer(host: name, port: origin.port)
                bench.client.start(request, receiver: recorder)
            }
            #expect(await eventually { lookup.asked.count == 64 })
            lookup.release()
            for recorder in recorders {
                #expect(await recorder.error == nil)
            }
            #expect(recorders.allSatisfy { $0.text == "x" })
            #expect(Set(lookup.asked) == Set(names) && lookup.asked.count == names.count)
        }

        @Test func aNameIsNotLookedUpOffline() async throws {
            let lookup = TableLookup([:], isHeld: true)
            defer { lookup.release() }
            let bench = Bench(lookup)
            let recorder = Recorder()
            bench.client.start(try request(bench, 80), receiver: recorder)
            #expect(await eventually { lookup.asked.count == 1 })
            bench.client.isOffline = true
            let error = await recorder.error
            #expect(error?.code == .offline)
            #expect(await bench.run(try request(bench, 80)).1?.code == .offline)
            #expect(lookup.asked.count == 1)
        }

        @Test(arguments: ["127.0.0.1", "localhost", "127.1"])
        func aHostOfThisMachineIsNotLookedUp(host: String) async throws {
            let origin = try ScriptedOrigin { request, _ in Self.serve(request) }
            let lookup = TableLookup([:])
            let bench = Bench(lookup) { $0.giveUpRule.retries = .never }
            #expect(await bench.run(try bench.request("http://\(host):\(origin.port)/")).1 == nil)
            #expect(lookup.asked.isEmpty)
        }

        @Test func aPrivateAddressOfAnotherHostStaysRefused() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.serve(request) }
            let bench = Bench(TableLookup(["edge.test": ["127.0.0.1"]])) { $0.giveUpRule.retries = .never }
            var request = try request(bench, origin.port)
            request.namedPeer = OriginRequest.Peer(host: "other.test", port: origin.port)
            #expect(await bench.run(request).1?.code == .refusedAddress)
            #expect(origin.accepted == 0)
        }

        @Test func anEdgeThatBreaksConnectionsIsReplacedByAnotherAddress() async throws {
            let bad = try ScriptedOrigin(address: 2) { _, _ in [Self.beginning(70_001), .reset] }
            let good = try ScriptedOrigin(address: 3, port: bad.port) { request, _ in Self.serve(request) + [.close] }
            let bench = Bench(TableLookup(Self.edges))
            for _ in 0..<2 {
                let (recorder, error) = await bench.run(try request(bench, bad.port))
                #expect(error == nil && recorder.has(Self.body))
            }
            #expect(bad.requests.count == 1)
            #expect(good.requests.map { $0.fields["range"] } == ["bytes=70001-", nil])
        }

        /// The peer's name is known, and that of the user's host is looked up in vain.
        @Test func aKnownPeerWaitsForTheNamedHostOnce() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench(TableLookup(["nas.local": ["127.0.0.1"]])) { $0.giveUpRule.retries = .never }
            for (named, isAllowed) in [("nas.local", true), ("tv.lan", false)] {
                var request = OriginRequest(try WebURL("http://nas.local:\(origin.port)/x"))
                request.namedPeer = OriginRequest.Peer(host: named, port: origin.port)
                let (_, error) = await bench.run(request)
                #expect(error?.code == (isAllowed ? nil : .refusedAddress))
            }
        }

        @Test(arguments: [502, 503, 504])
        func anEdgeWithoutAWayIsReplacedByAnotherAddress(status: Int) async throws {
            let bad = try ScriptedOrigin(address: 2) { _, _ in [.reply(status, [:], "busy")] }
            let good = try ScriptedOrigin(address: 3, port: bad.port) { request, _ in Self.serve(request) }
            let bench = Bench(TableLookup(Self.edges))
            for _ in 0..<2 {
                let (recorder, error) = await bench.run(try request(bench, bad.port))
                #expect(error == nil && recorder.has(Self.body))
            }
            #expect(bad.requests.count == 1 && good.requests.count == 2)
        }

        @Test func anEdgeThatDoesNotAnswerIsReplacedByAnotherAddress() async throws {
            let bad = try ScriptedOrigin(address: 2) { _, _ in [.hold] }
            let good = try ScriptedOrigin(address: 3, port: bad.port) { request, _ in Self.serve(request) + [.close] }
            let bench = Bench(TableLookup(Self.edges)) { $0.giveUpRule.otherAddressLimit = .milliseconds(60) }
            bench.client.backgroundAllowance = .full
            for number in 1...2 {
                let request = try request(bench, bad.port)
                let recorder = Recorder()
                bench.client.start(request, receiver: recorder)
                let error = await recorder.error
                #expect(error == nil)
                #expect(recorder.has(Self.body))
                #expect(bad.requests.count == 1 && good.requests.count == number)
            }
        }

        @Test func anEdgeThatStallsIsReplacedByAnotherAddress() async throws {
            let bad = try ScriptedOrigin(address: 2) { _, _ in [Self.beginning(1_000), .hold] }
            let good = try ScriptedOrigin(address: 3, port: bad.port) { request, _ in Self.serve(request) }
            let bench = Bench(TableLookup(Self.edges)) { $0.giveUpRule.stallSpan = .milliseconds(60) }
            let (recorder, error) = await bench.run(try request(bench, bad.port))
            #expect(error == nil && recorder.has(Self.body))
            #expect(bad.requests.count == 1 && good.requests.map { $0.fields["range"] } == ["bytes=1000-"])
        }

        @Test func aDeadAddressCostsNoAttempt() async throws {
            let good = try ScriptedOrigin(address: 3) { request, _ in Self.serve(request) + [.close] }
            let dead = try FullListener(2, good.port)
            let bench = Bench(TableLookup(Self.edges)) {
                $0.giveUpRule.connectLimit = .seconds(3)
                $0.giveUpRule.retries = .never
            }
            for _ in 0..<2 {
                let error = await bench.run(try request(bench, good.port)).1
                #expect(error == nil, "\(error?.description ?? "")")
            }
            #expect(good.requests.count == 2)
            _ = dead
        }

        @Test func anAddressThatRefusesIsSkippedAtOnce() async throws {
            let refusing = try ScriptedOrigin(isListening: false, address: 2) { _, _ in [] }
            let good = try ScriptedOrigin(address: 3, port: refusing.port) { request, _ in Self.serve(request) }
            let bench = Bench(TableLookup(Self.edges)) {
                // libcurl's timer for another family would fire only then.
                $0.giveUpRule.connectLimit = .milliseconds(150)
                $0.giveUpRule.retries = .never
            }
            #expect(await bench.run(try request(bench, good.port)).1 == nil)
        }

        @Test func connectingHasALimitOfItsOwn() async throws {
            let other = try ScriptedOrigin(isListening: false, address: 3) { _, _ in [] }
            let dead = try FullListener(2, other.port)
            let bench = Bench(TableLookup(["edge.test": ["127.0.0.2"]])) {
                $0.giveUpRule.connectLimit = .milliseconds(80)
                $0.giveUpRule.retries = .never
            }
            let error = await bench.run(try request(bench, other.port)).1
            #expect(error?.code == .unreachable && error?.underlying == "no connection in time to 127.0.0.2")
            _ = dead
        }

        @Test func theHandshakeHasALimitOfItsOwn() async throws {
            let origin = try ScriptedOrigin { _, _ in [] }
            let bench = Bench {
                $0.giveUpRule.connectLimit = .milliseconds(40)
                $0.giveUpRule.handshakeLimit = .milliseconds(400)
                $0.giveUpRule.retries = .never
            }
            let start = ContinuousClock.now
            let error = await bench.run(try bench.request("https://127.0.0.1:\(origin.port)/")).1
            #expect(error?.code == .unreachable && error?.underlying == "no TLS handshake in time with 127.0.0.1")
            #expect(ContinuousClock.now - start >= .milliseconds(400))
        }
    }
}

struct StageTests {
    private let rule = GiveUpRule()
    private let start = ContinuousClock.now

    @Test func eachStageHasALimit() {
        let limits = GiveUpRule.Stage.allCases.map { rule.limit(of: $0) / .seconds(1) }
        #expect(limits == [15, 5, 10, 15, 30])
        #expect(rule.firstCheck == .seconds(5))
    }

    /// Each row has the stages at checks, with their seconds, and the time that is left at the last one.
    @Test(
        arguments: [
            ([(.connecting, 5)], nil, nil), ([(.connecting, 4)], nil, 1), ([(.handshaking, 5)], nil, 10),
            ([(.handshaking, 5), (.handshaking, 14)], nil, 1), ([(.handshaking, 5), (.handshaking, 15)], nil, nil),
            // Sending and waiting begin when the connection is ready.
            ([(.waiting, 5)], 1, 26), ([(.sending, 5)], 1, 11), ([(.sending, 5), (.sending, 16)], 1, nil),
            ([(.sending, 5), (.waiting, 16)], 1, 15), ([(.handshaking, 5), (.waiting, 15)], 14, 29),
            ([(.waiting, 5), (.waiting, 31)], 1, nil),
        ] as [([(GiveUpRule.Stage, Int)], Int?, Int?)])
    func aStageEndsAtItsLimit(checks: [(GiveUpRule.Stage, Int)], readyAt: Int?, left: Int?) {
        var watch = GiveUpRule.HeadWatch(.connecting, now: start)
        var rest: Duration?
        for (stage, second) in checks {
            let now = start + .seconds(second)
            watch.record(stage, readyAt: readyAt.map { start + .seconds($0) }, sent: 0, now: now)
            rest = watch.left(rule, doubt: nil, now: now)
        }
        #expect(rest == left.map { .seconds($0) })
    }

    @Test func aRequestThatIsBeingSentIsNotLate() {
        var watch = GiveUpRule.HeadWatch(.connecting, now: start)
        for (second, sent) in [(5, 100), (15, 200), (29, 300)] as [(Int, Int64)] {
            let now = start + .seconds(second)
            watch.record(.sending, readyAt: start, sent: sent, now: now)
            #expect(watch.left(rule, doubt: nil, now: now) == .seconds(15))
        }
        watch.record(.sending, readyAt: start, sent: 300, now: start + .seconds(44))
        #expect(watch.left(rule, doubt: nil, now: start + .seconds(44)) == nil)
    }

    @Test func anotherAddressShortensTheFirstWait() {
        var watch = GiveUpRule.HeadWatch(.connecting, now: start)
        watch.record(.waiting, readyAt: start, sent: 0, now: start + .seconds(5))
        #expect(watch.left(rule, doubt: .otherAddress, now: start + .seconds(5)) == .seconds(5))
        #expect(watch.left(rule, doubt: .otherAddress, now: start + .seconds(10)) == nil)
        #expect(watch.left(rule, doubt: nil, now: start + .seconds(10)) == .seconds(20))
        #expect(watch.left(rule, doubt: .usedConnection, now: start + .seconds(10)) == .seconds(5))
        #expect(watch.left(rule, doubt: .usedConnection, now: start + .seconds(15)) == nil)
    }
}
