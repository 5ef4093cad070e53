import HTTPMessage
import Testing

@testable import Origin

/// Where requests were redirected to, at seconds from the beginning.
@Suite struct RedirectMemoryTests {
    private let start = ContinuousClock.now

    private func url(_ text: String) throws -> WebURL { try WebURL("http://\(text)") }

    @Test func aRedirectCountsForItsFolder() throws {
        var memory = RedirectMemory()
        let target = try url("b/").origin
        #expect(try memory.target(of: url("a/ads/1.ts"), now: start) == nil)
        memory.recordRedirect(of: try url("a/ads/1.ts?token=1"), to: target, now: start)
        #expect(try memory.target(of: url("a/ads/2.ts"), now: start) == target)
        for other in ["a/1.ts", "a/film/1.ts", "a:81/ads/1.ts", "c/ads/1.ts"] {
            #expect(try memory.target(of: url(other), now: start) == nil)
        }
        memory.recordDirectReply(from: try url("a/ads/3.ts"), now: start)
        #expect(try memory.target(of: url("a/ads/1.ts"), now: start) == nil)
    }

    @Test(arguments: ["film://a", "http://a", "http://a?x=/y", "http://a/"])
    func anyURLHasAPlace(text: String) throws {
        var memory = RedirectMemory()
        let source = try WebURL(text)
        let target = try url("b/").origin
        memory.recordRedirect(of: source, to: target, now: start)
        #expect(memory.target(of: source, now: start) == target)
    }

    @Test func aPlaceIsLookedAtAgainSoonerIfItsHostIsDead() throws {
        var memory = RedirectMemory()
        let place = try url("a/ads/1.ts")
        let target = try url("b/").origin
        var looks: [Bool] = []
        for second in [0, 1, 59, 60] {
            looks.append(memory.beginLook(at: place, isDead: { _ in true }, now: start + .seconds(second)))
        }
        #expect(looks == [true, false, false, true])
        memory.recordRedirect(of: place, to: target, now: start + .seconds(61))
        let isDead = [90, 91].map { memory.beginLook(at: place, isDead: { $0 == target }, now: start + .seconds($0)) }
        #expect(isDead == [false, true])
    }

    /// A balancer may redirect the next request to a host that answers.
    @Test func aRedirectIsForgottenAfterAWhile() throws {
        var memory = RedirectMemory()
        let target = try url("b/").origin
        memory.recordRedirect(of: try url("a/1.ts"), to: target, now: start)
        #expect(try memory.target(of: url("a/2.ts"), now: start + .seconds(29)) == target)
        #expect(try memory.target(of: url("a/2.ts"), now: start + .seconds(30)) == nil)
        #expect(memory.targets(now: start + .seconds(30)).isEmpty)
    }

    @Test func memoryIsBounded() throws {
        var memory = RedirectMemory()
        let target = try url("b/").origin
        for number in 0..<5_000 {
            memory.recordRedirect(of: try url("a/\(number)/1.ts"), to: target, now: start)
        }
        #expect(memory.targets(now: start).count <= 1_000)
        #expect(try memory.target(of: url("a/4999/1.ts"), now: start) == target)
    }
}
