import Testing

@testable import Origin

struct AddressMemoryTests {
    private let start = ContinuousClock.now

    private func addresses(_ texts: String) -> [SocketAddress] {
        texts.split(separator: " ").compactMap { SocketAddress(literal: String($0), port: 443) }
    }

    /// Events are an address that failed (`-`) or replied (`+`), one second apart; the order is that of the last second.
    @Test(arguments: [
        ("", "1.1.1.1 1.1.1.2 1.1.1.3"),
        ("-1.1.1.1", "1.1.1.2 1.1.1.3 1.1.1.1"),
        ("-1.1.1.2", "1.1.1.1 1.1.1.3 1.1.1.2"),
        ("-1.1.1.1 +1.1.1.1", "1.1.1.1 1.1.1.2 1.1.1.3"),
        ("-1.1.1.2 -1.1.1.1", "1.1.1.3 1.1.1.2 1.1.1.1"),
        ("-1.1.1.1 -1.1.1.2 -1.1.1.3", "1.1.1.1 1.1.1.2 1.1.1.3"),
        ("-1.1.1.1 -1.1.1.2 -1.1.1.3 -1.1.1.1", "1.1.1.2 1.1.1.3 1.1.1.1"),
        ("-9.9.9.9", "1.1.1.1 1.1.1.2 1.1.1.3"),
    ])
    func addressesThatFailedComeLast(events: String, order: String) {
        var memory = AddressMemory()
        var now = start
        for event in events.split(separator: " ") {
            for address in addresses(String(event.dropFirst())) {
                if event.first == "-" {
                    memory.recordFailure(address, now: now)
                } else {
                    memory.recordSuccess(address)
                }
            }
            now += .seconds(1)
        }
        #expect(memory.ordered(addresses("1.1.1.1 1.1.1.2 1.1.1.3"), now: now) == addresses(order))
    }

    @Test func bothFamiliesKeepTheirOrder() {
        var memory = AddressMemory()
        let all = addresses("2001:db8::1 1.1.1.1 2001:db8::2")
        memory.recordFailure(all[0], now: start)
        #expect(memory.ordered(all, now: start) == [all[1], all[2], all[0]])
    }

    @Test func aFailureIsForgottenAfterFiveMinutes() {
        var memory = AddressMemory()
        let all = addresses("1.1.1.1 1.1.1.2")
        memory.recordFailure(all[0], now: start)
        #expect(memory.ordered(all, now: start + .seconds(299)) == [all[1], all[0]])
        #expect(memory.ordered(all, now: start + .seconds(300)) == all)
    }

    @Test func anotherPortIsAnotherAddress() {
        var memory = AddressMemory()
        let all = addresses("1.1.1.1 1.1.1.2")
        memory.recordFailure(all[0].with(port: 80), now: start)
        #expect(memory.ordered(all, now: start) == all)
    }

    @Test func anotherAddressMustNotHaveFailed() {
        var memory = AddressMemory()
        let all = addresses("1.1.1.1 1.1.1.2")
        #expect(memory.hasOther(than: all[0], in: all, now: start))
        #expect(!memory.hasOther(than: all[0], in: [all[0]], now: start))
        memory.recordFailure(all[1], now: start)
        #expect(!memory.hasOther(than: all[0], in: all, now: start))
        #expect(memory.hasOther(than: all[0], in: all, now: start + .seconds(300)))
    }
}

struct NameCacheTests {
    private let start = ContinuousClock.now
    private let found = NameCache.Answer.addresses([SocketAddress(literal: "1.1.1.1", port: 0)].compactMap(\.self))

    @Test(arguments: [(0, 0), (59, 0), (60, 1), (3599, 1), (3600, 2)])
    func addressesAreUsedForAnHourAndLookedUpAgainAfterAMinute(age: Int, expected: Int) {
        var cache = NameCache()
        _ = cache.record(found, for: "h", now: start)
        let findings: [NameCache.Finding] = [.known(found), .old(found), .unknown]
        #expect(cache.find("h", now: start + .seconds(age)) == findings[expected])
        #expect(cache.find("other", now: start) == .unknown)
    }

    @Test(arguments: [NameCache.Answer.none("no such name"), .failed("no answer")])
    func aFailureIsRememberedForASecond(answer: NameCache.Answer) {
        var cache = NameCache()
        #expect(cache.record(answer, for: "h", now: start) == answer)
        #expect(cache.find("h", now: start + .milliseconds(999)) == .known(answer))
        #expect(cache.find("h", now: start + .seconds(1)) == .unknown)
    }

    @Test func oldAddressesAreUsedWhileTheResolverDoesNotAnswer() {
        var cache = NameCache()
        _ = cache.record(found, for: "h", now: start)
        let later = start + .seconds(7200)
        #expect(cache.record(.failed("no answer"), for: "h", now: later) == found)
        #expect(cache.find("h", now: later) == .known(found))
        // A name that is gone is gone.
        #expect(cache.record(.none("no such name"), for: "h", now: later) == .none("no such name"))
    }

    @Test(arguments: [(4, false), (5, true), (50, true)])
    func aFailedConnectionCausesALookupUnlessOneWasMadeJustNow(age: Int, isDoubted: Bool) {
        var cache = NameCache()
        _ = cache.record(found, for: "h", now: start)
        let now = start + .seconds(age)
        cache.recordFailure(of: "h", now: now)
        cache.recordFailure(of: "other", now: now)
        #expect(cache.find("h", now: now) == (isDoubted ? .unknown : .known(found)))
        #expect(cache.formerAddresses(of: "h").map(NameCache.Answer.addresses) == found)
        #expect(cache.formerAddresses(of: "other") == nil)
        _ = cache.record(found, for: "h", now: now)
        #expect(cache.find("h", now: now) == .known(found))
    }

    @Test func theNumberOfNamesIsBounded() {
        var cache = NameCache()
        for number in 0..<5_000 {
            _ = cache.record(found, for: "h\(number)", now: start)
        }
        #expect((0..<5_000).count { cache.find("h\($0)", now: start) != .unknown } <= 1_000)
    }
}
