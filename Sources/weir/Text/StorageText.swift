import Foundation
import Orders
import WeirAPI

/// Text of an asset's policy and expiry.
enum StorageText {
    /// A sentence: `plays until 2026-12-24 18:00, 48h after the first play; important; not in backups`.
    static func sentence(_ storage: API.Storage, zone: TimeZone = .current) -> String {
        let policy = storage.policy
        var words = [term(storage, zone)]
        if let keys = KeysText.terms(policy.keys) {
            words.append("keys \(keys)")
        }
        if policy.priority == .important {
            words.append("important")
        }
        if policy.backup == .exclude {
            words.append("not in backups")
        }
        words += purged(storage, zone)
        return words.joined(separator: "; ")
    }

    /// The line for `weir show`; empty if there is nothing to report.
    static func lines(_ storage: API.Storage?, zone: TimeZone = .current) -> [String] {
        guard let storage, storage.policy != StoragePolicy() || storage.purge != nil || storage.isExpired else {
            return []
        }
        return [sentence(storage, zone: zone)]
    }

    private static func term(_ storage: API.Storage, _ zone: TimeZone) -> String {
        if storage.isExpired, let end = storage.expiration {
            return "expired since \(TimeText.words(end, zone: zone))"
        }

        var words: [String] = []
        if let end = storage.expiration {
            words.append("until " + TimeText.words(end, zone: zone))
        }
        // The expiration already includes a window that has begun.
        let isIncluded = storage.expiration != nil && storage.firstPlayed != nil
        if let window = storage.policy.afterFirstPlay, !isIncluded {
            words.append(TimeText.words(ofSpan: Int(window)) + " after the first play")
        }
        guard !words.isEmpty else { return "never expires" }
        return "plays " + words.joined(separator: ", ")
    }

    private static func purged(_ storage: API.Storage, _ zone: TimeZone) -> [String] {
        guard let purge = storage.purge else { return [] }
        let reason = purge.cause == .expired ? "because it had expired" : "because the disk was full"
        return ["purged at \(TimeText.words(Int(purge.date), zone: zone)) \(reason), \(Format.bytes(Int(purge.bytes)))"]
    }
}
