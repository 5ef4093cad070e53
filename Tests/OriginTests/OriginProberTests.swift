import EventLoop
import HTTPMessage
import Testing

@testable import Origin

extension OverSockets {
    /// Background probes, over real sockets.
    @Suite @LoopActor struct OriginProberTests {
        @Test func probesRestartWithANewRequestAfterALongTime() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .milliseconds(50)...Duration.milliseconds(50)
                $0.giveUpRule.absenceInterest = .milliseconds(60)
                $0.giveUpRule.retries.attempts = 0
            }
            let request = try bench.request(origin)
            for _ in 0..<2 {
                #expect(await bench.run(request).1?.code == .unreachable)
            }
            let place = request.url.origin
            #expect(
                await eventually {
                    bench.client.hosts.nextProbe(of: [place]) == nil
                        && !bench.client.hosts.isAbsent(place, now: .now)
                })
            origin.startListening()
            _ = bench.client.isPresumedAbsent(request.url)
            #expect(await eventually { !bench.client.hosts.isDown(place) })
            #expect(origin.requests.map { $0.fields["range"] } == ["bytes=0-0"])
        }

        @Test func onlyAGetIsProbed() async throws {
            let origin = try ScriptedOrigin(isListening: false) { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench {
                $0.giveUpRule.absencePauses = .milliseconds(20)...Duration.milliseconds(20)
                $0.giveUpRule.retries.attempts = 0
            }
            var request = try bench.request(origin)
            request.method = .post
            for _ in 0..<2 {
                #expect(await bench.run(request).1?.code == .unreachable)
            }
            #expect(await bench.run(request).1?.code == .unreachable)
            origin.startListening()
            #expect(await eventually { !bench.client.hosts.isAbsent(request.url.origin, now: .now) })
            #expect(await bench.run(request).1 == nil)
            #expect(origin.requests.map(\.method) == ["POST"])
        }
    }
}
