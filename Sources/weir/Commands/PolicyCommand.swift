import ArgumentParser
import Foundation
package import Orders
import WeirAPI

extension StoragePolicy.Backup: ExpressibleByArgument {}

struct PolicyCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or change how long an asset is kept.",
        discussion: """
            An expired asset does not play. Its media is deleted when space is needed, or after a day; until then "weir policy
            NAME --expires never" lets it play again. The asset stays in the list. "--expires never" removes all limits, those of a
            rental and of keys too.
            If only its keys expire, the media stays, and plays again after "weir keys NAME --renew".
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Option(help: TimeText.expiryHelp("Expiry date"))
    var expires: String?
    @Option(help: ArgumentHelp("How long the asset plays after the first play: 48h, or never.", valueName: "time"))
    var afterFirstPlay: String?
    @Option(
        help: ArgumentHelp(
            "Lifetime of its keys after their fetch: 30d, or never. The media stays; see: weir keys.",
            valueName: "time"))
    var keysExpire: String?
    @Option(help: ArgumentHelp("Lifetime of its keys after the first play: 48h, or never.", valueName: "time"))
    var keysAfterFirstPlay: String?
    @Flag(
        help: ArgumentHelp(
            "A rental: 30 days, and 48 hours after the first play. Applies to the keys of an encrypted asset, else to the "
                + "asset."))
    var rental = false
    @Option(help: "Order of deletion if the disk is full: default before important.")
    var priority: Priority?
    @Option(help: "Include in backups, or exclude (by a CACHEDIR.TAG): include or exclude.")
    var backup: StoragePolicy.Backup?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try changed(StoragePolicy(), now: Date()) }

    func execute() async throws {
        let client = try common.daemon().client
        var asset = try await client.call(Endpoints.asset, name)
        let former = asset.storage?.policy ?? StoragePolicy()
        let policy = try changed(former, hasKeys: asset.keys != nil, now: Date())
        if policy != former {
            asset = try await client.call(Endpoints.setPolicy, name, body: policy)
        }
        let storage = asset.storage ?? API.Storage(policy: policy)
        guard !json else { return try Output.json(storage) }
        Output.line("\(asset.name)  \(StorageText.sentence(storage))")
    }

    /// Applies the options to a policy.
    ///
    /// - Parameter hasKeys: true if the asset is encrypted; then a rental limits its keys.
    func changed(_ policy: StoragePolicy, hasKeys: Bool = false, now: Date) throws -> StoragePolicy {
        var policy = policy
        if expires == "never" {
            Self.endRental(&policy)
        }
        if rental {
            Self.rent(&policy, hasKeys: hasKeys, now: now)
        }
        if let expires {
            policy.expires = try TimeText.expiry(expires, now: now).map(Int64.init)
        }
        if let afterFirstPlay {
            policy.afterFirstPlay = try Self.window(afterFirstPlay, "--after-first-play")
        }
        if let keysExpire {
            policy.keys.lifetime = try Self.window(keysExpire, "--keys-expire")
        }
        if let keysAfterFirstPlay {
            policy.keys.afterFirstPlay = try Self.window(keysAfterFirstPlay, "--keys-after-first-play")
        }
        policy.priority = priority ?? policy.priority
        policy.backup = backup ?? policy.backup
        if let contradiction = policy.contradiction {
            throw ValidationError(contradiction)
        }
        return policy
    }

    private static func window(_ text: String, _ option: String) throws -> Int64? {
        if text == "never" {
            return nil
        }
        guard let span = TimeText.span(text) else {
            throw ValidationError("\(option) \"\(text)\" is not a duration such as 48h, 90m or 7d, or never")
        }
        return Int64(span)
    }

    /// Removes all that a rental sets. The other limits are part of "never", too, unless they are given beside it.
    private static func endRental(_ policy: inout StoragePolicy) {
        policy.afterFirstPlay = nil
        policy.keys = KeyTerms()
    }

    /// Sets the usual rental: 30 days, and 48 hours from the first play.
    private static func rent(_ policy: inout StoragePolicy, hasKeys: Bool, now: Date) {
        let days: Int64 = 30 * 86_400
        let hours: Int64 = 48 * 3600

        if hasKeys {
            policy.keys = KeyTerms(lifetime: days, afterFirstPlay: hours)
        } else {
            policy.expires = Int64(now.timeIntervalSince1970) + days
            policy.afterFirstPlay = hours
        }
    }
}
