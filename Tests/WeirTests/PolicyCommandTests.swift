import Control
import Foundation
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import weir

@Suite struct TimeTextTests {
    @Test(
        arguments: [
            ("30d", 2_592_000), ("48h", 172_800), ("90m", 5400), ("1s", 1), ("2w", 1_209_600),
            ("36525d", 3_155_760_000),
            ("", nil), ("d", nil), ("0d", nil), ("-1d", nil), ("1.5h", nil), ("30", nil), ("3x", nil), ("30 d", nil),
            ("36526d", nil), ("99999999999d", nil), ("٣d", nil),
        ] as [(String, Int?)])
    func spans(text: String, seconds: Int?) { #expect(TimeText.span(text) == seconds) }

    @Test(
        arguments: [
            // The test's time zone is UTC+2.
            ("2026-12-24", 1_798_149_600), ("2026-12-24T18:00", 1_798_128_000), ("2026-12-24T18:00:01", 1_798_128_001),
            ("2026-12-24T16:00Z", 1_798_128_000), ("2028-02-29", 1835474400),
            ("2026-02-29", nil), ("2026-13-01", nil), ("2026-12-24T24:30", nil), ("2026-12-24Z", nil),
            ("24.12.2026", nil),
            ("2026-12-24T", nil), ("2026-12-24T18", nil), ("26-12-24", nil), ("tomorrow", nil),
            ("2026-12-24T18:00T", nil),
        ] as [(String, Int?)])
    func instants(text: String, seconds: Int?) throws {
        #expect(TimeText.instant(text, zone: try #require(TimeZone(secondsFromGMT: 7200))) == seconds)
    }

    @Test(arguments: [(172_800, "48h"), (259_200, "3d"), (5400, "90m"), (61, "61s"), (86_400, "24h"), (3600, "1h")])
    func spansInWords(seconds: Int, words: String) { #expect(TimeText.words(ofSpan: seconds) == words) }
}

@Suite struct StorageTextTests {
    private let zone = TimeZone(secondsFromGMT: 0) ?? .current

    private func sentence(_ storage: API.Storage) -> String { StorageText.sentence(storage, zone: zone) }

    @Test func aPolicyIsDescribed() {
        #expect(sentence(API.Storage()) == "never expires")
        var storage = API.Storage(
            policy: .init(expires: 1_798_128_000, priority: .important), expiration: 1_798_128_000)
        #expect(sentence(storage) == "plays until 2026-12-24 16:00; important")
        storage = API.Storage(policy: .init(afterFirstPlay: 172_800, backup: .exclude))
        #expect(sentence(storage) == "plays 48h after the first play; not in backups")
        storage.firstPlayed = 1_797_955_200
        storage.expiration = 1_798_128_000
        #expect(sentence(storage) == "plays until 2026-12-24 16:00; not in backups")
        storage.isExpired = true
        #expect(sentence(storage) == "expired since 2026-12-24 16:00; not in backups")
        storage = API.Storage()
        storage.purge = .init(date: 1_798_128_000, bytes: 158_334_976, cause: .space)
        #expect(sentence(storage) == "never expires; purged at 2026-12-24 16:00 because the disk was full, 151 MB")
    }

    @Test func theListHasABadge() {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8")
        let cell: (API.Asset) -> String? = { ListCommand.table([ListedAsset($0)]).rows.last?.dropLast().last }
        asset.storage = API.Storage(policy: .init(priority: .important))
        asset.local = .yes
        asset.state = .saved
        asset.stored = .saved
        #expect(cell(asset) == "saved, important")
        asset.state = .expired
        #expect(cell(asset) == "expired, saved, important")
        asset.storage = API.Storage()
        asset.local = .no
        asset.state = .failed
        asset.stored = .purged
        #expect(cell(asset) == "failed, purged")
    }
}

@Suite struct PolicyCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) async throws -> ProcessResult {
        let environment = ["HOME": folder.path, "WEIR_STATE": folder.path("state"), "LC_ALL": "C"]
        return try await ProcessRunner.run(Repository.builtProgram("weir"), arguments, environment: environment)
    }

    @Test(arguments: [
        (
            ["--expires", "2026-12-24T16:00Z"],
            StoragePolicy(expires: 1_798_128_000, afterFirstPlay: 7, backup: .exclude)
        ),
        (["--after-first-play", "48h"], StoragePolicy(expires: 9, afterFirstPlay: 172_800, backup: .exclude)),
        (
            ["--expires", "never", "--after-first-play", "never", "--priority", "important", "--backup", "include"],
            StoragePolicy(priority: .important)
        ),
    ])
    func optionsChangeOnlyTheirFields(options: [String], policy: StoragePolicy) async throws {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8")
        asset.storage = API.Storage(policy: StoragePolicy(expires: 9, afterFirstPlay: 7, backup: .exclude))
        let daemon = try await ScriptedDaemon(state: folder.path("state"), assets: [asset])
        let result = try await run(["policy", "sintel"] + options)
        #expect(await daemon.policies == ["sintel": policy], "\(result.errors)")
        await daemon.stop()
    }

    @Test(arguments: [["--expires", "soon"], ["--after-first-play", "2026-12-24"], ["--priority", "high"]])
    func invalidPolicyOptionsAreRefused(options: [String]) async throws {
        let result = try await run(["policy", "sintel"] + options)
        #expect(result.exit == .code(64) && result.errors.contains(options[1]), "\(result.errors)")
    }

    @Test func theFullPolicyIsSent() async throws {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8")
        asset.storage = API.Storage(policy: .init(afterFirstPlay: 7))
        let daemon = try await ScriptedDaemon(state: folder.path("state"), assets: [asset])
        #expect(try await run(["policy", "sintel"]).output == "sintel  plays 7s after the first play\n")
        #expect(await daemon.policies.isEmpty)
        let changed = try await run(["policy", "sintel", "--priority", "important"])
        #expect(changed.output == "sintel  plays 7s after the first play; important\n", "\(changed.errors)")
        #expect(await daemon.policies == ["sintel": StoragePolicy(afterFirstPlay: 7, priority: .important)])
        let json = try await run(["policy", "sintel", "--json"])
        #expect(json.output.contains(#""policy":{"afterFirstPlay":7,"backup":"include","priority":"default"}"#))
        let renamed = try await run(["rename", "sintel", "film", "--title", "A film"])
        #expect(renamed.output.hasPrefix("film  A film  http://localhost:"), "\(renamed.errors)")
        #expect(await daemon.assetChanges == ["sintel": API.AssetChange(name: "film", title: "A film")])
        #expect(try await run(["rename", "sintel"]).exit == .code(64))
        #expect(try await run(["policy", "none"]).exit == .code(66))
        await daemon.stop()
    }
}
