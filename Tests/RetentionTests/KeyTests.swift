import EventLoop
import Foundation
import HTTPMessage
import Orders
import Playheads
import Sharing
import Store
import Substitution
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

/// Keys that expire, are revoked and are renewed, with a store of real files.
@Suite @LoopActor struct KeyTests {
    private let clock = TestClock()
    private let fixture: TestHouse
    private var library: Library { fixture.library }
    private var retention: RetentionService { fixture.retention }
    private var substitutions: Substitutions { fixture.substitutions }

    init() async throws { fixture = try await TestHouse(.clock(clock)) }

    /// The fixture `aes` with one complete rendition and its three keys.
    private func film() async throws -> Asset {
        let asset = try await fixture.open("/aes/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        library.publish(asset)
        await fixture.flush()
        return asset
    }

    private func files(_ suffix: String) -> [String] { fixture.folder.files().filter { $0.hasSuffix(suffix) }.sorted() }

    private func mode(_ file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.folder.path(file))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func states(of asset: Asset) -> [KeyState] { library.keys.reports(of: asset).map(\.state) }

    /// The error that `body` throws.
    private func error(_ body: () async throws -> Void) async -> LibraryError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? LibraryError
        }
    }

    // MARK: Storage and expiry

    @Test func dataKeysBecomeFilesWithoutARequest() async throws {
        var text = try String(decoding: Repository.fixture("/aes/90p/media.m3u8"), as: UTF8.self)
        let expected = try (0..<3).map { try Repository.fixture("/aes/keys/\($0).key") }
        for (number, key) in expected.enumerated() {
            let uri = "data:text/plain;base64,\(Data(key).base64EncodedString())"
            text = text.replacing("URI=\"../keys/\(number).key\"", with: "URI=\"\(uri)\"")
        }
        #expect(text.contains("data:"))
        try await fixture.origin.add(OriginRule("/aes/90p/media.m3u8") { [text] in ($0.status, $0.body) = (200, text) })
        let asset = try await film()
        let keys = files(".key")
        #expect(keys.count == 3)
        for (file, key) in zip(keys, expected) {
            #expect(try Data(contentsOf: URL(filePath: fixture.folder.path(file))) == Data(key))
            #expect(try mode(file) == 0o600)
        }
        #expect(asset.isPlayableOffline)
        #expect(try await fixture.origin.requests(for: "/aes/keys/0.key").isEmpty)
    }

    /// libavformat decrypts with the first 16 bytes.
    @Test func aLongerKeyIsStoredAsItIs() async throws {
        let key = "sixteen bytes it\u{1}and more"
        try await fixture.origin.add(OriginRule("*/1.key") { ($0.status, $0.body) = (200, key) })
        _ = try await film()
        let file = try #require(files("1.key").first)
        #expect(try String(contentsOfFile: fixture.folder.path(file), encoding: .utf8) == key)
    }

    @Test func keysAreStoredSeparatelyAndReadableByTheOwnerOnly() async throws {
        let asset = try await film()
        let keys = files(".key")
        #expect(keys == (0..<3).map { "assets/\(asset.id)/keys/\($0).key" })
        for key in keys {
            #expect(try mode(key) == 0o600)
        }
        #expect(try mode("assets/\(asset.id)/keys") == 0o700)
        let reports = library.keys.reports(of: asset)
        #expect(
            reports.map(\.number) == [0, 1, 2] && reports.allSatisfy { $0.life.came == clock.date && $0.isStored })
        #expect(reports[1].uses.map(\.rendition) == ["video-90p"] && reports[1].uses[0].time == 4..<8)
        let exported = try TemporaryFolder()
        _ = try await fixture.exchange.exporter.export(asset, to: exported.path("film"), as: .folder)
        for file in exported.files() where file.hasSuffix(".key") {
            let attributes = try FileManager.default.attributesOfItem(atPath: exported.path(file))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let imported = try await fixture.exchange.importer.importAsset(at: exported.path("film"), name: "again")
        #expect(try mode("assets/\(imported.id)/keys/0.key") == 0o600)
        #expect(try mode("assets/\(imported.id)/keys") == 0o700)
    }

    // MARK: Expiry

    @Test func anExpiredKeyMakesTheAssetIncompleteAndKeepsMedia() async throws {
        let asset = try await film()
        let bytes = asset.bytes
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        clock.date += 59
        #expect(asset.isPlayableOffline && asset.keyExpiry == nil)
        clock.date += 1
        #expect(!asset.isPlayableOffline)
        #expect(await substitutions.offlineRenditions(of: asset).isEmpty)
        #expect(await substitutions.playableRanges(of: asset) == nil)
        #expect(asset.keyExpiry?.code == .keyExpired)
        #expect(asset.keyExpiry?.message == "the keys of aes 90p have expired; renew with: weir keys aes --renew")
        #expect(await substitutions.playability(of: asset).reason == "3 keys of 90p have expired")
        #expect(await substitutions.playability(of: asset).answer == .no)
        #expect(asset.rendition("video-90p")?.isStored == true && asset.bytes == bytes)
        // The bundle's own playlists are deleted at once; the key files stay for a day.
        try await waitUntil("the playlists' end") {
            self.files("/media.m3u8").isEmpty && self.files("/master.m3u8").isEmpty
        }
        #expect(files(".key").count == 3)
        clock.date += Purger.grace - 1
        await retention.purger.removeExpired()
        #expect(files(".key").count == 3)
        clock.date += 1
        await retention.purger.removeExpired()
        #expect(files(".key").isEmpty && files(".ts").count == 6)
        #expect(fixture.log.lines.contains("aes: 3 keys have expired"))
    }

    @Test func aClockSetBackDoesNotReviveExpiredKeys() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        clock.date += 60
        #expect(!asset.isPlayableOffline)
        try await waitUntil("the catalogue") {
            let copy = try await fixture.folder.copy()
            return try BundleStore(path: copy.path).catalogue.initial.keys.allSatisfy { $0.life.expiredAt != nil }
        }
        clock.date -= 60
        #expect(!asset.isPlayableOffline)
        try await fixture.restart()
        let again = try #require(library.asset(named: "aes"))
        #expect(!again.isPlayableOffline && states(of: again) == [.expired, .expired, .expired])
        // A longer policy makes the keys valid again, since their files stay for a day.
        try await retention.setPolicy(StoragePolicy(), of: again)
        #expect(again.isPlayableOffline)
    }

    @Test func theKeyWindowBeginsWithPlaybackAndAgainWithARenewal() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(afterFirstPlay: 60)), of: asset)
        clock.date += 1_000_000
        #expect(asset.isPlayableOffline)
        _ = try #require(library.playheads.cursor(of: "aaaaaa", in: asset, "video-90p"))
        #expect(library.keys.reports(of: asset).map(\.remaining.playback) == [60, 60, 60])
        clock.date += 60
        #expect(!asset.isPlayableOffline)
        try await library.keys.renew(of: asset)
        #expect(asset.isPlayableOffline)
        #expect(asset.life.firstPlayed == clock.date - 60)
    }

    @Test func eachKeyHasItsOwnExpiryDate() async throws {
        let asset = try await film()
        try await library.keys.setExpiry(clock.date + 10, ofKeys: [1], of: asset)
        clock.date += 10
        #expect(states(of: asset) == [.valid, .expired, .valid] && !asset.isPlayableOffline)
        #expect(asset.keyExpiry?.message.hasPrefix("the key of aes 90p has expired") == true)
        try await library.keys.setExpiry(nil, ofKeys: [1], of: asset)
        #expect(asset.isPlayableOffline && files("/media.m3u8").count == 1)
        #expect(await code { try await library.keys.setExpiry(nil, ofKeys: [7], of: asset) } == .missing)
    }

    @Test func defaultKeyTermsApplyToAssetsWithKeysAndWithoutTerms() async throws {
        retention.newKeyTerms = KeyTerms(lifetime: 60)
        let asset = try await film()
        let clear = try await fixture.open("/ts/master.m3u8")
        await retention.applyNewKeyTerms(to: asset)
        await retention.applyNewKeyTerms(to: clear)
        #expect(asset.life.policy.keys.lifetime == 60 && clear.life.policy == StoragePolicy())
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 5)), of: asset)
        await retention.applyNewKeyTerms(to: asset)
        #expect(asset.life.policy.keys.lifetime == 5)
    }

    // MARK: Renewal

    @Test func aRenewalRequestsEachKeyOnceAndNoMedia() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        clock.date += 100
        var told: [String] = []
        let subscription = library.events.subscribe {
            if case .keysChanged(let asset, let change, let numbers) = $0 {
                told.append("\(asset.name) \(change.rawValue) \(numbers)")
            }
        }
        defer { subscription.cancel() }
        #expect(!asset.isPlayableOffline)
        try await fixture.origin.clearRequests()
        #expect(try await library.keys.renew([1], of: asset) == [1])
        #expect(try await fixture.origin.requests().map(\.path) == ["/aes/keys/1.key"])
        #expect(states(of: asset) == [.expired, .valid, .expired])
        try await library.keys.renew(of: asset)
        #expect(asset.isPlayableOffline && files("/media.m3u8").count == 1)
        #expect(library.keys.reports(of: asset).allSatisfy { $0.remaining.storage == 60 })
        #expect(try await fixture.origin.requests().count == 4)
        try await waitUntil("an event") { told.contains("aes expired [0, 1, 2]") }
        #expect(told.contains("aes renewed [1]") && told.contains("aes renewed [0, 1, 2]"))
        try await fixture.restart()
        #expect(library.asset(named: "aes")?.isPlayableOffline == true)
    }

    @Test(
        arguments: [
            (OriginRule("*/1.key") { $0.status = 403 }, LibraryError.Code.originRefused, "is not renewed"),
            (OriginRule("*/1.key") { $0.status = 401 }, .originRefused, "is not renewed"),
            (OriginRule("*/1.key") { $0.status = 404 }, .missing, "is not renewed"),
            (OriginRule("*/1.key") { ($0.status, $0.body) = (200, "15 bytes of it.") }, .badOrigin, "but a key has 16"),
            (OriginRule("*/1.key") { $0.html = true }, .badOrigin, "is not renewed"),
            (
                OriginRule("*/1.key") { ($0.status, $0.body) = (200, "sixteen bytes it") }, .otherContent,
                "content has changed"
            ),
        ] as [(OriginRule, LibraryError.Code, String)])
    func aRenewalThatFailsChangesNothing(rule: OriginRule, code: LibraryError.Code, words: String) async throws {
        let asset = try await film()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(files("/1.key")[0])))
        try await library.keys.setExpiry(clock.date + 10, of: asset)
        try await fixture.origin.add(rule)
        let error = await error { try await library.keys.renew([1], of: asset) }
        #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.message.contains("key 1 of aes") == true)
        // The session continues to its end.
        #expect(asset.isPlayableOffline)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(files("/1.key")[0]))) == before)
        clock.date += 10
        #expect(!asset.isPlayableOffline)
    }

    @Test func s33KeysAreAnnouncedAndRenewedByThemselvesBeforeTheyExpire() async throws {
        let asset = try await film()
        var told: [String] = []
        let subscription = library.events.subscribe {
            if case .keysChanged(_, let change, let numbers) = $0 {
                told.append("\(change.rawValue) \(numbers)")
            }
        }
        defer { subscription.cancel() }
        let watch = KeyWatch(of: library)
        let lifetime: Int64 = 10 * 86_400
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: lifetime)), of: asset)
        try await fixture.origin.clearRequests()
        library.mode = .offline
        clock.date += lifetime - 86_400
        watch.check()
        #expect(told.contains("expiring [0, 1, 2]"))
        #expect(try await fixture.origin.requests().isEmpty)
        library.mode = .auto
        watch.check()
        try await waitUntil("the renewal") { told.contains("renewed [0, 1, 2]") }
        #expect(try await Set(fixture.origin.requests().map(\.path)) == Set((0..<3).map { "/aes/keys/\($0).key" }))
        #expect(library.keys.reports(of: asset).allSatisfy { $0.remaining.storage == lifetime })
        clock.date += 86_400
        #expect(asset.isPlayableOffline)
    }

    @Test func noRenewalOfflineOrWithoutAnOrigin() async throws {
        let asset = try await film()
        library.mode = .offline
        let refusal = await error { try await library.keys.renew(of: asset) }
        #expect(refusal?.code == .notStored && refusal?.message.contains("while Weir is offline") == true)
        #expect(asset.isPlayableOffline)
        library.mode = .auto
        #expect(await code { try await library.keys.renew([9], of: asset) } == .missing)
        let imported = try await fixture.exchange.importer.importAsset(
            at: Repository.path("fixtures/media/aes"), name: "film")
        #expect(await error { try await library.keys.renew(of: imported) }?.message.contains("has no origin") == true)
        try await retention.setPolicy(StoragePolicy(expires: 1), of: asset)
        #expect(await code { try await library.keys.renew(of: asset) } == .expired)
    }

    // MARK: Revocation

    @Test func aRevokedKeyIsDeletedAndItsRenewalRestoresIt() async throws {
        let asset = try await film()
        let master = try #require(files("/master.m3u8").first)
        let text = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(master)))
        try await library.keys.revoke([1], of: asset)
        #expect(files(".key").map { ($0 as NSString).lastPathComponent } == ["0.key", "2.key"])
        #expect(files("/media.m3u8").isEmpty && files("/master.m3u8").isEmpty)
        #expect(states(of: asset) == [.valid, .revoked, .valid] && !asset.isPlayableOffline)
        #expect(await substitutions.playability(of: asset).reason == "the key of 90p was revoked")
        // No download needs the key, and a key that only a player needs is not stored.
        let fetch = try library.fetch(
            #require(asset.keys.resource(1)), in: asset.keys.folder, of: asset, urgency: .playback)
        try await fetch.end()
        fetch.release()
        #expect(fetch.bytes.count == 16 && files(".key").count == 2)
        try await fixture.restart()
        let again = try #require(library.asset(named: "aes"))
        #expect(states(of: again) == [.valid, .revoked, .valid])
        try await library.keys.renew([1], of: again)
        #expect(again.isPlayableOffline && files(".key").count == 3)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(master))) == text)
        #expect(try mode(files("/1.key")[0]) == 0o600)
    }

    /// The library still recognises the right key after the key's file is deleted.
    @Test func anotherKeyDoesNotReplaceARevokedOne() async throws {
        let asset = try await film()
        try await library.keys.revoke(of: asset)
        #expect(files(".key").isEmpty)
        try await fixture.restart()
        try await fixture.origin.add(OriginRule("*/0.key") { ($0.status, $0.body) = (200, "sixteen bytes it") })
        let again = try #require(library.asset(named: "aes"))
        #expect(await code { try await library.keys.renew(of: again) } == .otherContent)
        let fetch = try library.fetch(
            #require(again.keys.resource(0)), in: again.keys.folder, of: again, urgency: .playback)
        #expect(await fetch.result().code == .badOrigin)
        fetch.release()
        #expect(files(".key").isEmpty)
    }

    /// The state after a kill between the catalogue's row and the deletion of the file.
    @Test func aKeyFileLeftByAKillIsDeletedUnused() async throws {
        let asset = try await film()
        let key = try #require(files("/1.key").first)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(key)))
        try await library.keys.revoke([1], of: asset)
        try bytes.write(to: URL(fileURLWithPath: fixture.folder.path(key)))
        try await fixture.restart()
        let again = try #require(library.asset(named: "aes"))
        #expect(!again.isPlayableOffline && states(of: again)[1] == .revoked)
        await retention.purger.removeExpired()
        #expect(files("/1.key").isEmpty && files(".key").count == 2)
    }

    // MARK: Restored and imported keys

    @Test func aRestoredCatalogueHasTheKeyTimes() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        try await library.keys.revoke([2], of: asset)
        await library.close()
        for file in fixture.folder.files() where file.hasPrefix("catalogue-1.sqlite") {
            try FileManager.default.removeItem(atPath: fixture.folder.path(file))
        }
        try await fixture.restart()
        let again = try #require(library.asset(named: "aes"))
        #expect(again.life.policy.keys.lifetime == 60)
        #expect(states(of: again) == [.valid, .valid, .revoked])
        clock.date += 60
        #expect(states(of: again) == [.expired, .expired, .revoked])
    }

    @Test func anImportKeepsThePolicyAndTheKeyTimes() async throws {
        let asset = try await film()
        let date = clock.date
        var policy = StoragePolicy(afterFirstPlay: 9000, priority: .important, keys: KeyTerms(lifetime: 60))
        policy.expires = date + 5000
        try await retention.setPolicy(policy, of: asset)
        try await library.keys.setExpiry(date + 30, ofKeys: [2], of: asset)
        clock.date += 20
        let exported = try TemporaryFolder()
        _ = try await fixture.exchange.exporter.export(asset, to: exported.path("film"), as: .folder)
        let laterClock = TestClock()
        let other = try await TestHouse(.clock(laterClock))
        laterClock.date = date + 25
        _ = try await other.exchange.importer.importAsset(at: exported.path("film"))
        try await other.restart()
        let imported = try #require(other.library.asset(named: "aes"))
        #expect(imported.life.policy == policy && imported.isPlayableOffline)
        #expect(other.library.keys.reports(of: imported).map(\.expiration) == [date + 60, date + 60, date + 30])
        laterClock.date = date + 30
        #expect(!imported.isPlayableOffline)
        #expect(
            await code { _ = try await other.exchange.exporter.export(imported, to: exported.path("b"), as: .folder) }
                == .keyExpired
        )
    }

    /// Keys stored by an earlier version, whose file times say when they came.
    @Test func keysWithoutARecordDateFromTheirFiles() async throws {
        let asset = try await film()
        for key in files(".key") {
            let date = Date(timeIntervalSince1970: Double(clock.date - 500))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: fixture.folder.path(key))
        }
        asset.keys.lives = [:]
        try await retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 500)), of: asset)
        #expect(states(of: asset) == [.expired, .expired, .expired])
    }
}
