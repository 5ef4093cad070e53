import EventLoop
import HTTPMessage
import Testing

@testable import Origin

/// Shared setup of the client tests: short limits and shorter pauses.
@LoopActor struct Bench {
    let client: OriginClient

    /// - Parameter lookup: finds the addresses of names; nil for the system's resolver.
    init(_ lookup: (any NameLookup)? = nil, _ change: (inout OriginClient.Configuration) -> Void = { _ in }) {
        var configuration = OriginClient.Configuration()
        configuration.giveUpRule.retries.firstPause = .milliseconds(2)
        configuration.giveUpRule.retries.longestPause = .milliseconds(20)
        configuration.giveUpRule.retriesWhilePlayerWaits = configuration.giveUpRule.retries
        change(&configuration)
        client = OriginClient(configuration: configuration, lookup: lookup ?? SystemLookup()) { _ in }
    }

    /// A request that is allowed to connect to the origin on loopback.
    func request(_ origin: ScriptedOrigin, _ target: String = "/x") throws -> OriginRequest {
        try request("http://127.0.0.1:\(origin.port)\(target)")
    }

    func request(_ text: String) throws -> OriginRequest {
        let url = try WebURL(text)
        var request = OriginRequest(url)
        request.namedPeer = OriginRequest.Peer(of: url)
        return request
    }

    func run(_ request: OriginRequest, _ recorder: Recorder = Recorder()) async -> (Recorder, OriginError?) {
        client.start(request, receiver: recorder)
        return (recorder, await recorder.error)
    }
}

/// The socket tests run serially: they share one loop, and some have short limits.
@Suite(.serialized, .timeLimit(.minutes(1))) enum OverSockets {}

extension OverSockets {
    @Suite @LoopActor struct OriginClientTests {
        @Test func resourceArrivesWholeWithItsHead() async throws {
            let body = [[UInt8]](repeating: Array(0...250), count: 12_000).flatMap { $0 }
            let origin = try ScriptedOrigin { _, _ in
                [.reply(200, ["ETag": "\"a\"", "Content-Type": "video/mp2t"], body)]
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin, "/seg.ts?token=1"))
            #expect(error == nil)
            #expect(recorder.has(body))
            #expect(recorder.beginnings == [0])
            let head = try #require(recorder.heads.first)
            #expect(recorder.heads.count == 1)
            #expect(head.status == 200 && head.length == 3_012_000)
            #expect(head.validator?.description == "\"a\"")
            #expect(head.mediaType?.essence == "video/mp2t")
            let request = try #require(origin.requests.first)
            #expect(request.target == "/seg.ts?token=1")
            #expect(request.fields["user-agent"] == "Weir/1.0")
            #expect(request.fields["range"] == nil && request.fields["accept-encoding"] == nil)
            #expect(request.fields["cookie"] == nil && request.fields["authorization"] == nil)
        }

        /// libcurl passes 16 KiB at a time. They are copied together only for a receiver that writes them to a file.
        @Test func aReceiverOfSmallPartsGetsThemAsTheyCome() async throws {
            let body = [[UInt8]](repeating: Array(0...250), count: 400).flatMap { $0 }
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], body)] }
            let bench = Bench()
            let recorder = Recorder()
            recorder.takesSmallParts = true
            let (_, error) = await bench.run(try bench.request(origin), recorder)
            #expect(error == nil)
            #expect(recorder.has(body))
            #expect(recorder.parts.allSatisfy { $0 <= 16 << 10 })
        }

        @Test func firstBytesArriveBeforeTheLast() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.text("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .hold, .text("def")]
            }
            let bench = Bench()
            let recorder = Recorder()
            bench.client.start(try bench.request(origin), receiver: recorder)
            #expect(await eventually { recorder.text == "abc" })
            #expect(recorder.ends.isEmpty)
            origin.release()
            #expect(await recorder.error == nil)
            #expect(recorder.text == "abcdef")
        }

        @Test func laterRequestsUseTheSameConnection() async throws {
            let origin = try ScriptedOrigin { request, _ in [.reply(200, [:], request.target)] }
            let bench = Bench()
            for number in 0..<5 {
                let (recorder, _) = await bench.run(try bench.request(origin, "/\(number)"))
                #expect(recorder.text == "/\(number)")
            }
            #expect(origin.requests.map(\.connection) == [0, 0, 0, 0, 0])
        }

        @Test func offsetsOfARangeCountFromItsStart() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(206, ["Content-Range": "bytes 10-14/100"], "klmno")] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.range = 10..<15
            let (recorder, error) = await bench.run(request)
            #expect(error == nil)
            #expect(recorder.text == "klmno" && recorder.beginnings == [0])
            #expect(recorder.heads.first?.length == 5)
            #expect(origin.requests.map { $0.fields["range"] } == ["bytes=10-14"])
        }

        /// libcurl's handles are reused: no option of a request may remain for the next.
        @Test func requestInheritsNothingFromTheOneBefore() async throws {
            let origin = try ScriptedOrigin { request, _ in
                guard let range = request.fields["range"] else { return [.reply(200, [:], "abcdefghij")] }
                return [.reply(206, ["Content-Range": "bytes \(range.dropFirst(6))/10"], "bcd")]
            }
            let bench = Bench()
            var dressed = try bench.request(origin)
            dressed.range = 1..<4
            dressed.fields = [try #require(FieldLine(Array("X-Token: 1".utf8)))]
            #expect(await bench.run(dressed).1 == nil)
            var packed = try bench.request(origin)
            packed.acceptsCompression = true
            #expect(await bench.run(packed).1 == nil)
            let (recorder, error) = try await bench.run(bench.request(origin))
            #expect(error == nil && recorder.text == "abcdefghij")
            let names: [Set<String>] = origin.requests.map {
                Set($0.fields.keys).subtracting(["host", "user-agent", "accept"])
            }
            #expect(names == [["range", "x-token"], ["accept-encoding"], []])
        }

        @Test func postCarriesItsBodyAndAnyStatusComesBack() async throws {
            let origin = try ScriptedOrigin { request, _ in [.reply(409, [:], "{\"no\":\"\(request.body)\"}")] }
            let bench = Bench()
            var request = try bench.request(origin, "/api/v1/downloads")
            request.method = .post
            request.body = Array("hello".utf8)
            request.acceptsAnyStatus = true
            request.fields = [try #require(FieldLine(Array("Content-Type: application/json".utf8)))]
            let (head, body) = try await bench.client.fetch(request)
            #expect(head.status == 409)
            #expect(String(decoding: body, as: UTF8.self) == "{\"no\":\"hello\"}")
            #expect(origin.requests.map(\.method) == ["POST"])
            #expect(origin.requests.first?.fields["content-type"] == "application/json")
            #expect(origin.requests.first?.fields["expect"] == nil)
        }

        @Test(arguments: [
            (401, OriginError.Code.unauthorized), (403, .forbidden), (404, .notFound), (410, .gone),
            (418, .unexpectedStatus),
        ])
        func finalStatusEndsTheTransferWithoutARetry(status: Int, code: OriginError.Code) async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(status, [:], "no")] }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin, "/x?secret"))
            #expect(error?.code == code && error?.status == status)
            #expect(error?.description.contains("secret") == false)
            #expect(recorder.heads.isEmpty && recorder.bytes.isEmpty)
            #expect(origin.requests.count == 1)
        }

        @Test func cancellingFromWithinEachCallbackIsSafeAndSilent() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], [UInt8](repeating: 1, count: 4_000_000))] }
            let bench = Bench()
            for moment in 1...3 {
                let recorder = Recorder()
                var events = 0
                var atCancel = 0
                recorder.react = { transfer in
                    events += 1
                    if events == moment {
                        transfer.cancel()
                        atCancel = events
                    }
                }
                bench.client.start(try bench.request(origin), receiver: recorder)
                #expect(await eventually { atCancel > 0 })
                let (other, error) = await bench.run(try bench.request(origin))
                #expect(error == nil && other.bytes.count == 4_000_000)
                #expect(events == moment && recorder.ends.isEmpty)
            }
            #expect(await eventually { origin.open.now <= 1 })
        }

        @Test func cancellingBeforeTheStartOpensNoConnection() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            let recorder = Recorder()
            bench.client.start(try bench.request(origin), receiver: recorder).cancel()
            await turn(.milliseconds(20))
            #expect(origin.accepted == 0 && recorder.ends.isEmpty)
        }

        @Test func cancellingClosesTheConnection() async throws {
            let origin = try ScriptedOrigin { _, _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hold]
            }
            let bench = Bench()
            let recorder = Recorder()
            let transfer = bench.client.start(try bench.request(origin), receiver: recorder)
            #expect(await eventually { recorder.text == "abc" })
            transfer.cancel()
            #expect(await eventually { origin.open.now == 0 })
            #expect(recorder.ends.isEmpty)
        }

        @Test func cancelledTaskEndsItsFetch() async throws {
            let origin = try ScriptedOrigin { _, _ in [.hold] }
            let bench = Bench()
            let request = try bench.request(origin)
            let task = Task { @LoopActor in try await bench.client.fetch(request) }
            #expect(await eventually { origin.requests.count == 1 })
            task.cancel()
            let error = await #expect(throws: OriginError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(await eventually { origin.open.now == 0 })
        }

        @Test func offlineClientOpensNoConnection() async throws {
            let origin = try ScriptedOrigin { _, _ in [.hold] }
            let bench = Bench()
            let running = Recorder()
            bench.client.start(try bench.request(origin), receiver: running)
            #expect(await eventually { origin.requests.count == 1 })
            bench.client.isOffline = true
            #expect(await running.error?.code == .offline)
            let (_, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .offline)
            #expect(origin.accepted == 1)
            bench.client.isOffline = false
            origin.release(2)
            bench.client.start(try bench.request(origin), receiver: Recorder()).cancel()
        }

        @Test func hostGetsSixConcurrentRequestsAndPlaybackFirst() async throws {
            let origin = try ScriptedOrigin { _, _ in [.hold, .reply(200, [:], "x")] }
            let bench = Bench()
            var recorders: [Recorder] = []
            func start(_ target: String, _ priority: OriginRequest.Priority) throws -> Transfer {
                var request = try bench.request(origin, target)
                request.priority = priority
                recorders.append(Recorder())
                return bench.client.start(request, receiver: recorders[recorders.count - 1])
            }
            var background: [Transfer] = []
            for number in 0..<7 {
                background.append(try start("/b\(number)", .background))
            }
            #expect(await eventually { origin.requests.count == 6 })
            // One of these displaces the youngest with a place.
            for number in 0..<3 {
                _ = try start("/p\(number)", .playback)
            }
            #expect(await eventually { origin.requests.count == 7 && origin.open.now == 6 })
            background[6].raise(to: .playback)
            await turn(.milliseconds(20))
            #expect(origin.requests.count == 7)
            // Background no longer uses the sixth place: two must be free before the last transfer starts.
            for (released, expected) in [(1, 8), (1, 9), (1, 10), (2, 11)] {
                origin.release(released)
                #expect(await eventually { origin.requests.count == expected })
            }
            origin.release(100)
            for recorder in recorders {
                #expect(await recorder.error == nil)
            }
            // The origin may learn of the new connection before it learns that the other was closed.
            #expect(origin.open.most <= 7)
            let order = origin.requests.map(\.target)
            #expect(Set(order.prefix(6)) == ["/b0", "/b1", "/b2", "/b3", "/b4", "/b5"])
            #expect(order.dropFirst(6) == ["/p0", "/b6", "/p1", "/p2", "/b5"])
        }
    }
}
