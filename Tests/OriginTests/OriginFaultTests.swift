import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Origin
import TestSupport
import Testing

extension OverSockets {
    /// Faults of origins, over real sockets.
    @Suite @LoopActor struct OriginFaultTests {
        nonisolated private static let body = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) })

        nonisolated private static func whole(_ count: Int, _ tag: String = "a") -> ScriptedOrigin.Step {
            let fields = ["ETag": "\"\(tag)\"", "Accept-Ranges": "bytes", "Content-Length": "\(body.count)"]
            return .reply(200, fields, body[..<count])
        }

        nonisolated private static func part(from start: Int, _ count: Int? = nil, _ tag: String = "a")
            -> ScriptedOrigin.Step
        {
            let fields = [
                "ETag": "\"\(tag)\"", "Content-Range": "bytes \(start)-\(body.count - 1)/\(body.count)",
                "Content-Length": "\(body.count - start)",
            ]
            return .reply(206, fields, body[start...].prefix(count ?? .max))
        }

        /// The connection was made for another host (421), or the request came too early (425). A gateway of the origin's asked for
        /// its own credentials (407).
        @Test(arguments: [407, 421, 425], [1, 9])
        func aRequestOnTheWrongConnectionIsSentOnceMoreOnANewOne(status: Int, times: Int) async throws {
            let origin = try ScriptedOrigin { _, number in
                [number < times ? .reply(status, [:], "") : .reply(200, [:], "x")]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(origin.requests.map(\.connection) == [0, 1])
            #expect(recorder.text == (times == 1 ? "x" : ""))
            #expect(error?.status == (times == 1 ? nil : status))
        }

        /// libcurl would keep them all in memory.
        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "X-Trailer: LONG\r\n"),
            ("", "HTTP/1.1 103 Early Hints\r\nLink: LONG\r\n\r\n"), ("", "HTTP/1.1 100 Continue\r\nX: LONG\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\n", "X-Field: LONG\r\n"), ("HTTP/1.1 200 OK\r\nX-Field: ", "LONG"),
            ("HTTP/1.1 200 ", "LONG"), ("", "LONG"),
        ])
        func endlessFieldsEndTheTransfer(begin: String, part: String) async throws {
            let long = part.replacing("LONG", with: String(repeating: "a", count: 1_000))
            let origin = try ScriptedOrigin { _, _ in
                [.text(begin)] + (0..<300).map { _ in .text(long) } + [.hold]
            }
            let bench = Bench { $0.giveUpRule.retries = .never }
            let (_, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .malformedReply)
        }

        @Test(
            "a chunk whose length is no length ends the body",
            arguments: ["ffffffffffffffff", "-1", "10000000000000000", "0x5"])
        func chunk(length: String) async throws {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            let origin = try ScriptedOrigin { _, _ in [.text(head + length + "\r\nhello\r\n"), .close] }
            let bench = Bench { $0.giveUpRule.retries = .never }
            let (_, error) = await bench.run(try bench.request(origin))
            #expect(error != nil)
        }

        @Test(
            "lengths that contradict each other or are too large give what came, or an error",
            arguments: ["4\r\nContent-Length: 1", "9223372036854775808", "18446744073709551616"])
        func oddLength(_ value: String) async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello"), .close]
            }
            let bench = Bench { $0.giveUpRule.retries = .never }
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error != nil || "hello".hasPrefix(recorder.text), "\(recorder.text)")
        }

        /// libcurl drops it.
        @Test("an endless extension of a chunk is no part of the body, and the transfer ends") func chunkExtension()
            async throws
        {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nG\r\n1;"
            let long = String(repeating: "a", count: 10_000)
            let origin = try ScriptedOrigin { _, _ in [.text(head)] + (0..<100).map { _ in .text(long) } + [.hold] }
            let bench = Bench {
                $0.giveUpRule.stallSpan = .milliseconds(50)
                $0.giveUpRule.retries = .never
            }
            let (recorder, _) = await bench.run(try bench.request(origin))
            #expect(recorder.text == "G", "\(recorder.text)")
        }

        /// After a change of networks a kept connection may be dead, although something on the way acknowledges bytes.
        @Test func aSilentConnectionThatWasUsedBeforeIsLeftSooner() async throws {
            let origin = try ScriptedOrigin { request, _ in
                request.connection == 0 && request.target == "/2" ? [.hold] : [.reply(200, [:], [1, 2, 3])]
            }
            let bench = Bench {
                $0.giveUpRule.unacknowledgedLimit = .milliseconds(100)
                $0.giveUpRule.firstByteLimit = .seconds(20)
            }
            #expect(await bench.run(try bench.request(origin, "/1")).1 == nil)
            let begun = ContinuousClock.now
            let (recorder, error) = await bench.run(try bench.request(origin, "/2"))
            #expect(error == nil && recorder.has([1, 2, 3]))
            #expect(ContinuousClock.now - begun < .seconds(10))
            #expect(origin.requests.map(\.connection) == [0, 0, 1])
        }

        @Test func whileOneUsedConnectionIsSilentAnotherIsNotTried() async throws {
            let origin = try ScriptedOrigin { request, _ in
                switch request.target {
                case "/silent": [.hold]
                case "/next": [.reply(200, [:], [1, 2, 3])]
                default: [.hold, .reply(200, [:], [1])]
                }
            }
            let bench = Bench { $0.giveUpRule.suspectSilence = .milliseconds(100) }
            let first = (1...2).map { _ in Recorder() }
            for (number, recorder) in first.enumerated() {
                bench.client.start(try bench.request(origin, "/\(number)"), receiver: recorder)
            }
            try await waitUntil("two connections") { origin.requests.count == 2 }
            origin.release(2)
            for recorder in first {
                #expect(await recorder.error == nil)
            }
            let silent = bench.client.start(try bench.request(origin, "/silent"), receiver: Recorder())
            await turn(.milliseconds(300))
            let (recorder, error) = await bench.run(try bench.request(origin, "/next"))
            #expect(error == nil && recorder.has([1, 2, 3]))
            silent.cancel()
            #expect(origin.requests.map(\.target).suffix(2) == ["/silent", "/next"])
            #expect(origin.requests.map(\.connection).last == 2)
        }

        /// A slow origin is waited for on connections that were used before, once it is known.
        @Test func anOriginThatIsKnownToBeSlowIsAskedOnce() async throws {
            let origin = try ScriptedOrigin { _, _ in [.hold, .reply(200, [:], [1, 2, 3])] }
            let bench = Bench {
                $0.giveUpRule.unacknowledgedLimit = .milliseconds(100)
                $0.giveUpRule.firstByteLimit = .seconds(20)
            }
            for number in 1...2 {
                let recorder = Recorder()
                bench.client.start(try bench.request(origin, "/\(number)"), receiver: recorder)
                await turn(.milliseconds(400))
                origin.release()
                #expect(await recorder.error == nil)
            }
            #expect(origin.requests.map(\.target) == ["/1", "/2"])
            #expect(origin.requests.map(\.connection) == [0, 0])
        }

        @Test func brokenBodyIsResumedByteForByte() async throws {
            let origin = try ScriptedOrigin { _, number in
                switch number {
                case 0: [Self.whole(70_001), .close]
                case 1: [Self.part(from: 70_001, 30_000), .reset]
                case 2: [.close]
                default: [Self.part(from: 100_001)]
                }
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil)
            #expect(recorder.has(Self.body))
            #expect(recorder.beginnings == [0])
            #expect(recorder.heads.count == 1)
            let asked = origin.requests.map { [$0.fields["range"], $0.fields["if-range"]] }
            #expect(
                asked == [
                    [nil, nil], ["bytes=70001-", "\"a\""], ["bytes=100001-", "\"a\""], ["bytes=100001-", "\"a\""],
                ])
        }

        @Test func displacedTransferResumesFromItsLastByte() async throws {
            let origin = try ScriptedOrigin { request, _ in
                switch (request.target, request.fields["range"]) {
                case ("/p", _): [.reply(200, [:], "x")]
                case ("/b", "bytes=70001-"): [Self.part(from: 70_001)]
                case ("/b", _): [Self.whole(70_001), .hold]
                default: [.hold, .reply(200, [:], "y")]
                }
            }
            let bench = Bench {
                $0.slotsPerHost = 2
                $0.slotsInReserve = 1
            }
            let older = Recorder()
            let younger = Recorder()
            for (target, recorder) in [("/a", older), ("/b", younger)] {
                var request = try bench.request(origin, target)
                request.priority = .background
                bench.client.start(request, receiver: recorder)
            }
            #expect(await eventually { younger.bytes.count == 70_001 && origin.requests.count == 2 })
            let (player, error) = await bench.run(try bench.request(origin, "/p"))
            #expect(error == nil)
            #expect(player.text == "x")
            // Only the older transfer's step still waits, once the origin has noticed that the other's client has left.
            #expect(await eventually { origin.open.now == 2 })
            origin.release()
            #expect(await older.error == nil)
            #expect(await younger.error == nil)
            #expect(younger.has(Self.body))
            #expect(younger.beginnings == [0])
            #expect(younger.heads.count == 1)
            #expect(origin.requests.last?.fields["if-range"] == "\"a\"")
        }

        /// Without ranges it would begin again: the player waits for the place of another one.
        @Test func aTransferThatCannotBeContinuedIsNotDisplaced() async throws {
            let origin = try ScriptedOrigin { request, _ in
                switch request.target {
                case "/p": [.reply(200, [:], "x")]
                case "/a": [.hold, .reply(200, [:], "y")]
                default: [.reply(200, ["Content-Length": "2"], "z"), .hold, .bytes([0])]
                }
            }
            let bench = Bench {
                $0.slotsPerHost = 2
                $0.slotsInReserve = 1
            }
            let recorders = [Recorder(), Recorder()]
            for (target, recorder) in zip(["/a", "/b"], recorders) {
                var request = try bench.request(origin, target)
                request.priority = .background
                bench.client.start(request, receiver: recorder)
            }
            #expect(await eventually { recorders[1].bytes.count == 1 && origin.requests.count == 2 })
            let (player, error) = await bench.run(try bench.request(origin, "/p"))
            #expect(error == nil)
            #expect(player.text == "x")
            // The one without a byte was displaced, and comes again.
            origin.release(2)
            #expect(await eventually { origin.requests.count == 4 })
            origin.release(100)
            for recorder in recorders {
                #expect(await recorder.error == nil)
            }
            #expect(origin.requests.count { $0.target == "/b" } == 1)
        }

        @Test func changedContentIsNeverMixed() async throws {
            let changed = Self.body.map { ~$0 }
            let origin = try ScriptedOrigin { _, number in
                number == 0 ? [Self.whole(70_000), .close] : [.reply(200, ["ETag": "\"b\""], changed)]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .contentChanged)
            #expect(recorder.has(Self.body[..<70_000]))
            #expect(recorder.beginnings == [0, 0])
        }

        @Test func sameContentUnderAnotherTagIsFetchedAgainAndCompared() async throws {
            let origin = try ScriptedOrigin { _, number in
                number == 0 ? [Self.whole(70_000), .close] : [Self.whole(Self.body.count, "b")]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil)
            #expect(recorder.has(Self.body) && recorder.beginnings == [0, 0])
        }

        @Test func newTransferResumesEarlierBytes() async throws {
            let origin = try ScriptedOrigin { _, _ in [Self.part(from: 50_000)] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.start = 50_000
            request.validator = StrongValidator("\"a\"")
            let (recorder, error) = await bench.run(request, Recorder(Array(Self.body[..<50_000])))
            #expect(error == nil)
            #expect(recorder.has(Self.body) && recorder.beginnings == [50_000])
            #expect(recorder.heads.first?.length == Int64(Self.body.count))
        }

        @Test func wholeFileIsNeverDeliveredAsARange() async throws {
            let origin = try ScriptedOrigin { _, _ in [Self.whole(Self.body.count)] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.range = 100..<200
            let (recorder, error) = await bench.run(request)
            #expect(error?.code == .rangeIgnored)
            #expect(recorder.heads.isEmpty && recorder.bytes.isEmpty)
            #expect(origin.requests.count == 2)
        }

        /// A look at the first bytes costs one request where the origin knows no ranges.
        @Test func theBeginningOfAWholeFileIsTakenWhereThatIsEnough() async throws {
            let origin = try ScriptedOrigin { _, _ in [Self.whole(Self.body.count), .hold] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.range = 0..<4096
            request.acceptsWhole = true
            let (recorder, error) = await bench.run(request)
            #expect(error == nil)
            #expect(recorder.has(Self.body[..<4096]))
            #expect(recorder.heads.first?.status == 200 && origin.requests.count == 1)
        }

        /// Players take as many bytes as they asked for, whatever the origin says of the rest.
        @Test(arguments: [
            (206, "bytes 100-200/100000", 101), (206, "bytes 100-199/0", 100), (206, "bytes 100-199/100000", 5000),
            (206, "bytes 100-199/100000", 40), (200, "bytes 100-199/100000", 100),
        ])
        func aRangeIsCountedFromItsFirstByte(_ status: Int, _ range: String, _ length: Int) async throws {
            let origin = try ScriptedOrigin { _, _ in
                let fields = ["Content-Range": range, "Content-Length": "\(length)"]
                return [.reply(status, fields, Self.body[100..<(length == 101 ? 201 : 200)]), .hold]
            }
            let bench = Bench()
            var request = try bench.request(origin)
            request.range = 100..<200
            let (recorder, error) = await bench.run(request)
            #expect(error == nil)
            #expect(recorder.has(Array(Self.body[100..<200])))
        }

        @Test func silentOriginTimesOut() async throws {
            let origin = try ScriptedOrigin { request, number in
                if number == 0 {
                    return [.hold]
                }
                return request.fields["range"] == nil ? [Self.whole(1_000), .hold] : [Self.part(from: 1_000)]
            }
            let bench = Bench {
                $0.giveUpRule.firstByteLimit = .milliseconds(60)
                $0.giveUpRule.stallSpan = .milliseconds(60)
                $0.giveUpRule.stallBytes = 500
            }
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil)
            #expect(recorder.has(Self.body))
            let ranges = origin.requests.map { $0.fields["range"] }
            #expect(ranges.count >= 3 && ranges.last == "bytes=1000-")
        }

        @Test func silentBodyContinuesOnAnotherConnectionWithoutAnAlternative() async throws {
            let origin = try ScriptedOrigin { request, _ in
                request.fields["range"] == nil ? [Self.whole(1_000), .hold] : [Self.part(from: 1_000)]
            }
            let bench = Bench { $0.giveUpRule.silenceSpan = .milliseconds(60) }
            var request = try bench.request(origin)
            request.ignoresAbsence = true
            let (recorder, error) = await bench.run(request)
            #expect(error == nil && recorder.has(Self.body))
            #expect(origin.requests.map { $0.fields["range"] } == [nil, "bytes=1000-"])
        }

        @Test func permanentSilenceIsReported() async throws {
            let origin = try ScriptedOrigin { request, _ in
                request.target == "/body" ? [Self.whole(10), .hold] : [.hold]
            }
            let bench = Bench {
                $0.giveUpRule.firstByteLimit = .milliseconds(50)
                $0.giveUpRule.retries = .never
            }
            #expect(await bench.run(try bench.request(origin, "/head")).1?.code == .timedOut)
            let other = Bench {
                $0.giveUpRule.stallSpan = .milliseconds(50)
                $0.giveUpRule.retries = .never
            }
            #expect(await other.run(try bench.request(origin, "/body")).1?.code == .stalled)
            var tolerant = try bench.request(origin, "/head")
            tolerant.toleratesSilence = true
            tolerant.deadline = .milliseconds(150)
            #expect(await bench.run(tolerant).1?.underlying == nil)
        }

        @Test func deadlineLimitsTheWholeTransfer() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(503)] }
            let bench = Bench { $0.giveUpRule.retries.attempts = .max }
            var request = try bench.request(origin)
            request.deadline = .milliseconds(600)
            #expect(await bench.run(request).1?.code == .timedOut)
            #expect(origin.requests.count > 1)
            let dead = try ScriptedOrigin(isListening: false) { _, _ in [] }
            request = try bench.request(dead)
            request.deadline = .milliseconds(100)
            // The other host has answered.
            #expect(await bench.run(request).1?.code == .hostDead)
        }

        @Test func failingServerIsRetriedAndThenReported() async throws {
            let origin = try ScriptedOrigin { request, number in
                request.target == "/heals" && number > 2 ? [Self.whole(Self.body.count)] : [.reply(503, [:], "busy")]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin, "/heals"))
            #expect(error == nil && recorder.has(Self.body))
            let failed = await bench.run(try bench.request(origin, "/never")).1
            #expect(failed?.code == .serverFailure && failed?.status == 503)
            #expect(origin.requests.count == 4 + 6)
            #expect(Set(origin.requests.map(\.connection)) == [0], "errors do not cost the connection")
        }

        @Test func repeatedlyBrokenBodyIsReported() async throws {
            let origin = try ScriptedOrigin { _, number in
                [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + "abcdefgh".prefix(number % 2 + 3)), .close]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .cutShort)
            #expect(recorder.text == "abcd")
            #expect(origin.requests.count == 7, "the longer body is progress")
        }

        // MARK: Lengths that are wrong

        @Test func bodyShorterThanStatedIsCompleteIfASecondOneIsEqual() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.text == "abc" && origin.requests.count == 2)
        }

        @Test(arguments: ["", "Connection: close\r\n"])
        func bodyLongerThanStatedIsReadToTheEndOfASecondConnection(field: String) async throws {
            let origin = try ScriptedOrigin { request, _ in
                let head =
                    "HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\(field)Content-Length: \(Self.body.count - 1_000)\r\n\r\n"
                return [.bytes(Array(head.utf8) + Self.body)]
                    + (field != "" || request.fields["connection"] == "close" ? [.close] : [])
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.has(Self.body))
            #expect(recorder.heads.map(\.length) == [Int64(Self.body.count - 1_000), nil])
            #expect(origin.requests.map { $0.fields["connection"] } == [nil, "close"])
        }

        @Test func silenceBehindAPlausibleEndIsNoticedEarly() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n#EXTM3U\n"), .hold]
            }
            let bench = Bench { $0.giveUpRule.silenceAtEnd = .milliseconds(50) }
            var request = try bench.request(origin)
            request.acceptsCompression = true
            #expect(try await bench.client.fetch(request).1 == Array("#EXTM3U\n".utf8))
            #expect(origin.requests.count == 2)
        }

        @Test func replyOfACorrectLengthIsRequestedOnce() async throws {
            let origin = try ScriptedOrigin { _, _ in [Self.whole(Self.body.count)] }
            let bench = Bench()
            for _ in 0..<3 {
                #expect(await bench.run(try bench.request(origin)).0.has(Self.body))
            }
            #expect(origin.requests.count == 3 && origin.accepted == 1)
        }

        @Test func replyThatIsNotHTTPIsReported() async throws {
            let origin = try ScriptedOrigin { _, _ in [.text("SSH-2.0-Server\r\n"), .close] }
            let bench = Bench { $0.giveUpRule.retries.attempts = 1 }
            #expect(await bench.run(try bench.request(origin)).1?.code == .malformedReply)
            let endless = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 5_000) + "\r\n"), .close]
            }
            #expect(await bench.run(try bench.request(endless)).1?.code == .malformedReply)
        }

        // MARK: Bounds

        @Test func bodyLargerThanTheLimitIsAborted() async throws {
            let origin = try ScriptedOrigin { request, _ in
                request.target == "/told"
                    ? [Self.whole(Self.body.count)]
                    : [.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .bytes(Self.body), .hold]
            }
            let bench = Bench()
            for (target, most) in [("/told", 0), ("/untold", 100_000)] {
                var request = try bench.request(origin, target)
                request.limit = 100_000
                let (recorder, error) = await bench.run(request)
                #expect(error?.code == .tooLarge)
                #expect(recorder.bytes.count <= most)
            }
            #expect(origin.requests.count == 2)
        }

        /// So large is a playlist of 1,000,000 segments.
        @Test func aTextOf24MBIsFetched() async throws {
            let body = [UInt8](repeating: 0x23, count: 24 << 20)
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], body)] }
            let bench = Bench()
            #expect(try await bench.client.fetch(try bench.request(origin)).1.count == body.count)
        }

        @LoopActor private final class Taken {
            var before = 0
            var mostInTurns = 0
        }

        @Test("A body that comes faster than it is taken leaves turns of the loop to others")
        func aFastBody() async throws {
            let body = [UInt8](repeating: 0x23, count: 24 << 20)
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], body)] }
            let bench = Bench()
            let recorder = Recorder()
            let taken = Taken()
            recorder.react = { [weak recorder] _ in
                let count = recorder?.bytes.count ?? 0
                taken.mostInTurns = max(taken.mostInTurns, count - taken.before)
            }
            let turns = Task { @LoopActor in
                while !Task.isCancelled {
                    taken.before = recorder.bytes.count
                    await withCheckedContinuation { continuation in Task { @LoopActor in continuation.resume() } }
                }
            }
            let (_, error) = await bench.run(try bench.request(origin), recorder)
            turns.cancel()
            #expect(error == nil && recorder.bytes == body)
            // The task that watches goes on in each second turn.
            #expect(taken.mostInTurns <= 9 << 20)
        }

        /// Starts a transfer as soon as another one ends, as downloads do.
        @LoopActor private final class Followers: TransferReceiver {
            private let start: (any TransferReceiver) -> Void
            private(set) var left: Int
            private(set) var running = 0
            private(set) var byteCount = 0
            private(set) var failures = 0

            init(_ count: Int, start: @escaping (any TransferReceiver) -> Void) {
                left = count
                self.start = start
            }

            func startNext() {
                guard left > 0 else { return }
                left -= 1
                running += 1
                start(self)
            }

            func transfer(_ transfer: Transfer, received head: OriginHead) {}

            func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {
                byteCount += bytes.count
            }

            func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
                running -= 1
                if case .failure = result {
                    failures += 1
                }
                startNext()
            }
        }

        /// Fast bodies wait for the next turn of the loop. There libcurl ends one and begins the next on its connection, whose reply is
        /// no rest of the last one.
        @Test("A connection on which the next request follows at once has no bytes behind the last body")
        func connectionsThatGoOnAtOnce() async throws {
            let body = [UInt8](repeating: 0x23, count: 1 << 20)
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], body)] }
            let bench = Bench()
            let request = try bench.request(origin)
            let chains = 8
            let count = 64 * chains
            let followers = Followers(count) { receiver in bench.client.start(request, receiver: receiver) }
            for _ in 0..<chains {
                followers.startNext()
            }
            #expect(await eventually { followers.left == 0 && followers.running == 0 })
            #expect(followers.failures == 0 && followers.byteCount == count * body.count)
            #expect(origin.requests.count == count)
            #expect(origin.accepted <= chains)
        }

        /// 5 bytes and 9,000,000 zeros, as `gzip -9` compresses them.
        @Test func playlistIsDecodedAndADecompressionBombIsRefused() async throws {
            let hello: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0,
                0,
                0,
            ]
            let bomb = Self.bomb
            let origin = try ScriptedOrigin { request, _ in
                guard request.fields["accept-encoding"] == "gzip" else { return [.reply(200, [:], "plain")] }
                return [.reply(200, ["Content-Encoding": "gzip"], request.target == "/bomb" ? bomb : hello)]
            }
            let bench = Bench()
            var request = try bench.request(origin)
            #expect(try await bench.client.fetch(request).1 == Array("plain".utf8))
            request.acceptsCompression = true
            let (head, bytes) = try await bench.client.fetch(request)
            #expect(bytes == Array("hello".utf8) && head.length == nil)
            request = try bench.request(origin, "/bomb")
            request.acceptsCompression = true
            let error = await #expect(throws: OriginError.self) { try await bench.client.fetch(request) }
            #expect(error?.code == .tooLarge)
        }

        /// Deflate blocks that each encode 2 MB of zeros with one-bit symbols: a ratio of a thousand to one.
        nonisolated private static var bomb: [UInt8] {
            // A fixed Huffman block: literal 0, then `match 258, distance 1` repeatedly, without an end.
            var bits: [UInt8] = [1, 1, 0]
            bits += [0, 0, 1, 1, 0, 0, 0, 0]
            for _ in 0..<30_000 {
                bits += [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0]
            }
            var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3]
            for start in stride(from: 0, to: bits.count - 7, by: 8) {
                bytes.append((0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) })
            }
            return bytes
        }

        /// "hello" in each coding, as the usual programs write it.
        nonisolated private static let coded: [(coding: String, bytes: [UInt8])] = [
            (
                "gzip",
                [
                    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5,
                    0, 0, 0,
                ]
            ),
            ("deflate", [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 6, 0x2C, 2, 0x15]),
            ("deflate", [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0]),
            ("br", [0x0B, 2, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 3]),
            ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F]),
        ]

        @Test func unrequestedCodingIsDecoded() async throws {
            for example in Self.coded {
                let origin = try ScriptedOrigin { _, _ in
                    [.reply(200, ["Content-Encoding": example.coding, "ETag": "\"a\""], example.bytes)]
                }
                let bench = Bench()
                let (recorder, error) = await bench.run(try bench.request(origin))
                #expect(error == nil && recorder.text == "hello", "\(example.coding)")
                #expect(recorder.heads.first?.length == nil && recorder.heads.first?.validator == nil)
                #expect(origin.requests.map { $0.fields["accept-encoding"] } == [nil])
            }
        }

        @Test(arguments: ["none", "utf-8", "identity", "aws-chunked", "binary", "", "gzip"])
        func bodyThatIsNotCodedIsDeliveredAsItIs(coding: String) async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nplain")]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error == nil && recorder.text == "plain")
            #expect(origin.requests.count == (coding == "gzip" ? 2 : 1))
            var playlist = try bench.request(origin)
            playlist.acceptsCompression = true
            #expect(try await bench.client.fetch(playlist).1 == Array("plain".utf8))
        }

        /// gzip in gzip, of which the answer states both or one. The first byte of the file is for the fuzzer.
        @Test("A decompression bomb within another is refused", arguments: ["gzip, gzip", "gzip"])
        func bombInABomb(coding: String) async throws {
            let packed = try Data(contentsOf: URL(filePath: Repository.path("fixtures/codings/gzip-bomb-twice")))
            let bomb = [UInt8](packed.dropFirst())
            let origin = try ScriptedOrigin { _, _ in [.reply(200, ["Content-Encoding": coding], bomb)] }
            let bench = Bench()
            let (recorder, _) = await bench.run(try bench.request(origin))
            // 60 MB are packed in 260 bytes.
            #expect(recorder.bytes.count <= 50 << 20, "\(recorder.bytes.count)")
        }

        @Test(arguments: ["Content-Length", "Transfer-Encoding"])
        func decompressionBombIsRefusedOnMediaToo(framing: String) async throws {
            let bomb = Self.bomb
            let origin = try ScriptedOrigin { _, _ in
                guard framing == "Transfer-Encoding" else { return [.reply(200, ["Content-Encoding": "gzip"], bomb)] }
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                return [.text(head + String(bomb.count, radix: 16) + "\r\n"), .bytes(bomb), .text("\r\n0\r\n\r\n")]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .tooLarge)
            #expect(recorder.bytes.count < 9_000_000, "\(recorder.bytes.count)")
        }
    }
}
