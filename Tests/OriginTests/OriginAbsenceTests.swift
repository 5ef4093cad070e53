import EventLoop
import Glibc
import HTTPMessage
import Origin
import TestSupport
import Testing

extension OverSockets {
    /// Origins that are absent, suspect and back, over real sockets.
    @Suite @LoopActor struct OriginAbsenceTests {
        @Test func insistingRequestReachesAnAbsentOriginAndMakesItPresent() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .seconds(600)...Duration.seconds(600)
                $0.giveUpRule.retries.attempts = 0
            }
            let request = try bench.request(origin)
            for _ in 0..<2 { #expect(await bench.run(request).1?.code == .unreachable) }
            origin.startListening()
            #expect(await bench.run(request).1?.code == .unreachable)
            var scheduled = request
            scheduled.ignoresAbsence = true
            #expect(await bench.run(scheduled).1 == nil)
            #expect(!bench.client.isPresumedAbsent(request.url))
            #expect(await bench.run(request).1 == nil)
        }

        @Test func waitingTransferReportsTheAbsenceAndFindsTheOriginAgain() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .seconds(600)...Duration.seconds(600)
                (
                    $0.giveUpRule.absenceThreshold, $0.giveUpRule.absenceInterest, $0.giveUpRule.retries.attempts,
                    $0.giveUpRule.retries.firstPause, $0.giveUpRule.retriesWhilePlayerWaits.firstPause,
                    $0.giveUpRule.retriesWhilePlayerWaits.longestPause
                ) = (1, .zero, 1, .milliseconds(10), .milliseconds(10), .milliseconds(10))
            }
            var request = try bench.request(origin)
            request.ignoresAbsence = true
            let asked = request
            let waiting = Task { @LoopActor in await bench.run(asked).1 }
            try await waitUntil("the absence") { bench.client.isPresumedAbsent(asked.url) }
            origin.startListening()
            #expect(await waiting.value == nil)
            #expect(!bench.client.isPresumedAbsent(asked.url))
        }

        @Test func deadOriginIsUnreachableThenAbsentThenBack() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .milliseconds(400)...Duration.milliseconds(400)
                $0.giveUpRule.retries.attempts = 1
            }
            let request = try bench.request(origin, "/x?token")
            for _ in 0..<2 { #expect(await bench.run(request).1?.code == .unreachable) }
            #expect(bench.client.isPresumedAbsent(request.url))
            origin.startListening()
            let error = await bench.run(request).1
            #expect(error?.code == .unreachable)
            #expect(
                error?.description
                    == "http://127.0.0.1:\(origin.port)/x?… could not be reached: its last requests failed")
            #expect(origin.accepted == 0)
            #expect(await eventually { !bench.client.isPresumedAbsent(request.url) })
            #expect(await bench.run(request).1 == nil)
            #expect(!bench.client.isPresumedAbsent(request.url))
        }

        @Test func backgroundProbeFindsAnOriginThatIsBack() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .milliseconds(100)...Duration.milliseconds(100)
                $0.giveUpRule.retries.attempts = 0
            }
            let request = try bench.request(origin, "/x?token")
            for _ in 0..<2 { #expect(await bench.run(request).1?.code == .unreachable) }
            origin.startListening()
            #expect(await eventually { !bench.client.isPresumedAbsent(request.url) })
            #expect(origin.requests.map(\.target) == ["/x?token"])
            #expect(origin.requests.first?.fields["range"] == "bytes=0-0")
            #expect(await bench.run(request).1 == nil)
            #expect(origin.requests.count == 2)
        }

        @Test func silentOriginIsSuspectUntilAProbeIsAnswered() async throws {
            let origin = try ScriptedOrigin { _, number in number < 2 ? [.hold] : [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .milliseconds(50)...Duration.milliseconds(50)
                $0.giveUpRule.firstByteLimit = .milliseconds(100)
                $0.giveUpRule.retries.attempts = 0
            }
            let request = try bench.request(origin)
            #expect(!bench.client.isPresumedAbsent(request.url))
            bench.client.presumeAbsent(after: request)
            // Two probes time out; the origin does not count as present meanwhile.
            #expect(await eventually { origin.requests.count == 2 || !bench.client.isPresumedAbsent(request.url) })
            #expect(bench.client.isPresumedAbsent(request.url))
            #expect(await eventually { !bench.client.isPresumedAbsent(request.url) })
            #expect(origin.requests.count == 3)
            #expect(await bench.run(request).1 == nil)
        }

        @Test func suspectOriginStillReceivesRequestsWithoutAnAlternative() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench { $0.giveUpRule.absencePauses = .seconds(600)...Duration.seconds(600) }
            let request = try bench.request(origin)
            bench.client.presumeAbsent(after: request)
            #expect(bench.client.isPresumedAbsent(request.url))
            #expect(await bench.run(request).1 == nil)
            #expect(!bench.client.isPresumedAbsent(request.url))
        }

        @Test func switchingOfflineAndBackResetsPresence() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench { $0.giveUpRule.absencePauses = .seconds(600)...Duration.seconds(600) }
            let request = try bench.request(origin)
            bench.client.presumeAbsent(after: request)
            bench.client.isOffline = true
            #expect(await bench.run(request).1?.code == .offline)
            bench.client.isOffline = false
            #expect(!bench.client.isPresumedAbsent(request.url))
            #expect(origin.accepted == 0)
        }

        @Test func unknownHostNameIsUnreachable() async throws {
            let bench = Bench { $0.giveUpRule.retries = .never }
            let error = await bench.run(try bench.request("http://no-such-host.invalid/x")).1
            #expect(error?.code == .unreachable)
            #expect(error?.underlying?.hasPrefix("its name could not be resolved") ?? false)
        }
    }
}
