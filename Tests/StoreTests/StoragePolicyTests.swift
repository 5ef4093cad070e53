import Foundation
import Orders
import Testing

@testable import Store

/// Expiry by date and by window, as a table.
@Suite struct StoragePolicyTests {
    /// A policy, the time of the first playback, the current time, and the expected result.
    struct Case: Sendable, CustomTestStringConvertible {
        var expires: Int64?
        var window: Int64?
        var first: Int64?
        var now: Int64
        var isExpired: Bool
        var testDescription: String {
            "expires \(expires.map(String.init) ?? "-"), window \(window.map(String.init) ?? "-"), "
                + "played \(first.map(String.init) ?? "-"), at \(now)"
        }

        init(_ expires: Int64?, _ window: Int64?, _ first: Int64?, at now: Int64, _ isExpired: Bool) {
            self.expires = expires
            self.window = window
            self.first = first
            self.now = now
            self.isExpired = isExpired
        }
    }

    @Test(arguments: [
        // Neither.
        Case(nil, nil, nil, at: 0, false), Case(nil, nil, 5, at: .max, false),
        // Only a date: to the second.
        Case(100, nil, nil, at: 99, false), Case(100, nil, nil, at: 100, true), Case(100, nil, nil, at: 101, true),
        Case(100, nil, 50, at: 99, false), Case(100, nil, 150, at: 160, true), Case(0, nil, nil, at: 0, true),
        // Only a window: it begins with the first playback.
        Case(nil, 48, nil, at: .max, false), Case(nil, 48, 100, at: 100, false), Case(nil, 48, 100, at: 147, false),
        Case(nil, 48, 100, at: 148, true), Case(nil, 48, 0, at: 48, true), Case(nil, 1, 100, at: 101, true),
        // Both: the earlier one.
        Case(120, 48, 100, at: 119, false), Case(120, 48, 100, at: 120, true), Case(200, 48, 100, at: 147, false),
        Case(200, 48, 100, at: 148, true), Case(148, 48, 100, at: 148, true), Case(200, 48, nil, at: 199, false),
        Case(200, 48, nil, at: 200, true),
        // A clock set back, and sums that overflow.
        Case(100, nil, nil, at: -5, false), Case(nil, 48, 100, at: 3, false), Case(nil, .max, 100, at: .max - 1, false),
    ])
    func expiresAtTheEarlierEnd(_ given: Case) {
        var life = StorageLife()
        life.policy = StoragePolicy(expires: given.expires, afterFirstPlay: given.window)
        life.firstPlayed = given.first
        #expect(life.isExpired(at: given.now) == given.isExpired)
    }

    @Test func recordsTheFirstAndTheLastPlay() {
        var life = StorageLife()
        life.policy.afterFirstPlay = 48
        for now: Int64 in [100, 120, 110] {
            life.recordPlay(at: now)
        }
        #expect(life.firstPlayed == 100 && life.lastPlayed == 120 && life.expiration == 148)
    }

    @Test func beginsAWindowWithTheNextPlay() {
        var life = StorageLife()
        life.recordPlay(at: 100)
        life.adopt(StoragePolicy(afterFirstPlay: 48), isPlaying: false, at: 1000)
        #expect(life.firstPlayed == nil && !life.isExpired(at: 2000) && life.lastPlayed == 100)
        life.recordPlay(at: 2000)
        // A longer window keeps the beginning of the shorter one.
        life.adopt(StoragePolicy(afterFirstPlay: 72), isPlaying: false, at: 2010)
        #expect(life.expiration == 2072)
        life.adopt(StoragePolicy(), isPlaying: false, at: 2020)
        life.adopt(StoragePolicy(afterFirstPlay: 10), isPlaying: true, at: 3000)
        #expect(life.expiration == 3010)
    }

    @Test(arguments: [
        (StoragePolicy(), #"{"backup":"include","priority":"default"}"#),
        (StoragePolicy(expires: 5), #"{"backup":"include","expires":5,"priority":"default"}"#),
        (
            StoragePolicy(expires: 5, afterFirstPlay: 6, priority: .important, backup: .exclude),
            #"{"afterFirstPlay":6,"backup":"exclude","expires":5,"priority":"important"}"#
        ),
    ])
    func encodesLimitsThatAreSet(policy: StoragePolicy, json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(policy), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(StoragePolicy.self, from: Data(json.utf8)) == policy)
    }

    @Test func decodesAbsentKeysAsTheDefault() throws {
        #expect(try JSONDecoder().decode(StoragePolicy.self, from: Data(#"{"more":1}"#.utf8)) == StoragePolicy())
    }
}
