import EventLoop
import Glibc
import HTTPMessage
import Orders
import Store
import TestSupport
import Testing

@testable import Assets

@Suite @LoopActor struct KeyRingTests {
    let fixture: RenditionFixture
    var keys: KeyRing { fixture.asset.keys }
    private let now = Int64(time(nil))

    init() throws { fixture = try RenditionFixture() }

    private func add(_ count: Int) throws {
        for number in 0..<count {
            keys.add(try WebURL("http://o/\(number).key"))
        }
    }

    /// Each segment may have its own key: looking at all keys for each one that arrives grows with their square.
    @Test func onlyAChangedKeyIsLookedAtAgain() throws {
        try add(1000)
        for number in 0..<1000 {
            keys.change(number) { $0.renew(at: now, digest: nil) }
            #expect(keys.numbersToCheck(at: now).count == 1 || number == 0)
            #expect(keys.isUsable(number))
        }
        #expect(keys.numbersToCheck(at: now).isEmpty)
        keys.change(7) { $0.setExpiration(now + 1000, at: now) }
        #expect(keys.numbersToCheck(at: now) == [7])
        #expect(keys.unusable.isEmpty && !keys.areLasting)
        #expect(keys.numbersToCheck(at: now + 1000).count == 1000)
    }

    @Test func theUsableKeysFollowAnyChange() throws {
        try add(12)
        var random = SeededDice(state: 4)
        for step in 0..<2000 {
            let number = Int.random(in: 0..<12, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: keys.change(number) { $0.renew(at: now, digest: nil) }
            case 1: keys.change(number) { $0.setExpiration(now - 9, at: now - 99) }
            case 2: keys.change(number) { $0.setExpiration(now + 9000, at: now) }
            case 3: keys.change(number) { $0.setExpiration(nil, at: now) }
            case 4: keys.change(number) { $0.revoke(at: now) }
            case 5: keys.change(number) { $0 = KeyLife() }
            case 6: keys.adopt(KeyTerms(lifetime: step % 2 == 0 ? 5000 : nil, afterFirstPlay: nil))
            default: keys.reconsider()
            }
            guard step % 3 == 0 else { continue }
            let terms = keys.terms
            let unusable = keys.lives.filter { $0.value.state(by: terms, at: now) != .valid }
            #expect(keys.unusable == Set(unusable.keys), "step \(step)")
            let isLimited = keys.lives.values.contains { $0.expiration(by: terms) != nil }
            #expect(keys.areLasting == (unusable.isEmpty && !isLimited), "step \(step)")
        }
    }

    @Test func onlyNewKeysAreToBeSaved() throws {
        try add(3)
        #expect(!keys.isSaved(0) && keys.unsaved(of: "a-id").map(\.number) == [0, 1, 2])
        keys.markSaved(keys.records(of: "a-id", [0, 1]))
        #expect(keys.isSaved(0) && !keys.isSaved(2) && !keys.isSaved(9))
        #expect(keys.unsaved(of: "a-id").map(\.number) == [2])
        keys.restore(try WebURL("http://o/2.key"), number: 2)
        #expect(keys.unsaved(of: "a-id").isEmpty)
    }
}
