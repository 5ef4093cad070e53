import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import HTTPMessage
import Orders
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Downloads whose origin now has other content.
@Suite @LoopActor struct RevisionTests {
    /// A film with the first half of its lowest quality stored. The origin then changes its content.
    private func changed(to other: String = "aes") async throws -> (TestHouse, ChangingFilm, Download) {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder), .downloader())
        try await fixture.origin.add(OriginRule("/film/90p/[345].ts") { $0.hold = true })
        let download = try await fixture.start("/film/master.m3u8")
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        await fixture.downloader.pause(download)
        try await fixture.notes(.paused)
        try film.change(to: other)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        return (fixture, film, download)
    }

    /// The old segments are missing at the origin before the new content is known.
    private static let lost = OriginRule("/film/90p/[345].ts") { ($0.times, $0.status) = (3, 404) }

    /// Like `changed()`, with the download of the revision started. The origin holds its keys back until they are
    /// released.
    private func replacing() async throws -> (TestHouse, ChangingFilm, old: Asset, new: Asset) {
        let (fixture, film, download) = try await changed()
        try await fixture.origin.add(Self.lost, OriginRule("*.key") { $0.hold = true })
        await fixture.downloader.resume(download)
        try await waitUntil("the new to come") { download.asset.revision.map { $0.bytes > 0 } ?? false }
        return (fixture, film, download.asset, try #require(download.asset.revision))
    }

    private func bundles(_ fixture: TestHouse) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: fixture.folder.path("assets"))) ?? []).sorted()
    }

    /// Waits until only these bundles remain, and all files of removed ones are deleted.
    private func expectLeft(_ ids: [String], _ fixture: TestHouse) async throws {
        let removed = { try? FileManager.default.contentsOfDirectory(atPath: fixture.folder.path("tmp")) }
        do {
            try await waitUntil("the rest to be gone") { bundles(fixture) == ids && removed() == [] }
        } catch {
            Issue.record("\(error): assets \(bundles(fixture)), removed \(removed() ?? []), expected \(ids)")
        }
    }

    private func asset(_ fixture: TestHouse) throws -> Asset {
        try #require(fixture.library.asset(named: "film"))
    }

    /// Waits until the revision has replaced the old asset and is complete, then checks the library, the store and the
    /// catalogue.
    private func expectTheNewAlone(_ fixture: TestHouse, besides old: Asset) async throws {
        do {
            try await waitUntil("the change of places") {
                let id = try asset(fixture).id
                guard id != old.id, fixture.downloader.downloads.map(\.asset.id) == [id] else { return false }
                // An order that came late has added to it.
                return fixture.downloader.downloads[0].state == .complete
            }
        } catch {
            let states = fixture.downloader.downloads.map { download in
                "\(download.asset.id) \(download.state) \(download.failure?.message ?? "")"
            }
            let requests = try await fixture.origin.requests().map { "\($0.path) \($0.state)" }
            Issue.record("\(error): old \(old.id), downloads \(states), requests \(requests)")
            throw error
        }
        let new = try asset(fixture)
        #expect(!new.hasChanged && !new.isRevision && new.revision == nil)
        #expect(fixture.library.assets.map(\.id) == [new.id])
        #expect(fixture.library.asset(at: new.origin) === new && fixture.library.asset(id: old.id) == nil)
        #expect(new.isPlayableOffline)
        try await expectLeft([new.id], fixture)
        try await waitUntil("the catalogue to know") {
            let copy = try TemporaryFolder()
            _ = try await ProcessRunner.run("cp", ["-a", fixture.folder.path + "/.", copy.path])
            let contents = try BundleStore(path: copy.path).catalogue.initial
            return contents.assets.map(\.id) == [new.id] && contents.assets[0].revises == nil
                && contents.downloads.map(\.asset) == [new.id]
        }
    }

    // MARK: Automatic replacement

    @Test(arguments: ["aes", "cmaf"])
    func unavailableContentIsReplacedByTheSelectionOfTheNewRevision(_ other: String) async throws {
        let (fixture, _, download) = try await changed(to: other)
        let old = download.asset
        try await fixture.origin.add(Self.lost)
        await fixture.downloader.resume(download)
        try await expectTheNewAlone(fixture, besides: old)
        #expect(download.failure?.code == .library(.otherContent))
        let kept = try #require(try asset(fixture).multivariant).variants[0]
        #expect(try fixture.download("film").renditions.first?.index == kept.renditionIndex)
    }

    /// Changes the segments of the lowest quality. The origin's validators have whole seconds, and both contents may be of one second.
    private func changeSegments(_ film: ChangingFilm) throws {
        for number in 0..<6 {
            let path = film.root + "/film/90p/\(number).ts"
            try FileDamage.flipBit(of: path, at: 600)
            let later = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 10)]
            try FileManager.default.setAttributes(later, ofItemAtPath: path)
        }
    }

    /// Segments that change while they are downloaded, and the facts that the origin states about them.
    struct ChangeCase: CustomTestStringConvertible {
        let testDescription: String
        /// The segments that come before the change.
        let count: Int
        /// Changes the replies of all segments.
        let replies: @Sendable (inout OriginRule) -> Void
        /// True if the times of the files show the change.
        let showsTimes: Bool
    }

    nonisolated private static let sent = HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)).description

    nonisolated private static let changes = [
        ChangeCase(
            testDescription: "3 segments, then later times", count: 3, replies: { $0.headers = ["Date": sent] },
            showsTimes: true),
        ChangeCase(
            testDescription: "1 segment, no validators", count: 1, replies: { $0.noValidators = true },
            showsTimes: false),
        ChangeCase(
            testDescription: "3 segments, no validators", count: 3, replies: { $0.noValidators = true },
            showsTimes: false),
    ]

    @Test("N12, W8: a download has one content, whatever changes within it", arguments: changes)
    func aDownloadHasOneContent(_ change: ChangeCase) async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder), .downloader())
        let held = OriginRule("/film/90p/[\(change.count)-5].ts") { rule in
            rule.hold = true
            change.replies(&rule)
        }
        try await fixture.origin.add(held, OriginRule("*.ts", change.replies))
        let download = try await fixture.start("/film/master.m3u8")
        try await waitUntil("the first segments") { download.progress.loaded.duration == 2 * Double(change.count) }
        try changeSegments(film)
        try await fixture.origin.clearRules()
        if !change.showsTimes {
            try await fixture.origin.add(OriginRule("*.ts", change.replies))
        }
        try await fixture.origin.release()

        try await expectTheNewAlone(fixture, besides: download.asset)
        let folder = fixture.folder.path("assets/\(try asset(fixture).id)/video-90p")
        for number in 0..<6 {
            let stored = try Data(contentsOf: URL(fileURLWithPath: folder + "/\(number).ts"))
            let new = try Data(contentsOf: URL(fileURLWithPath: film.root + "/film/90p/\(number).ts"))
            #expect(stored == new, "\(number)")
        }
    }

    /// The origin refuses to show the beginning again.
    @Test func aDownloadThatCannotBeComparedIsComplete() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(
            OriginRule("/ts/90p/0.ts") { ($0.times, $0.noValidators) = (1, true) },
            OriginRule("/ts/90p/0.ts") { $0.status = 403 })
        try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.origin.requests(for: "/ts/90p/0.ts").filter { $0.range != nil }.count <= 1)
    }

    @Test func theOldRevisionPlaysUntilTheNewOneIsComplete() async throws {
        let (fixture, _, old, revision) = try await replacing()
        #expect(try asset(fixture) === old && fixture.library.asset(at: old.origin) === old)
        #expect(fixture.library.asset(id: revision.id) === revision && revision.hasChanged == false)
        #expect(old.hasChanged && old.renditions.contains { $0.folder.contains("0.ts") })
        #expect(bundles(fixture) == [old.id, revision.id].sorted())
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        try await expectTheNewAlone(fixture, besides: old)
    }

    @Test func aFailedDownloadOfARevisionWaitsForTheUser() async throws {
        let (fixture, film, old, first) = try await replacing()
        try film.change(to: "cmaf")
        try await fixture.origin.replaceRules(with: OriginRule("*.key") { $0.status = 404 })
        try await fixture.origin.release()
        try await waitUntil("the end") { fixture.downloader.download(of: first)?.state == .failed }
        #expect(try asset(fixture) === old)
        await fixture.library.playlists.checkContent(of: first.renditions, in: first)
        #expect(first.hasChanged)
        // A new request gets the current content, without pieces of the revision in between.
        try await fixture.start("/film/master.m3u8")
        try await expectTheNewAlone(fixture, besides: old)
        #expect(try asset(fixture).multivariant?.media.isEmpty == false)
    }

    // MARK: Two at once

    /// Someone that needs the new content.
    enum Claimant: CaseIterable, CustomTestStringConvertible {
        /// The old content's download, which cannot continue.
        case download
        /// A command with another selection.
        case order
        /// A command whose selection the new content does not have.
        case impossibleOrder
        case player

        var testDescription: String { "\(self)" }
    }

    /// A stopped download of which the origin has other segments, whose entry playlist is held back from now on.
    private func changedSegments() async throws -> (TestHouse, Download) {
        let (fixture, film, download) = try await changed(to: "ts")
        try changeSegments(film)
        #expect(await fixture.library.revisions.check(download.asset))
        #expect(download.asset.hasOtherSegments && download.asset.revision == nil)
        try await fixture.origin.clearRequests()
        try await fixture.origin.add(OriginRule("/film/master.m3u8") { $0.hold = true })
        return (fixture, download)
    }

    /// Lets a claimant come. Returns its error.
    private func claim(
        _ claimant: Claimant, _ fixture: TestHouse, _ download: Download
    ) -> Task<Downloader.Refusal?, Never> {
        Task { @LoopActor in
            do throws(Downloader.Refusal) {
                switch claimant {
                case .download: await fixture.downloader.resume(download)
                case .order:
                    let order = DownloadOrder(Selection(quality: .height(180)))
                    let joined = try await fixture.downloader.start(download.asset, order)
                    // Complete by then, it may have taken the old content's place.
                    #expect(joined.asset !== download.asset)
                case .impossibleOrder:
                    let order = DownloadOrder(Selection(quality: .height(999)))
                    _ = try await fixture.downloader.start(download.asset, order)
                case .player: _ = await fixture.library.revisions.current(download.asset)
                }
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("the second to need the new content joins the first", arguments: Claimant.allCases, Claimant.allCases)
    func theSecondJoins(_ first: Claimant, _ second: Claimant) async throws {
        guard first != second else { return }
        let (fixture, download) = try await changedSegments()
        let old = download.asset
        let earlier = claim(first, fixture, download)
        try await waitUntil("the request for the entry") { try await fixture.origin.load().paused == 1 }
        let later = claim(second, fixture, download)
        // Each claimant comes to the entry without a request of its own.
        for _ in 0..<50 {
            await Task.yield()
        }
        try await fixture.origin.clearRules()
        try await fixture.origin.release()

        for (claimant, task) in [(first, earlier), (second, later)] {
            let error = await task.value
            if claimant == .impossibleOrder, case .noMatch? = error {
                continue
            }
            #expect(error == nil, "\(claimant)")
        }
        let claimants = [first, second]
        if claimants.contains(.download) || claimants.contains(.order) {
            try await expectTheNewAlone(fixture, besides: old)
        }
        let requests = try await fixture.origin.requests(for: "/film/master.m3u8")
        if !claimants.contains(.impossibleOrder) {
            #expect(requests.count == 1)
        }
        if claimants.contains(.order) {
            let heights = try fixture.download("film").renditions.map(\.name.id)
            #expect(heights.contains("video-90p") && heights.contains("video-180p"), "\(heights)")
        }
    }

    /// The downloads of the old content and of the new one, which is complete, and waits until nobody plays the old one.
    private func playedWithCompleteRevision() async throws -> (fixture: TestHouse, old: Download, new: Download) {
        let (fixture, _, download) = try await changed()
        let asset = download.asset
        try await fixture.origin.add(Self.lost)
        fixture.library.playheads.cursor(of: "a session", in: asset, "video-90p")?.served("0.ts")
        await fixture.downloader.resume(download)
        try await waitUntil("all of the new") {
            asset.revision.flatMap { fixture.downloader.download(of: $0) }?.state == .complete
        }
        let new = try #require(asset.revision.flatMap { fixture.downloader.download(of: $0) })
        return (fixture, download, new)
    }

    /// The old one's download comes to the new content late.
    @Test func aCompleteRevisionIsNotBegunAgain() async throws {
        let (fixture, download, new) = try await playedWithCompleteRevision()
        fixture.downloader.set(download, .running)
        let failure = JobFailure(code: .library(.otherContent), message: "other content")
        fixture.downloader.continueWithRevision(of: download, after: failure, orAgainAfter: nil)
        await download.step?.value
        #expect(download.state == .failed && new.state == .complete)
    }

    /// A command selects more.
    @Test func anOrderAddsToACompleteRevision() async throws {
        let (fixture, download, new) = try await playedWithCompleteRevision()
        #expect(new.renditions.map(\.name.id) == ["video-90p"])

        let order = DownloadOrder(Selection(quality: .height(180)))
        let joined = try await fixture.downloader.start(download.asset, order)
        #expect(joined === new && joined.otherContent != nil)
        try await waitUntil("both") { new.state == .complete }
        #expect(new.renditions.map(\.name.id).sorted() == ["video-180p", "video-90p"] && new.asset.isPlayableOffline)
        #expect(download.asset.revision === new.asset)
    }

    /// A download that was added to, while the new content was on its way in.
    @Test func whatIsAddedToTheOldIsFetchedOfTheNew() async throws {
        let (fixture, download) = try await changedSegments()
        let earlier = claim(.player, fixture, download)
        try await waitUntil("the request for the entry") { try await fixture.origin.load().paused == 1 }
        let item = try await fixture.downloader.item(
            Selection(quality: .height(180)), DownloadOrder(), of: download.asset)
        download.task.add(item)
        await fixture.downloader.resume(download)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        _ = await earlier.value
        try await expectTheNewAlone(fixture, besides: download.asset)
        let ids = try fixture.download("film").renditions.map(\.name.id)
        #expect(ids.contains("video-90p") && ids.contains("video-180p"), "\(ids)")
    }

    // MARK: Restarts

    @Test func aRevisionContinuesAfterAKill() async throws {
        let (fixture, _, download) = try await changed()
        let old = download.asset
        try await fixture.origin.add(
            Self.lost,
            OriginRule("/film/90p/5.ts") { $0.hold = true })
        await fixture.downloader.resume(download)
        try await waitUntil("most of the new") {
            old.revision.flatMap { fixture.downloader.download(of: $0) }.map { $0.progress.loaded.duration >= 10 }
                ?? false
        }
        try await fixture.restart()
        let restored = try asset(fixture)
        let revision = try #require(restored.revision)
        #expect(restored.id == old.id && revision.isRevision && revision.renditions.contains { $0.folder.bytes > 0 })
        #expect(fixture.downloader.download(of: restored)?.state == .failed)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        try await fixture.origin.clearRequests()
        fixture.downloader.resume()
        try await expectTheNewAlone(fixture, besides: restored)
        #expect(try asset(fixture).id == revision.id)
        let media = try await fixture.mediaRequests()
        #expect(media == ["/film/90p/5.ts"])
    }

    /// The state after a kill between the move of the old bundle and the update of the catalogue.
    @Test func aKillDuringTheReplacementLeavesTheRevision() async throws {
        let (fixture, _, download) = try await changed()
        let old = download.asset
        try await fixture.origin.add(Self.lost)
        let cursor = fixture.library.playheads.cursor(of: "a session", in: old, "video-90p")
        cursor?.served("0.ts")
        #expect(fixture.library.playheads.isPlayed(old.id))
        await fixture.downloader.resume(download)
        try await waitUntil("all of the new") {
            old.revision.flatMap { fixture.downloader.download(of: $0) }?.state == .complete
        }
        let revision = try #require(old.revision)
        #expect(try asset(fixture) === old, "somebody plays the old")
        try await waitUntil("the catalogue to know") {
            let copy = try TemporaryFolder()
            _ = try await ProcessRunner.run("cp", ["-a", fixture.folder.path + "/.", copy.path])
            return try BundleStore(path: copy.path).catalogue.initial.downloads.contains {
                $0.asset == revision.id && $0.state == "complete"
            }
        }
        try FileManager.default.moveItem(
            atPath: fixture.folder.path("assets/\(old.id)"), toPath: fixture.folder.path("tmp/\(old.id)"))
        try await fixture.restart()
        fixture.downloader.resume()
        try await expectTheNewAlone(fixture, besides: old)
        #expect(try asset(fixture).id == revision.id)
    }

    // MARK: User actions

    @Test func cancellingTheRevisionKeepsTheOldAsset() async throws {
        let (fixture, _, old, revision) = try await replacing()
        await fixture.downloader.cancel(try #require(fixture.downloader.download(of: revision)))
        #expect(try asset(fixture) === old && old.revision == nil && old.hasChanged)
        #expect(fixture.downloader.downloads.map(\.asset.id) == [old.id])
        try await expectLeft([old.id], fixture)
        try await fixture.restart()
        #expect(try asset(fixture).id == old.id && asset(fixture).revision == nil)
    }

    @Test func removalDeletesBothRevisions() async throws {
        let (fixture, _, old, _) = try await replacing()
        fixture.downloader.forget(old)
        _ = try await fixture.library.remove(old)
        #expect(fixture.downloader.downloads.isEmpty && fixture.library.assets.isEmpty)
        try await expectLeft([], fixture)
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
    }

    @Test func theDownloadFailsIfTheRevisionLacksTheSelection() async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder), .downloader())
        try await fixture.origin.add(OriginRule("/film/270p/[345].ts") { $0.hold = true })
        let download = try await fixture.start("/film/master.m3u8", Selection(quality: .height(270)))
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        await fixture.downloader.pause(download)
        try film.change(to: "aes")
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        await fixture.downloader.resume(download)
        try await fixture.reaches(.failed, "film")
        #expect(download.failure?.message.contains("270") ?? false, "\(String(describing: download.failure))")
        #expect(download.asset.revision == nil && download.asset.hasChanged)
        #expect(bundles(fixture) == [download.asset.id])
    }

    @Test func theOldRevisionStaysWithoutSpaceForBoth() async throws {
        let (fixture, _, download) = try await changed()
        try await fixture.restart(.reserve(.max / 2))
        let old = try asset(fixture)
        try await fixture.origin.add(Self.lost)
        await fixture.downloader.resume(try fixture.download("film"))
        try await waitUntil("an end") { try [.failed, .waiting].contains(fixture.download("film").state) }
        #expect(try asset(fixture) === old && old.revision == nil)
        #expect(bundles(fixture) == [download.asset.id])
    }
}
