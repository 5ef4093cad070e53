import ArgumentParser
import Control
import Foundation
import Orders
import Testing
import WeirAPI

@testable import weir

@Suite struct KeysCommandTests {
    private let zone = TimeZone(secondsFromGMT: 0) ?? .current
    private let now = Date(timeIntervalSince1970: 1_798_128_000)

    @Test(
        arguments: [
            (["aes"], nil), (["aes", "--renew"], API.KeyOrder(.renew)),
            (["aes", "1", "2", "--renew"], .init(.renew, keys: [1, 2])),
            (["aes", "--revoke"], .init(.revoke)),
            (["aes", "0", "--revoke"], .init(.revoke, keys: [0])),
            (["--revoke", "--all"], .init(.revoke)),
            (["aes", "--expires", "30d"], .init(.setExpiry, expires: 1_800_720_000)),
            (["aes", "--expires", "never"], .init(.setExpiry)), ([], nil),
        ] as [([String], API.KeyOrder?)])
    func optionsBecomeAKeyRequest(words: [String], order: API.KeyOrder?) async throws {
        #expect(try await KeysCommand.asyncParse(words).order(now: now) == order)
    }

    @Test(arguments: [
        ["--renew"], ["--all"], ["aes", "--all"], ["--all", "--renew"], ["aes", "--renew", "--revoke"], ["--revoke"],
        ["aes", "--expires", "soon"], ["aes", "-1"], ["aes", "x", "--renew"], ["aes", "--all", "--revoke"],
    ])
    func invalidOptionsAreRefused(words: [String]) async throws {
        await #expect(throws: (any Error).self) { try await KeysCommand.asyncParse(words) }
    }

    @Test func keysAreATable() {
        var list = API.KeyList(asset: "aes")
        #expect(KeysText.lines(list, zone: zone) == ["aes has no known keys"])
        var first = API.Key(
            number: 0, state: .valid, uses: [.init(rendition: "video-90p", start: 0, end: 4, segments: 2)])
        first.fetched = 1_798_128_000
        first.expiration = 1_800_720_000
        list.keys = [first, API.Key(number: 1, state: .revoked)]
        list.keysExpire = 2_592_000
        list.keysAfterFirstPlay = 172_800
        #expect(
            KeysText.lines(list, zone: zone) == [
                "aes  2 keys; valid 30d after their fetch, 48h after the first play",
                "KEY  STATE    FETCHED           EXPIRES           DECRYPTS",
                "0    valid    2026-12-24 16:00  2027-01-23 16:00  video-90p 0:00–0:04",
                "1    revoked  –                 never             –",
                "renew with: weir keys aes --renew",
            ])
    }

    @Test func listAndShowNameUnusableKeys() {
        var asset = API.Asset(name: "aes", id: "aes-k3f9", url: "https://h/m.m3u8")
        asset.state = .partlySaved
        asset.stored = .partlySaved
        asset.keys = API.KeySummary(count: 3)
        let cell: (API.Asset) -> String? = { ListCommand.table([ListedAsset($0)]).rows.last?.dropLast().last }
        #expect(cell(asset) == "partly saved" && ShowCommand.lines(asset).allSatisfy { !$0.contains("key") })
        asset.keys = API.KeySummary(count: 3, expired: 2)
        #expect(cell(asset) == "partly saved, key expired")
        #expect(ShowCommand.lines(asset).contains("key expired (2 of 3); renew with: weir keys aes --renew"))
        asset.keys = API.KeySummary(count: 1, revoked: 1)
        #expect(cell(asset) == "partly saved, key revoked")
        #expect(ShowCommand.lines(asset).contains("key revoked; renew with: weir keys aes --renew"))
    }

    @Test func aRentalLimitsKeysIfThereAreAny() async throws {
        let command = try await PolicyCommand.asyncParse(["aes", "--rental"])
        #expect(
            try command.changed(StoragePolicy(priority: .important), hasKeys: true, now: now)
                == StoragePolicy(priority: .important, keys: KeyTerms(lifetime: 2_592_000, afterFirstPlay: 172_800)))
        #expect(
            try command.changed(StoragePolicy(), hasKeys: false, now: now)
                == StoragePolicy(expires: 1_800_720_000, afterFirstPlay: 172_800))
        let other = try await PolicyCommand.asyncParse([
            "aes", "--rental", "--keys-expire", "7d", "--keys-after-first-play", "never",
        ])
        #expect(
            try other.changed(StoragePolicy(), hasKeys: true, now: now)
                == StoragePolicy(keys: KeyTerms(lifetime: 604_800)))
        await #expect(throws: (any Error).self) {
            try await PolicyCommand.asyncParse(["aes", "--keys-expire", "soon"])
        }
        let storage = API.Storage(policy: .init(keys: KeyTerms(lifetime: 2_592_000, afterFirstPlay: 172_800)))
        #expect(
            StorageText.sentence(storage, zone: zone)
                == "never expires; keys 30d after their fetch, 48h after the first play")
    }
}
