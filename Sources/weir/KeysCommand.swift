import API
import ArgumentParser
import Foundation

/// `weir keys`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List, renew, revoke or date an asset's keys.",
        discussion: """
            The keys themselves are never shown. One that has expired or was taken back is given to no player; its media \
            stays, and plays again after --renew, which asks the origin once for each key. What plays from the origin \
            meanwhile has its key from there. See also: weir policy NAME --keys-expire, --keys-after-first-play.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String?

    @Argument(help: ArgumentHelp("The numbers of the keys that are meant; all without any.", valueName: "key"))
    var keys: [Int] = []

    @Flag(help: "Fetch them from the origin again, with the asset's URL and header fields.")
    var renew = false

    @Flag(help: "Revoke them: delete their files and refuse them until they are renewed.")
    var invalidate = false

    @Option(help: TimeText.expiryHelp("When they expire"))
    var expires: String?

    @Flag(help: "With --invalidate: every key of every asset.")
    var all = false

    @Flag(help: "Write one JSON object per line.")
    var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard [renew, invalidate, expires != nil].count(where: { $0 }) < 2 else {
            throw ValidationError("Give one of --renew, --invalidate and --expires.")
        }
        guard !all || invalidate && name == nil else {
            throw ValidationError("--all goes with --invalidate, and without a name.")
        }
        guard all || name != nil else { throw ValidationError("Give the name of an asset, or --invalidate --all.") }
        guard keys.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("Keys have the numbers that \"weir keys\" shows.")
        }
        _ = try order(now: Date())
    }

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            guard let name else {
                let lists = try await client.invalidateAllKeys()
                guard !json else { return try lists.forEach(write) }
                let count = lists.reduce(0) { $0 + $1.keys.count }
                return Output.line("invalidated \(KeysText.count(count)) of \(lists.count) assets")
            }
            let order = try order(now: Date())
            let list =
                if let order { try await client.order(order, ofAsset: name) } else {
                    try await client.keys(ofAsset: name)
                }
            guard !json else { return try write(list) }
            for line in KeysText.lines(list) { Output.line(line) }
        }
    }

    private func write(_ list: API.KeyList) throws {
        Output.line(String(decoding: try API.encode(list), as: UTF8.self))
    }

    /// The order of the options; nil to only list the keys.
    func order(now: Date) throws -> API.KeyOrder? {
        let meant = keys.isEmpty ? nil : keys
        if renew { return API.KeyOrder(.renew, keys: meant) }
        if invalidate { return API.KeyOrder(.invalidate, keys: meant) }
        guard let expires else { return nil }
        return API.KeyOrder(.date, keys: meant, expires: try TimeText.expiry(expires, now: now))
    }
}
