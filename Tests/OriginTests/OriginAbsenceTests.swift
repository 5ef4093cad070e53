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
            for _ in 0..<2 {
                #expect(await bench.run(request).1?.code == .unreachable)
            }
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
            for _ in 0..<2 {
                #expect(await bench.run(request).1?.code == .unreachable)
            }
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
            for _ in 0..<2 {
                #expect(await bench.run(request).1?.code == .unreachable)
            }
            origin.startListening()
            // When the pause is over it is presumed absent no more, a moment before the probe arrives.
            #expect(await eventually { !origin.requests.isEmpty && !bench.client.isPresumedAbsent(request.url) })
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

        /// Two origins: one answers, the other refuses connections.
        private func deadAndAlive(
            _ change: (inout OriginClient.Configuration) -> Void = { _ in }
        ) async throws -> (bench: Bench, dead: ScriptedOrigin, alive: ScriptedOrigin) {
            let dead = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let alive = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            return (Bench(nil, change), dead, alive)
        }

        @Test func hostThatRefusesIsDeadAtOnceIfAnotherHasAnswered() async throws {
            let (bench, dead, alive) = try await deadAndAlive()
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            let request = try bench.request(dead)
            let requests = bench.client.activity.requests
            // One attempt, where an absent origin gets six.
            #expect(await bench.run(request).1?.code == .hostDead)
            #expect(bench.client.activity.requests == requests + 1)
            #expect(bench.client.isDead(request.url) && bench.client.isPresumedAbsent(request.url))
            // And none while it is known to be dead.
            let error = await bench.run(request).1
            #expect(error?.code == .hostDead)
            #expect(error?.description.hasSuffix("although other hosts answer: Connection refused") ?? false)
            #expect(bench.client.activity.requests == requests + 1)
        }

        @Test func waitingTransferEndsOnceAnotherHostAnswers() async throws {
            let (bench, dead, alive) = try await deadAndAlive {
                $0.giveUpRule.retriesWhilePlayerWaits = .whilePlayerWaits
                $0.giveUpRule.retriesWhilePlayerWaits.firstPause = .milliseconds(10)
                $0.giveUpRule.retriesWhilePlayerWaits.longestPause = .milliseconds(10)
            }
            var request = try bench.request(dead)
            request.ignoresAbsence = true
            let asked = request
            let waiting = Task { @LoopActor in await bench.run(asked).1?.code }
            // More attempts than a transfer makes that does not wait.
            #expect(await eventually { bench.client.activity.requests > 8 })
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            #expect(await waiting.value == .hostDead)
        }

        @Test func deadHostIsLookedAtAgainAndThenAlive() async throws {
            let (bench, dead, alive) = try await deadAndAlive { $0.giveUpRule.deadPause = .milliseconds(50) }
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            let request = try bench.request(dead)
            #expect(await bench.run(request).1?.code == .hostDead)
            dead.startListening()
            #expect(await eventually { !bench.client.isDead(request.url) })
            #expect(await bench.run(request).1 == nil)
        }

        @Test func callerOrdersALookBeforeThePauseEnds() async throws {
            let (bench, dead, alive) = try await deadAndAlive()
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            let request = try bench.request(dead)
            #expect(await bench.run(request).1?.code == .hostDead)
            dead.startListening()
            #expect(await bench.run(request).1?.code == .hostDead)
            bench.client.lookAtDeadHostsAgain()
            #expect(await bench.run(request).1 == nil)
        }

        @Test func looksFindDeadHostsAndSpareThoseThatAnswered() async throws {
            let (bench, dead, alive) = try await deadAndAlive { $0.giveUpRule.lookLimit = .milliseconds(100) }
            let silent = try ScriptedOrigin { _, _ in [.hold] }
            let other = try ScriptedOrigin { _, _ in [.reply(206, ["Content-Range": "bytes 0-0/9"], "x")] }
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            let nameless = try bench.request("http://no-such-host.invalid/x")
            let requests = [
                try bench.request(dead), try bench.request(alive), try bench.request(silent), try bench.request(other),
                nameless,
            ]
            for _ in 0..<2 {
                await bench.client.lookAtHosts(of: requests)
            }
            #expect(requests.map { bench.client.isDead($0.url) } == [true, false, false, false, true])
            // Each is looked at once; the one that had answered is not.
            #expect([alive, silent, other].map { $0.requests.count } == [1, 1, 1])
            #expect(other.requests.first?.fields["range"] == "bytes=0-0")
        }

        @Test func redirectToADeadHostCountsAsThatHosts() async throws {
            let allowed = try AllowedHost("127.0.0.1")
            let (bench, dead, _) = try await deadAndAlive {
                $0.giveUpRule.deadPause = .milliseconds(50)
                $0.allowedHosts = [allowed]
            }
            let target = try bench.request(dead).url.origin.description
            let front = try ScriptedOrigin { request, _ in
                guard request.target.hasPrefix("/ads/") else { return [.reply(200, [:], "film")] }
                return [.reply(302, ["Location": "\(target)/x"], "")]
            }
            func request(_ path: String) throws -> OriginRequest {
                try bench.request(front, path)
            }
            let film = try request("/film/1.ts")
            let advertisement = try request("/ads/1.ts")
            #expect(await bench.run(film).1 == nil)
            #expect(!bench.client.isDead(advertisement.url))
            // The host has answered, but this place was not looked at.
            await bench.client.lookAtHosts(of: [film, advertisement], insertions: [film, advertisement])
            #expect(bench.client.isDead(advertisement.url) && bench.client.hasDeadRedirects)
            #expect(try bench.client.isDead(request("/ads/2.ts").url))
            #expect(!bench.client.isDead(film.url))
            #expect(bench.client.isPresumedAbsent(advertisement.url))
            #expect(await bench.run(try request("/ads/2.ts")).1?.code == .hostDead)

            dead.startListening()
            #expect(await bench.run(advertisement).1 == nil)
            #expect(!bench.client.isDead(advertisement.url))
        }

        @Test func changeOfTheNetworkEndsWhatWasKnown() async throws {
            let (bench, dead, alive) = try await deadAndAlive {
                $0.giveUpRule.retries.attempts = 1
                $0.giveUpRule.retries.firstPause = .milliseconds(10)
            }
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            bench.client.recordNetworkChange()
            let request = try bench.request(dead)
            #expect(await bench.run(request).1?.code == .unreachable)
            #expect(!bench.client.isDead(request.url))
            #expect(await bench.run(try bench.request(alive)).1 == nil)
            #expect(bench.client.isDead(request.url))
        }

        @Test func unknownHostNameIsUnreachable() async throws {
            let bench = Bench { $0.giveUpRule.retries = .never }
            let error = await bench.run(try bench.request("http://no-such-host.invalid/x")).1
            #expect(error?.code == .unreachable)
            #expect(error?.underlying?.hasPrefix("its name could not be resolved") ?? false)
        }
    }
}
