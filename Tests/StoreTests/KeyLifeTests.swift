import Foundation
import Orders
import Testing

@testable import Store

/// Lives of keys, as a table: each line is a list of events and the expected state after them.
@Suite struct KeyLifeTests {
    /// An event at a second.
    enum Step: Sendable {
        case comes(Int64), played(Int64), dated(Int64?, at: Int64), taken(Int64), looked(Int64), terms(
            Int64?, Int64?, at: Int64)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var terms: KeyTerms
        var steps: [Step]
        var now: Int64
        var state: KeyState
        var remaining: KeyLife.Remaining
        var testDescription: String { name }

        init(
            _ name: String, _ lifetime: Int64?, _ window: Int64?, _ steps: [Step], at now: Int64,
            _ state: KeyState,
            left storage: Int64? = nil, _ playback: Int64? = nil
        ) {
            self.name = name
            self.steps = steps
            self.now = now
            self.state = state
            terms = KeyTerms(lifetime: lifetime, afterFirstPlay: window)
            remaining = KeyLife.Remaining(storage: storage, playback: playback)
        }
    }

    @Test(arguments: [
        Case("no terms", nil, nil, [.comes(100)], at: .max, .valid),
        Case("nothing is known of it", 30, 5, [], at: .max, .valid, left: nil, 5),
        // A lifetime begins with the delivery.
        Case("a lifetime, a second before", 30, nil, [.comes(100)], at: 129, .valid, left: 1),
        Case("a lifetime, to the second", 30, nil, [.comes(100)], at: 130, .expired, left: 0),
        Case("a lifetime that no number holds", .max, nil, [.comes(100)], at: .max - 1, .valid, left: 1),
        Case("a lifetime, renewed", 30, nil, [.comes(100), .comes(120)], at: 149, .valid, left: 1),
        Case(
            "a lifetime, renewed when it was over", 30, nil, [.comes(100), .looked(140), .comes(150)], at: 160, .valid,
            left: 20),
        // A window begins with the first playback.
        Case("a window that has not begun", nil, 48, [.comes(100)], at: .max, .valid, left: nil, 48),
        Case("a window", nil, 48, [.comes(100), .played(200)], at: 247, .valid, left: nil, 1),
        Case("a window that is over", nil, 48, [.comes(100), .played(200)], at: 248, .expired, left: 0, 0),
        Case(
            "a window, played again", nil, 48, [.comes(100), .played(200), .played(230)], at: 248, .expired, left: 0, 0),
        Case("a window, renewed", nil, 48, [.comes(100), .played(200), .comes(250)], at: 400, .valid, left: nil, 48),
        Case("no window: plays are not noted", 30, nil, [.comes(100), .played(110)], at: 120, .valid, left: 10),
        // Both: the earlier one.
        Case("both, the lifetime first", 30, 48, [.comes(100), .played(101)], at: 130, .expired, left: 0, 0),
        Case("both, the window first", 300, 48, [.comes(100), .played(101)], at: 149, .expired, left: 0, 0),
        Case("both, neither yet", 300, 48, [.comes(100), .played(101)], at: 140, .valid, left: 260, 9),
        // A date of its own.
        Case("a date", nil, nil, [.comes(100), .dated(150, at: 110)], at: 149, .valid, left: 1),
        Case("a date that has come", nil, nil, [.comes(100), .dated(150, at: 110)], at: 150, .expired, left: 0),
        Case(
            "a date before the lifetime's end", 300, nil, [.comes(100), .dated(150, at: 110)], at: 150, .expired,
            left: 0),
        Case("a date behind it", 30, nil, [.comes(100), .dated(150, at: 110)], at: 130, .expired, left: 0),
        Case(
            "a date, renewed: the same span", nil, nil, [.comes(100), .dated(150, at: 110), .comes(200)], at: 239,
            .valid, left: 1),
        Case(
            "a date, renewed, to its end", nil, nil, [.comes(100), .dated(150, at: 110), .comes(200)], at: 240,
            .expired, left: 0),
        Case(
            "a date in the past, renewed", nil, nil, [.comes(100), .dated(50, at: 110), .comes(200)], at: 200, .expired,
            left: 0),
        Case(
            "a date taken away", nil, nil, [.comes(100), .dated(150, at: 110), .looked(160), .dated(nil, at: 170)],
            at: 999, .valid),
        Case(
            "a later date revives", nil, nil, [.comes(100), .dated(150, at: 110), .looked(160), .dated(200, at: 170)],
            at: 180, .valid, left: 20),
        // A detected expiry is final, even if the clock is set back.
        Case("a clock set back, seen", 30, nil, [.comes(100), .looked(140)], at: 110, .expired, left: 0),
        Case("a clock set back, not seen", 30, nil, [.comes(100), .looked(120)], at: 110, .valid, left: 20),
        Case("a clock set back behind its beginning", 30, nil, [.comes(100)], at: -5, .valid, left: 135),
        Case(
            "a clock set back, a window seen", nil, 48, [.comes(100), .played(200), .looked(248)], at: 210, .expired,
            left: 0, 0),
        // Revoked.
        Case("taken back", nil, nil, [.comes(100), .taken(110)], at: 111, .revoked, left: 0),
        Case(
            "taken back and dated", nil, nil, [.comes(100), .taken(110), .dated(500, at: 120)], at: 130, .revoked,
            left: 0),
        Case(
            "taken back, then over: it stays taken back", 30, nil, [.comes(100), .taken(110), .looked(140)], at: 150,
            .revoked, left: 0),
        Case("taken back, and renewed", 30, 48, [.comes(100), .taken(110), .comes(200)], at: 229, .valid, left: 1, 48),
        Case(
            "taken back: plays open no window", nil, 48, [.comes(100), .taken(110), .played(120), .comes(200)], at: 300,
            .valid, left: nil, 48),
        Case("taken back before it came", nil, nil, [.taken(110)], at: 120, .revoked, left: 0),
        // Other terms.
        Case(
            "a longer lifetime revives", 30, nil, [.comes(100), .looked(140), .terms(60, nil, at: 141)], at: 150,
            .valid, left: 10),
        Case(
            "a shorter lifetime ends it", 30, nil, [.comes(100), .terms(10, nil, at: 105)], at: 110, .expired, left: 0),
        Case(
            "a window begins with the play after it", nil, nil, [.comes(100), .played(110), .terms(nil, 48, at: 200)],
            at: 999, .valid, left: nil, 48),
        Case(
            "a longer window goes on", nil, 48, [.comes(100), .played(110), .terms(nil, 90, at: 120)], at: 199, .valid,
            left: nil, 1),
        Case(
            "no terms any more", 30, 48, [.comes(100), .played(110), .looked(170), .terms(nil, nil, at: 180)], at: 999,
            .valid),
    ])
    func followsTheTable(_ given: Case) {
        var life = KeyLife()
        var terms = given.terms
        for step in given.steps {
            switch step {
            case .comes(let now): life.renew(at: now, digest: nil)
            case .played(let now): _ = life.recordPlay(by: terms, at: now)
            case .dated(let date, let now): life.setExpiration(date, at: now)
            case .taken(let now): life.revoke(at: now)
            case .looked(let now): _ = life.expire(by: terms, at: now)
            case .terms(let lifetime, let window, let now):
                let former = terms
                terms = KeyTerms(lifetime: lifetime, afterFirstPlay: window)
                life.adopt(terms, after: former, isPlaying: false, at: now)
            }
        }
        #expect(life.state(by: terms, at: given.now) == given.state)
        #expect(life.remaining(by: terms, at: given.now) == given.remaining)
        #expect(KeyRecord(asset: "a", number: 0, url: "u", life).life == life)
    }

    @Test func recordsTheExpiryOnce() {
        var life = KeyLife()
        let terms = KeyTerms(lifetime: 30)
        life.renew(at: 100, digest: nil)
        #expect([120, 130, 131].map { life.expire(by: terms, at: $0) } == [false, true, false])
        #expect(life.expiredAt == 130)
    }

    /// Playback during the change of terms counts as the first playback.
    @Test func beginsAWindowAtOnceDuringPlayback() {
        var life = KeyLife()
        life.renew(at: 100, digest: nil)
        life.adopt(KeyTerms(afterFirstPlay: 48), after: KeyTerms(), isPlaying: true, at: 200)
        #expect(life.expiration(by: KeyTerms(afterFirstPlay: 48)) == 248)
    }

    @Test func keepsTheDigestOfADeletedKey() throws {
        var life = KeyLife()
        let digest = [UInt8](repeating: 7, count: 16).withUnsafeBytes { Digest(of: $0) }
        life.renew(at: 100, digest: digest)
        life.revoke(at: 110)
        #expect(KeyRecord(asset: "a", number: 0, url: "u", life).life.digest == digest)
        life.renew(at: 120, digest: nil)
        #expect(life.digest == digest)
    }

    @Test func encodesTerms() throws {
        let policy = StoragePolicy(keys: KeyTerms(lifetime: 30, afterFirstPlay: 48))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(policy), as: UTF8.self)
                == #"{"backup":"include","keysAfterFirstPlay":48,"keysExpire":30,"priority":"default"}"#
        )
        #expect(try JSONDecoder().decode(StoragePolicy.self, from: encoder.encode(policy)) == policy)
        var life = StorageLife()
        life.policy = policy
        #expect(StorageRecord(asset: "a", life).life == life)
    }
}
