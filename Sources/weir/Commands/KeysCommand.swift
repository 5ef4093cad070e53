import ArgumentParser
import Foundation
import Orders
import WeirAPI

struct KeysCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List, renew, revoke or date an asset's keys; without a name, list those of all assets.",
        discussion: """
            The keys themselves are never shown. Players do not get a key that has expired or was revoked. Its media stays, and \
            plays again after --renew, which requests each key once from the origin. Playback from the origin is not \
            affected. While Weir is online, it renews keys by itself a day before they expire, or after half of a shorter time. \
            See also: weir policy NAME --keys-expire, --keys-after-first-play.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String?
    @Argument(help: ArgumentHelp("The numbers of the keys; all keys if there are none.", valueName: "key"))
    var keys: [Int] = []
    @Flag(help: "Fetch the keys again from the origin.")
    var renew = false
    @Flag(help: "Delete the keys, and refuse them until they are renewed.")
    var revoke = false
    @Option(help: TimeText.expiryHelp("Expiry date of the keys"))
    var expires: String?
    @Flag(help: "With --revoke: every key of every asset.")
    var all = false
    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    private var words: [String] { [name].compactMap(\.self) }

    func validate() throws {
        if origin.areGiven {
            try origin.check(words)
        }
        guard [renew, revoke, expires != nil].count(where: { $0 }) < 2 else {
            throw ValidationError("Give only one of --renew, --revoke and --expires.")
        }
        guard !all || revoke && name == nil && !origin.areGiven else {
            throw ValidationError("--all requires --revoke, and no name.")
        }
        guard all || name != nil || origin.areGiven || !(renew || revoke || expires != nil) else {
            throw ValidationError("Give the name of an asset, or --revoke --all.")
        }
        guard keys.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("Give the numbers of keys that \"weir keys NAME\" shows.")
        }
        _ = try order(now: Date())
    }

    func execute() async throws {
        let client = try common.daemon().client
        guard name != nil || origin.areGiven else {
            guard all else { return try list(try await client.call(Endpoints.allKeys).assets) }
            let lists = try await client.call(Endpoints.orderAllKeys, body: API.KeyOrder(.revoke)).assets
            guard !json else { return try lists.forEach(write) }
            let count = lists.reduce(0) { $0 + $1.keys.count }
            return Output.line("revoked \(Format.count(count, "key")) of \(lists.count) assets")
        }

        let name = try await origin.change(ofAsset: words, in: client)
        let order = try order(now: Date())
        let list: API.KeyList
        if let order {
            list = try await client.call(Endpoints.orderKeys, name, body: order)
        } else {
            list = try await client.call(Endpoints.keys, name)
        }

        guard !json else { return try write(list) }
        for line in KeysText.lines(list) {
            Output.line(line)
        }
    }

    private func list(_ lists: [API.KeyList]) throws {
        guard !json else { return try lists.forEach(write) }
        guard !lists.isEmpty else { return Output.line("no asset has keys") }
        for list in lists {
            KeysText.lines(list).forEach { Output.line($0) }
        }
    }

    private func write(_ list: API.KeyList) throws { try Output.json(list) }

    /// The order of the options; nil to only list the keys.
    func order(now: Date) throws -> API.KeyOrder? {
        let numbers = keys.isEmpty ? nil : keys
        if renew {
            return API.KeyOrder(.renew, keys: numbers)
        }
        if revoke {
            return API.KeyOrder(.revoke, keys: numbers)
        }
        guard let expires else { return nil }
        return API.KeyOrder(.setExpiry, keys: numbers, expires: try TimeText.expiry(expires, now: now))
    }
}

/// Formats the state of keys, without key material.
enum KeysText {
    /// A summary, then one line per key.
    static func lines(_ list: API.KeyList, zone: TimeZone = .current) -> [String] {
        guard !list.keys.isEmpty else { return ["\(list.asset) has no known keys"] }
        let bad = list.keys.count { $0.state == .expired || $0.state == .revoked }
        let limits = KeyTerms(lifetime: list.keysExpire, afterFirstPlay: list.keysAfterFirstPlay)
        var summary = "\(list.asset)  \(Format.count(list.keys.count, "key"))"
        if let terms = terms(limits) {
            summary += "; valid \(terms)"
        }

        var rows = [["KEY", "STATE", "FETCHED", "EXPIRES", "DECRYPTS"]]
        for key in list.keys {
            var fetched = "–"
            if let date = key.fetched {
                fetched = TimeText.words(date, zone: zone)
            }
            var expiration = "never"
            if let date = key.expiration {
                expiration = TimeText.words(date, zone: zone)
            }
            rows.append(["\(key.number)", state(key), fetched, expiration, uses(key)])
        }

        var lines = [summary] + TextTable(rows: rows).lines
        if bad > 0 {
            lines.append("renew with: weir keys \(list.asset) --renew")
        }
        return lines
    }

    /// The lifetimes: `30d after their fetch, 48h after the first play`; nil for no limit.
    static func terms(_ terms: KeyTerms) -> String? {
        var words: [String] = []
        if let lifetime = terms.lifetime {
            words.append(TimeText.words(ofSpan: Int(lifetime)) + " after their fetch")
        }
        if let window = terms.afterFirstPlay {
            words.append(TimeText.words(ofSpan: Int(window)) + " after the first play")
        }
        guard !words.isEmpty else { return nil }
        return words.joined(separator: ", ")
    }

    /// The words in a list's column of states: `key expired`; none if all keys are usable.
    static func badge(_ keys: API.KeySummary?) -> [String] {
        guard let keys else { return [] }
        if keys.expired > 0 {
            return ["key expired"]
        }
        if keys.revoked > 0 {
            return ["key revoked"]
        }
        return []
    }

    /// The line for `weir show`; empty if all keys are usable.
    static func lines(_ asset: API.Asset) -> [String] {
        guard let keys = asset.keys, keys.expired + keys.revoked > 0 else { return [] }
        let state = keys.expired > 0 ? "expired" : "revoked"
        let bad = keys.expired + keys.revoked
        var fact = "key \(state)"
        if keys.count > 1 {
            fact += " (\(bad) of \(keys.count))"
        }
        return ["\(fact); renew with: weir keys \(asset.name) --renew"]
    }

    private static func state(_ key: API.Key) -> String {
        switch key.state {
        case .valid where key.playbackRemaining != nil && key.firstPlayed != nil: "valid, played"
        case .valid: "valid"
        case .expired: "expired"
        case .revoked: "revoked"
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
