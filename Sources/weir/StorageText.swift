import Foundation
import Orders
import WeirAPI

/// Text of an asset's policy and expiry.
enum StorageText {
    /// A sentence: `plays until 2026-12-24 18:00, 48h after the first play; important; not in backups`.
    static func sentence(_ storage: API.Storage, zone: TimeZone = .current) -> String {
        let policy = storage.policy
        let importance = policy.priority == .important ? ["important"] : []
        let backup = policy.backup == .exclude ? ["not in backups"] : []
        let keys = KeysText.terms(policy.keys).map { ["keys " + $0] } ?? []
        return ([term(storage, zone)] + keys + importance + backup + purged(storage, zone)).joined(separator: "; ")
    }

    /// The line for `weir show`; empty if there is nothing to report.
    static func lines(_ storage: API.Storage?, zone: TimeZone = .current) -> [String] {
        guard let storage, storage.policy != StoragePolicy() || storage.purge != nil || storage.isExpired else {
            return []
        }
        return [sentence(storage, zone: zone)]
    }

    private static func term(_ storage: API.Storage, _ zone: TimeZone) -> String {
        let window = storage.policy.afterFirstPlay.map { TimeText.words(ofSpan: Int($0)) + " after the first play" }
        if storage.isExpired, let end = storage.expiration {
            return "expired since \(TimeText.words(end, zone: zone))"
        }
        let end = storage.expiration.map { "until " + TimeText.words($0, zone: zone) }
        // The expiration already includes a window that has begun.
        let words = [end, storage.firstPlayed == nil || end == nil ? window : nil].compactMap(\.self)
        return words.isEmpty ? "never expires" : "plays " + words.joined(separator: ", ")
    }

    private static func purged(_ storage: API.Storage, _ zone: TimeZone) -> [String] {
        guard let purge = storage.purge else { return [] }
        let reason = purge.cause == .expired ? "because it had expired" : "because the disk was full"
        return ["purged at \(TimeText.words(Int(purge.date), zone: zone)) \(reason), \(Format.bytes(Int(purge.bytes)))"]
    }
}
