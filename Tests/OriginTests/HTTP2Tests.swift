import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import Origin

extension OverSockets {
    /// Transfers from an origin that speaks HTTP/2 and fails on demand.
    @Suite @LoopActor struct HTTP2Tests {
        nonisolated private static let size = 100_000

        private func bench(_ origin: HTTP2Origin, _ change: (inout OriginClient.Configuration) -> Void = { _ in })
            -> Bench
        {
            Bench {
                $0.authorities = origin.authority
                change(&$0)
            }
        }

        /// Runs a request for a whole body, and returns what the origin has seen.
        private func fetch(_ query: String, _ bench: Bench, _ origin: HTTP2Origin) async throws -> [HTTP2Origin.Request]
        {
            let (recorder, error) = await bench.run(try bench.request(origin.url + "/x?" + query))
            #expect(error == nil)
            #expect(recorder.has(HTTP2Origin.body(Self.size)))
            return try await origin.statistics().requests
        }

        @Test func manyRequestsShareOneConnection() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            #expect(bench.client.streams(at: try WebURL(origin.url).origin) == 32)
            let recorders = (0..<40).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                bench.client.start(try bench.request("\(origin.url)/\(number)?hold=1"), receiver: recorder)
            }
            let half = Self.size / 2
            #expect(await eventually { recorders.count { $0.bytes.count >= half } == 32 })
            #expect(recorders.allSatisfy { $0.bytes.count < Self.size })
            try await origin.release()
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            let http2 = try await origin.statistics().connections.filter { $0.protocolName == "h2" }
            #expect(http2.map(\.requests) == [41] && http2.map(\.most) == [32])
        }

        /// The first requests to a host come before its protocol is known.
        @Test func firstRequestsWaitForOneConnection() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            let recorders = (0..<6).map { _ in Recorder() }
            for recorder in recorders {
                bench.client.start(try bench.request(origin.url + "/x"), receiver: recorder)
            }
            for recorder in recorders {
                #expect(await recorder.error == nil)
            }
            let statistics = try await origin.statistics()
            #expect(statistics.connections.count { $0.protocolName == "h2" } == 1)
        }

        @Test func anOriginWithFewerStreamsGetsFewer() async throws {
            let origin = try await HTTP2Origin("--streams", "2")
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            let recorders = (0..<12).map { _ in Recorder() }
            for recorder in recorders {
                bench.client.start(try bench.request(origin.url + "/x?delay=20"), receiver: recorder)
            }
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            let seen = try await origin.statistics().connections.filter { $0.protocolName == "h2" }
            let most = seen.map(\.most)
            #expect(most.allSatisfy { $0 <= 2 }, "\(seen)")
        }

        @Test func theKeySwitchesItOff() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.usesHTTP2 = false }
            let requests = try await fetch("", bench, origin)
            #expect(requests.map(\.protocolName) == ["http/1.1"])
            #expect(bench.client.streams(at: try WebURL(origin.url).origin) == nil)
        }

        /// The rest is in the same record of TLS as the last stated byte, or behind it.
        @Test(arguments: [99_999, 99_000, 60_000])
        func bytesBehindTheStatedLengthAreNoticedOverTLS(_ claimed: Int) async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.usesHTTP2 = false }
            let requests = try await fetch("noranges=1&claims=\(claimed)", bench, origin)
            #expect(requests.count == 2)
        }

        /// Frames have up to 16 KiB. nghttp2 drops the one that goes beyond the length, and libcurl reads no further than that.
        @Test(arguments: [99_999, 98_304, 60_000, 16_384], ["", "&noranges=1"])
        func aLengthThatIsNotThatOfTheStreamIsNoticed(_ claimed: Int, _ more: String) async throws {
            let origin = try await HTTP2Origin()
            let requests = try await fetch("claims=\(claimed)\(more)", bench(origin), origin)
            #expect(requests.map(\.protocolName) == ["h2", "http/1.1"])
        }

        @Test(
            "A stream is complete by its end, or by its length alone",
            arguments: [
                ("", true), ("noend=1", false), ("fault=close&at=100000", false), ("fault=reset&at=100000", false),
            ])
        func theEndOfAStreamIsKnown(query: String, isMarked: Bool) async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            let recorder = Recorder()
            let transfer = bench.client.start(try bench.request(origin.url + "/x?" + query), receiver: recorder)
            #expect(await recorder.error == nil)
            #expect(recorder.has(HTTP2Origin.body(Self.size)))
            #expect(recorder.heads.last?.end == .mark && transfer.isEndMarked == isMarked)
            #expect(try await origin.statistics().requests.map(\.protocolName) == ["h2"])
        }

        @Test func aResetStreamIsContinuedByRange() async throws {
            let origin = try await HTTP2Origin()
            let requests = try await fetch("fault=reset&at=30000", bench(origin), origin)
            #expect(requests.map(\.range) == ["", "bytes=30000-"])
            #expect(requests.map(\.protocolName) == ["h2", "h2"])
        }

        /// RFC 9113 §8.1.1. Nothing that has come is fetched again.
        @Test func aStreamThatEndsBeforeItsLengthIsContinuedByRange() async throws {
            let origin = try await HTTP2Origin()
            let requests = try await fetch("fault=end&at=30000", bench(origin), origin)
            #expect(requests.map(\.range) == ["", "bytes=30000-"])
        }

        @Test func aSecondResetLeadsToHTTP1() async throws {
            let origin = try await HTTP2Origin()
            let requests = try await fetch("fault=reset&at=30000&times=9", bench(origin), origin)
            #expect(requests.map(\.range) == ["", "bytes=30000-", "bytes=60000-"])
            #expect(requests.map(\.protocolName) == ["h2", "h2", "http/1.1"])
        }

        @Test(arguments: ["refuse", "goaway", "http11"]) func whatTheOriginAnnouncesIsNoFailure(fault: String)
            async throws
        {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.giveUpRule.retries = .never }
            let requests = try await fetch("fault=\(fault)&at=0", bench, origin)
            #expect(requests.last?.protocolName == (fault == "http11" ? "http/1.1" : "h2"))
            // The next request goes on, on another connection.
            #expect(try await fetch("next", bench, origin).count == requests.count + 1)
        }

        @Test func aGoawayInMidBodyLosesNothing() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.giveUpRule.retries = .never }
            let requests = try await fetch("fault=goaway&at=50000", bench, origin)
            #expect(requests.map(\.range) == [""])
            #expect(Set(try await fetch("next", bench, origin).map(\.connection)).count == 2)
        }

        @Test func framesOutOfOrderLeadBackToHTTP1() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            let requests = try await fetch("fault=garbage&at=30000&times=9", bench, origin)
            #expect(requests.map(\.range) == ["", "bytes=30000-"])
            #expect(requests.map(\.protocolName) == ["h2", "http/1.1"])
            // For the whole host.
            #expect(try await fetch("next", bench, origin).map(\.protocolName) == ["h2", "http/1.1", "http/1.1"])
            #expect(bench.client.streams(at: try WebURL(origin.url).origin) == nil)
        }

        /// libcurl reports some of these ends as success, so that such bodies come by HTTP/1.1.
        @Test(arguments: ["garbage", "close", "reset"]) func aCutBodyWithoutLengthIsNotWhole(fault: String) async throws
        {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            let requests = try await fetch("noranges=1&nolength=1&fault=\(fault)&at=30000", bench, origin)
            #expect(requests.map(\.protocolName) == ["h2", "http/1.1"])
        }

        @Test func bodiesWithoutLengthComeByHTTP1FromThenOn() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.giveUpRule.retries = .never }
            for _ in 1...2 {
                _ = try await fetch("noranges=1&nolength=1", bench, origin)
            }
            // Other kinds of replies of the same origin are not concerned.
            var playlist = try bench.request(origin.url + "/list")
            playlist.acceptsCompression = true
            #expect(await bench.run(playlist).1 == nil)
            let requests = try await origin.statistics().requests
            #expect(requests.map(\.protocolName) == ["h2", "http/1.1", "http/1.1", "h2"])
        }

        /// libcurl sends such a request again by itself, and would append the second body to the first.
        @Test func aStreamThatRequiresHTTP1InMidBodyIsContinuedByRange() async throws {
            let origin = try await HTTP2Origin()
            let requests = try await fetch("fault=http11&at=30000", bench(origin), origin)
            #expect(requests.last?.range == "bytes=30000-" && requests.last?.protocolName == "http/1.1")
        }

        /// libcurl may send a request that offers HTTP/2 on a connection of HTTP/1.1 that is in use.
        @Test func requestsByHTTP1AndByHTTP2ShareNoConnection() async throws {
            let origin = try await HTTP2Origin("--streams", "1")
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            // A download that may be held back goes by HTTP/1.1.
            bench.client.backgroundAllowance = BackgroundAllowance(rate: 5_000_000)
            var request = try bench.request(origin.url + "/long?size=3000000")
            request.priority = .background
            let long = Recorder()
            bench.client.start(request, receiver: long)
            #expect(await eventually { !long.bytes.isEmpty })
            let recorders = (0..<8).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                bench.client.start(try bench.request("\(origin.url)/\(number)?delay=20"), receiver: recorder)
            }
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            #expect(await long.error == nil)
            #expect(long.has(HTTP2Origin.body(3_000_000)))
            let requests = try await origin.statistics().requests
            #expect(requests.filter { $0.protocolName == "http/1.1" }.map(\.target) == ["/long?size=3000000"])
        }

        /// libcurl keeps a shared connection whose request was stopped, and nothing else reports that it is dead.
        @Test func aConnectionOnWhichNothingArrivesIsLeft() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            for number in 1...2 {
                var request = try bench.request("\(origin.url)/\(number)?delay=60000")
                request.deadline = .milliseconds(2_200)
                #expect(await bench.run(request).1?.code == .timedOut)
            }
            let requests = try await origin.statistics().requests
            #expect(requests.count == 3 && Set(requests.map(\.connection)).count == 2, "\(requests)")
        }

        /// A paused stream would fill libcurl's memory: its bytes are kept, and continued where a pause is possible.
        @Test func aStreamThatMustYieldIsContinuedByRange() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            var request = try bench.request(origin.url + "/x?hold=1")
            request.priority = .background
            let recorder = Recorder()
            let transfer = bench.client.start(request, receiver: recorder)
            let half = Self.size / 2
            #expect(await eventually { recorder.bytes.count >= half })
            bench.client.backgroundAllowance = .nothing
            #expect(await eventually { !transfer.isOnTheWire })
            // A player's whole transfer meanwhile.
            #expect(await bench.run(try bench.request(origin.url + "/player")).1 == nil)
            let kept = recorder.bytes.count
            try await origin.release()
            #expect(await bench.run(try bench.request(origin.url + "/player")).1 == nil)
            #expect(recorder.bytes.count == kept && recorder.ends.isEmpty)
            bench.client.backgroundAllowance = BackgroundAllowance(rate: 10_000_000)
            #expect(await recorder.error == nil)
            #expect(recorder.has(HTTP2Origin.body(Self.size)))
            let requests = try await origin.statistics().requests.filter { $0.target.hasPrefix("/x") }
            #expect(requests.map(\.range) == ["", "bytes=\(kept)-"])
            #expect(requests.map(\.protocolName) == ["h2", "http/1.1"])
        }

        /// Behind an uneven load balancer, one server of a name speaks HTTP/2 and the next one does not.
        @Test func serversOfOneNameMaySpeakDifferentProtocols() async throws {
            let origin = try await HTTP2Origin("--mixed")
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            for round in 0..<4 {
                // Ends the shared connection, if there is one: the next one goes to the other server.
                _ = try await fetch("fault=goaway&at=50000&round=\(round)", bench, origin)
                let recorders = (0..<8).map { _ in Recorder() }
                for (number, recorder) in recorders.enumerated() {
                    bench.client.start(try bench.request("\(origin.url)/\(round)/\(number)"), receiver: recorder)
                }
                for recorder in recorders {
                    #expect(await recorder.error == nil)
                    #expect(recorder.has(HTTP2Origin.body(Self.size)))
                }
            }
            let requests = try await origin.statistics().requests
            #expect(Set(requests.map(\.protocolName)) == ["h2", "http/1.1"])
            // libcurl may put several requests on a new connection of HTTP/1.1: these are sent once more.
            let others = requests.filter { !$0.target.hasPrefix("/x") }
            let counts = Dictionary(others.map { ($0.target, 1) }, uniquingKeysWith: +)
            #expect(counts.count == 32 && counts.values.allSatisfy { $0 <= 2 }, "\(counts)")
        }

        /// Each stream has the same share of the connection.
        @Test func playbackDisplacesStreamsOfDownloads() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            let recorders = (0..<20).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                var request = try bench.request("\(origin.url)/\(number)?hold=1")
                request.priority = .background
                bench.client.start(request, receiver: recorder)
            }
            let half = Self.size / 2
            #expect(await eventually { recorders.allSatisfy { $0.bytes.count >= half } })
            #expect(await bench.run(try bench.request(origin.url + "/player")).1 == nil)
            try await origin.release()
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            // Five went on, and fifteen were continued.
            let requests = try await origin.statistics().requests
            #expect(requests.count { $0.range == "" } == 22)
            #expect(requests.count { $0.range != "" } == 15)
        }

        /// A player opens the film of which a download fetches a segment, and then asks for that one.
        @Test func theStreamThatAPlayerJoinsGoesOn() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            let recorder = Recorder()
            var request = try bench.request("\(origin.url)/1?hold=1")
            request.priority = .background
            let transfer = bench.client.start(request, receiver: recorder)
            #expect(await eventually { recorder.bytes.count >= Self.size / 2 })
            bench.client.backgroundAllowance = .nothing
            #expect(await bench.run(try bench.request(origin.url + "/player")).1 == nil)
            transfer.raise(to: .playback)
            try await origin.release()
            #expect(await recorder.error == nil)
            #expect(recorder.has(HTTP2Origin.body(Self.size)))
            #expect(try await origin.statistics().requests.map(\.range) == ["", "", ""])
        }

        /// Half of each body would be sent twice.
        @Test func streamsThatCannotBeContinuedGoOn() async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin)
            _ = try await fetch("first", bench, origin)
            let recorders = (0..<8).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                var request = try bench.request("\(origin.url)/\(number)?hold=1&noranges=1")
                request.priority = .background
                bench.client.start(request, receiver: recorder)
            }
            let half = Self.size / 2
            #expect(await eventually { recorders.allSatisfy { $0.bytes.count >= half } })
            bench.client.backgroundAllowance = .nothing
            #expect(await bench.run(try bench.request(origin.url + "/player")).1 == nil)
            try await origin.release()
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            // And the first one and the player's.
            #expect(try await origin.statistics().requests.count == 10)
        }

        /// libcurl reports the end of a connection to one of its streams: here to one with a part of its body, or to one without
        /// a head.
        @Test(arguments: ["close&at=40000", "close"])
        func aLostConnectionIsLostForAllItsStreams(fault: String) async throws {
            let origin = try await HTTP2Origin()
            let bench = bench(origin) { $0.giveUpRule.retries = .once }
            _ = try await fetch("first", bench, origin)
            let recorders = (0..<12).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                let query = number == 5 ? "delay=50&fault=\(fault)" : "delay=5000"
                bench.client.start(try bench.request("\(origin.url)/\(number)?\(query)"), receiver: recorder)
            }
            let begun = ContinuousClock.now
            #expect(await recorders[5].error == nil)
            #expect(await eventually { bench.client.activity.requests >= 25 })
            #expect(ContinuousClock.now - begun < .seconds(4))
            for recorder in recorders {
                #expect(await recorder.error == nil)
            }
            #expect(recorders.allSatisfy { $0.has(HTTP2Origin.body(Self.size)) })
        }

        @Test func aSilentConnectionIsLostForAllItsStreams() async throws {
            let origin = try await HTTP2Origin()
            // Long enough for all three halves to arrive on a busy machine before the first body is given up.
            let bench = bench(origin) {
                $0.giveUpRule.stallSpan = .seconds(3)
                $0.giveUpRule.silenceSpan = .milliseconds(300)
            }
            _ = try await fetch("first", bench, origin)
            await turn(.milliseconds(3_100))
            let recorders = (0..<3).map { _ in Recorder() }
            for (number, recorder) in recorders.enumerated() {
                bench.client.start(try bench.request("\(origin.url)/\(number)?hold=1"), receiver: recorder)
            }
            let half = Self.size / 2
            #expect(await eventually { recorders.allSatisfy { $0.bytes.count >= half } })
            #expect(await eventually { bench.client.activity.requests >= 7 })
            try await origin.release()
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(HTTP2Origin.body(Self.size)))
            }
            let statistics = try await origin.statistics()
            let again = statistics.requests.filter { $0.range != "" }
            #expect(again.count >= 3 && again.allSatisfy { $0.connection != 0 })
            #expect(Set(again.prefix(3).map(\.connection)).count == 1)
        }
    }
}
