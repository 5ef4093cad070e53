import API
import Foundation

/// Formats the state of keys, without key material.
enum KeysText {
    /// A count: `3 keys`.
    static func count(_ count: Int) -> String { count == 1 ? "1 key" : "\(count) keys" }

    /// A summary, then one line per key.
    static func lines(_ list: API.KeyList, zone: TimeZone = .current) -> [String] {
        guard !list.keys.isEmpty else { return ["\(list.asset) has no keys, as far as is known"] }
        let bad = list.keys.count { $0.state == .expired || $0.state == .invalidated }
        let terms = terms(list.keysExpire, list.keysAfterFirstPlay).map { "; used " + $0 } ?? ""
        let next = bad > 0 ? ["renew with: weir keys \(list.asset) --renew"] : []
        let rows = list.keys.map { key in
            [
                "\(key.number)", state(key), key.came.map { TimeText.words($0, zone: zone) } ?? "–",
                key.expiration.map { TimeText.words($0, zone: zone) } ?? "never", uses(key),
            ]
        }
        return ["\(list.asset)  \(count(list.keys.count))\(terms)"]
            + TextTable(rows: [["KEY", "STATE", "CAME", "EXPIRES", "FOR"]] + rows).lines + next
    }

    /// The lifetimes: `30d from when they came, 48h from the first time on`; nil for no limit.
    static func terms(_ lifetime: Int?, _ window: Int?) -> String? {
        let words = [
            lifetime.map { TimeText.words(ofSpan: $0) + " from when they came" },
            window.map { TimeText.words(ofSpan: $0) + " from the first time on" },
        ].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The suffix in a list's column of stored parts: `, key expired`.
    static func badge(_ keys: API.KeySummary?) -> String {
        guard let keys else { return "" }
        if keys.expired > 0 { return ", key expired" }
        return keys.invalidated > 0 ? ", key invalidated" : ""
    }

    /// The line for `weir show`; empty if all keys are usable.
    static func lines(_ asset: API.Asset) -> [String] {
        guard let keys = asset.keys, keys.expired + keys.invalidated > 0 else { return [] }
        let what = keys.expired > 0 ? "expired" : "invalidated"
        let bad = keys.expired + keys.invalidated
        let number = keys.count > 1 ? " (\(bad) of \(keys.count))" : ""
        return ["key \(what)\(number); renew with: weir keys \(asset.name) --renew"]
    }

    private static func state(_ key: API.Key) -> String {
        switch key.state {
        case .valid: key.playbackRemaining != nil && key.firstPlayed != nil ? "valid, played" : "valid"
        case .expired: "expired"
        case .invalidated: "invalidated"
        case .missing: "missing"
        }
    }

    private static func uses(_ key: API.Key) -> String {
        guard !key.uses.isEmpty else { return "–" }
        return key.uses.map { use in
            "\(use.rendition) \(Format.clock(use.start))–\(Format.clock(use.end))"
        }.joined(separator: ", ")
    }
}
