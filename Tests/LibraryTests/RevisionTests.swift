import EventLoop
import Foundation
import HTTPMessage
import Playheads
import Playlist
import TestSupport
import Testing

@testable import Fetching
@testable import Library

/// Playback if the origin's content differs from the stored revision.
@Suite @LoopActor struct RevisionTests {
    /// An asset with its first piece.
    private func stored() async throws -> (ChangingFilm, LibraryFixture, Asset) {
        let film = try ChangingFilm("ts")
        let fixture = try await LibraryFixture(root: film.folder)
        let asset = try await fixture.open("/film/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
        return (film, fixture, asset)
    }

    /// An asset with a piece that its origin no longer has.
    private func changed() async throws -> (LibraryFixture, Asset) {
        let (film, fixture, asset) = try await stored()
        try film.change(to: "cmaf")
        asset.checked = nil
        #expect(try await fixture.library.playlists.refresh(asset))
        #expect(asset.hasChanged)
        return (fixture, asset)
    }

    @Test func n12OtherSegmentsUnderTheSamePlaylistsAreNoticedAndNeverMixed() async throws {
        let (film, fixture, asset) = try await stored()
        try await fixture.origin.clearRequests()
        await fixture.library.revisions.check(asset)
        #expect(!asset.hasChanged)
        let probes = try await fixture.origin.requests(for: "/film/90p/0.ts")
        #expect(probes.map(\.range) == ["bytes=0-4095"])

        try FileDamage.flipBit(of: film.root + "/film/90p/0.ts", at: 600)
        // The origin's validators have whole seconds, and both contents may be of one second.
        let later = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 10)]
        try FileManager.default.setAttributes(later, ofItemAtPath: film.root + "/film/90p/0.ts")
        var told: [String] = []
        let subscription = fixture.library.events.subscribe {
            if case .assetChanged(let asset) = $0 { told.append(asset.name) }
        }
        defer { subscription.cancel() }
        await fixture.library.revisions.check(asset)
        #expect(asset.hasChanged && told == ["film"])
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(await code { _ = try fixture.fetch(1, of: rendition, in: asset) } == .otherContent)
        let current = await fixture.library.revisions.current(asset)
        #expect(current !== asset && asset.isRemoved && current.bytes == 0)
    }

    @Test func n12AComparisonIsConditionalWhereTheOriginHasValidators() async throws {
        let (_, fixture, asset) = try await stored()
        try await fixture.origin.add(OriginRule("/film/90p/0.ts") { $0.etag = "one" })
        #expect(await fixture.library.revisions.check(asset))
        try await fixture.origin.clearRules()
        try await fixture.origin.add(OriginRule("/film/90p/0.ts") { $0.status = 304 })
        try await fixture.origin.clearRequests()
        #expect(await fixture.library.revisions.check(asset))
        let request = try #require(try await fixture.origin.requests(for: "/film/90p/0.ts").first)
        #expect(request.headers["if-none-match"] == "\"one\"" && request.isComparison)
        #expect(!asset.hasChanged)
    }

    /// The one asset after a restart of the daemon, with a player that is about to get more of it.
    private func reopened(_ fixture: LibraryFixture) async throws -> Asset {
        try await fixture.restart()
        try await fixture.origin.clearRequests()
        return try #require(fixture.library.assets.first)
    }

    @Test func n12OneRequestComparesBeforeMoreIsFetchedAfterAStart() async throws {
        let (_, fixture, _) = try await stored()
        let asset = try await reopened(fixture)
        for _ in 0..<3 { await fixture.library.revisions.checkBeforeFetching(into: asset) }
        let requests = try await fixture.origin.requests()
        #expect(requests.map(\.path) == ["/film/90p/0.ts"] && requests.allSatisfy(\.isComparison))
        #expect(!asset.hasChanged)
    }

    @Test func w8NothingIsFetchedIntoAnAssetThatHasChangedSinceTheStart() async throws {
        let (film, fixture, _) = try await stored()
        try FileDamage.flipBit(of: film.root + "/film/90p/0.ts", at: 600)
        let asset = try await reopened(fixture)
        var told: [String] = []
        let subscription = fixture.library.events.subscribe {
            if case .contentChanged(let asset) = $0 { told.append(asset.name) }
        }
        defer { subscription.cancel() }
        await fixture.library.revisions.checkBeforeFetching(into: asset)
        #expect(asset.hasChanged && told == ["film"])
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(await code { _ = try fixture.fetch(1, of: rendition, in: asset) } == .otherContent)
    }

    /// Changes all segments of the lowest quality under their URLs, as of ten seconds from now.
    private func changeSegments(_ film: ChangingFilm) throws {
        for number in 0..<6 {
            let path = film.root + "/film/90p/\(number).ts"
            try FileDamage.flipBit(of: path, at: 600)
            let later = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 10)]
            try FileManager.default.setAttributes(later, ofItemAtPath: path)
        }
    }

    private func store(_ numbers: Range<Int>, of asset: Asset, _ fixture: LibraryFixture) async throws {
        let rendition = try await fixture.rendition("video-90p", of: asset)
        for number in numbers {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            try await fetch.end()
            fetch.release()
        }
    }

    @Test func n12AChangeInTheMiddleOfASessionIsSeenByTheTimesOfTheOriginAndNothingNewStays() async throws {
        let (film, fixture, asset) = try await stored()
        let sent = HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)).description
        try await fixture.origin.add(OriginRule("*.ts") { $0.headers = ["Date": sent] })
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await store(1..<3, of: asset, fixture)
        #expect(!asset.hasChanged && rendition.folder.sizes.count == 3)
        try await fixture.origin.clearRequests()
        try changeSegments(film)
        try await store(3..<4, of: asset, fixture)
        try await waitUntil("the new piece to be gone") { asset.hasChanged && rendition.folder.sizes["3.ts"] == nil }
        #expect(rendition.folder.sizes.keys.sorted() == ["0.ts", "1.ts", "2.ts"])
        let code = await code { _ = try fixture.fetch(4, of: rendition, in: asset) }
        #expect(code == .otherContent)
    }

    @Test func n12AChangeWithoutAnyTimesIsSeenAtTheEnd() async throws {
        let (film, fixture, asset) = try await stored()
        try await fixture.origin.add(OriginRule("*.ts") { $0.noValidators = true })
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await store(1..<2, of: asset, fixture)
        try changeSegments(film)
        try await store(2..<5, of: asset, fixture)
        #expect(!asset.hasChanged && !fixture.library.revisions.isCheckDueAtEnd(of: asset))
        // As some time later.
        fixture.library.revisionChecks.reset()
        #expect(fixture.library.revisions.isCheckDueAtEnd(of: asset))
        await fixture.library.revisions.checkAtEnd(of: asset)
        #expect(asset.hasChanged && rendition.folder.sizes.keys.sorted() == ["0.ts", "1.ts"])
    }

    @Test func n12AChangeThatAnEndedProcessDidNotNoticeIsSeenByTheNextAndNothingNewStays() async throws {
        let (film, fixture, before) = try await stored()
        try await fixture.origin.add(OriginRule("*.ts") { $0.noValidators = true })
        try await store(1..<3, of: before, fixture)
        try changeSegments(film)
        try await store(3..<5, of: before, fixture)
        let asset = try await reopened(fixture)
        await fixture.library.revisions.checkBeforeFetching(into: asset)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(asset.hasChanged && rendition.folder.sizes.keys.sorted() == ["0.ts", "1.ts", "2.ts"])
        #expect(try await fixture.origin.requests().filter { $0.path.hasSuffix(".ts") }.allSatisfy(\.isComparison))
    }

    @Test func n12APieceOfAnEndedProcessStaysIfTheOriginDoesNotShowThatItIsNew() async throws {
        let (film, fixture, before) = try await stored()
        try await store(1..<5, of: before, fixture)
        try changeSegments(film)
        try await fixture.origin.add(OriginRule("/film/90p/2.ts") { $0.status = 404 })
        let asset = try await reopened(fixture)
        await fixture.library.revisions.checkBeforeFetching(into: asset)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(asset.hasChanged && rendition.folder.sizes.count == 5)
    }

    @Test func aCompleteRenditionIsComparedWithNothing() async throws {
        let (_, fixture, stored) = try await stored()
        try await fixture.fetch("video-90p", of: stored)
        let asset = try await reopened(fixture)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(rendition.isComplete && !fixture.library.revisions.mayCheckBeforePlaying(rendition, of: asset))
        await fixture.library.revisions.checkBeforePlaying(rendition, of: asset)
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func anUnusedAssetIsReplacedAtOnce() async throws {
        let (fixture, asset) = try await changed()
        let current = await fixture.library.revisions.current(asset)
        #expect(current !== asset && asset.isRemoved && !current.hasChanged && !current.isRevision)
        #expect(fixture.library.assets.map(\.id) == [current.id] && current.name == asset.name)
        #expect(fixture.library.asset(at: asset.origin) === current)
        #expect(current.multivariant?.media.isEmpty == false)
        // The revision is recorded like any new asset, with its first stored resource.
        try await fixture.fetch("subtitles-en", of: current)
        try await fixture.restart()
        #expect(fixture.library.assets.map(\.id) == [current.id])
    }

    @Test func aDownloadedOrPlayingAssetStays() async throws {
        let (fixture, asset) = try await changed()
        let downloads = DownloadStub()
        downloads.kept = asset
        fixture.library.attach(downloads)
        #expect(await fixture.library.revisions.current(asset) === asset)
        downloads.kept = nil
        let cursor = fixture.library.playheads.cursor(of: "a session", in: asset, "video-90p")
        cursor?.served("0.ts")
        #expect(await fixture.library.revisions.current(asset) === asset && asset.revision == nil)
    }

    @Test func theOldRevisionStaysWhileTheOriginIsAbsent() async throws {
        let (fixture, asset) = try await changed()
        try await fixture.origin.stop()
        #expect(await fixture.library.revisions.current(asset) === asset && asset.revision == nil && !asset.isRemoved)
        #expect(fixture.library.assets.map(\.id) == [asset.id])
    }

    /// Title, image and header fields belong to the user.
    @Test func keepsTheUsersFields() async throws {
        let (fixture, asset) = try await changed()
        await fixture.library.entitle(asset, "A title")
        let image = try #require(Artwork([0xFF, 0xD8, 0xFF, 1, 2]))
        try fixture.library.artwork.keep(image, of: asset)
        let current = await fixture.library.revisions.current(asset)
        #expect(current !== asset && current.title == "A title")
        #expect(fixture.library.artwork.image(of: current) == image)
        #expect(current.access === asset.access)
    }

    @Test func anAssetHasOneRevisionAtATime() async throws {
        let (fixture, asset) = try await changed()
        let revision = try await fixture.library.revisions.revise(asset)
        #expect(await code { _ = try await fixture.library.revisions.revise(asset) } == .urlTaken)
        #expect(await code { _ = try await fixture.library.revisions.revise(revision) } == .otherContent)
        #expect(
            await code { try await fixture.library.relocation.follow(asset, to: fixture.url("/film/master.m3u8?new")) }
                == .otherContent)
        await fixture.library.revisions.abandon(revision)
        #expect(asset.revision == nil && fixture.library.asset(id: revision.id) == nil)
    }

    /// A signed link to the new content has expired meanwhile.
    @Test func aNewURLAppliesToTheAssetAndItsRevision() async throws {
        let (fixture, asset) = try await changed()
        let revision = try await fixture.library.revisions.revise(asset)
        try await fixture.fetch("subtitles-en", of: revision)
        let url = try fixture.url("/film/master.m3u8?new")
        try await fixture.library.relocation.follow(revision, to: url)
        #expect(revision.origin == url && asset.origin == url)
        #expect(fixture.library.asset(at: url) === asset)
        try await fixture.restart()
        let restored = try #require(fixture.library.assets.first)
        #expect(restored.origin == url && restored.revision?.origin == url && restored.revision?.bytes ?? 0 > 0)
    }
}
