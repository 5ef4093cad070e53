import Orders
import Store
import Testing

@testable import Retention

@Suite("S33: notices and renewals of keys") struct KeyNoticesTests {
    private static let key = KeyNotices.Key(asset: "a", number: 0)
    private static let hour: Int64 = 3600
    private static let day: Int64 = 86_400

    @Test("come a day and an hour before, once each, and again for another date")
    func notices() {
        var notices = KeyNotices()
        let end = 30 * Self.day
        let expected: [(before: Int64, KeyNotices.Notice?)] = [
            (Self.day + 1, nil), (Self.day, .day), (Self.day - 60, nil), (Self.hour + 1, nil), (Self.hour, .hour),
            (60, nil), (0, nil), (-60, nil),
        ]
        for (before, notice) in expected {
            let found = notices.notice(of: Self.key, expiring: end, at: end - before)
            #expect(found == notice, "\(before) s before")
        }
        let other = KeyNotices.Key(asset: "a", number: 1)
        let later = notices.notice(of: Self.key, expiring: end + Self.hour, at: end)
        let late = notices.notice(of: other, expiring: end, at: end - 60)
        let never = notices.notice(of: other, expiring: .max, at: .min)
        #expect(later == .hour && late == .hour && never == nil)
    }

    @Test(
        "renewals are due a day before, or after half of a shorter time",
        arguments: [
            (30 * day, 29 * day - 1, false), (30 * day, 29 * day, true), (day, day / 2 - 1, false),
            (day, day / 2, true),
            (hour, hour / 2, true), (hour, hour, false), (1, 0, false),
        ] as [(Int64, Int64, Bool)])
    func renewals(lifetime: Int64, age: Int64, isDue: Bool) {
        var life = KeyLife()
        life.renew(at: 1000, digest: nil)
        var notices = KeyNotices()
        let terms = KeyTerms(lifetime: lifetime)
        let first = notices.isRenewalDue(of: Self.key, life, by: terms, at: 1000 + age)
        #expect(first == isDue)
        guard first else { return }
        let second = notices.isRenewalDue(of: Self.key, life, by: terms, at: 1001 + age)
        #expect(!second, "not twice in a minute")
    }

    @Test(
        "a date of a key's own counts from when it was set; the end of a rental window and a revoked key are left alone"
    )
    func others() {
        var notices = KeyNotices()
        var life = KeyLife()
        life.renew(at: 0, digest: nil)
        life.setExpiration(100 * Self.day, at: 90 * Self.day)
        let early = notices.isRenewalDue(of: Self.key, life, by: KeyTerms(), at: 98 * Self.day)
        let due = notices.isRenewalDue(of: Self.key, life, by: KeyTerms(), at: 99 * Self.day)
        #expect(!early && due)
        var played = KeyLife()
        played.renew(at: 0, digest: nil)
        let window = KeyTerms(lifetime: 30 * Self.day, afterFirstPlay: 2 * Self.day)
        _ = played.recordPlay(by: window, at: 10)
        let other = KeyNotices.Key(asset: "b", number: 0)
        let windowed = notices.isRenewalDue(of: other, played, by: window, at: 2 * Self.day)
        life.revoke(at: 99 * Self.day)
        let revoked = notices.isRenewalDue(of: other, life, by: KeyTerms(), at: 99 * Self.day)
        #expect(!windowed && !revoked)
    }
}
