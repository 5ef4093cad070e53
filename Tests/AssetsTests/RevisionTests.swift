import EventLoop
import Extras
import Foundation
import HLS
import HTTPMessage
import Integrity
import Orders
import Origin
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Playback if the origin's content differs from the stored revision.
@Suite @LoopActor struct RevisionTests {
    /// An asset with its first piece.
    private func stored(
        _ clock: TestClock = TestClock(isRunning: true)
    ) async throws -> (ChangingFilm, TestHouse, Asset) {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder), .clock(clock))
        let asset = try await fixture.open("/film/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
        return (film, fixture, asset)
    }

    /// An asset with a piece that its origin no longer has.
    private func changed() async throws -> (TestHouse, Asset) {
        let (film, fixture, asset) = try await stored()
        try film.change(to: "cmaf")
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
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
        // Of qualities of which nothing is stored, nothing can differ.
        let lists = try await fixture.origin.requests().map(\.path).filter { $0.hasSuffix("/media.m3u8") }
        #expect(lists == ["/film/90p/media.m3u8"])

        try FileDamage.flipBit(of: film.root + "/film/90p/0.ts", at: 600)
        // The origin's validators have whole seconds, and both contents may be of one second.
        let later = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 10)]
        try FileManager.default.setAttributes(later, ofItemAtPath: film.root + "/film/90p/0.ts")
        var told: [String] = []
        let subscription = fixture.library.events.subscribe {
            if case .assetChanged(let asset) = $0 {
                told.append(asset.name)
            }
        }
        defer { subscription.cancel() }
        await fixture.library.revisions.check(asset)
        #expect(asset.hasChanged && told == ["film"])
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(await code { _ = try fixture.fetch(1, of: rendition, in: asset) } == .otherContent)
        let current = await fixture.library.revisions.current(asset)
        #expect(current !== asset && asset.isRemoved && current.bytes == 0)
    }

    @Test func s31APieceThatAnotherProgramHasChangedIsNoProofOfOtherContent() async throws {
        let (_, fixture, asset) = try await stored()
        await fixture.flush()
        try await DiskTick.pass(in: fixture.folder)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try FileDamage.flipBit(of: fixture.folder.path("assets/\(asset.id)/video-90p/0.ts"), at: 600)
        // With the former entity tag it would say that it has not changed, without a byte.
        try await fixture.origin.add(OriginRule("/film/90p/0.ts") { $0.etag = "other" })
        await fixture.library.revisions.check(asset)
        #expect(!asset.hasChanged && asset.revision == nil)
        #expect(!rendition.folder.contains("0.ts"), "it is set aside, and fetched again")
    }

    @Test func n12AComparisonIsConditionalWhereTheOriginHasValidators() async throws {
        let (_, fixture, asset) = try await stored()
        try await fixture.origin.add(OriginRule("/film/90p/0.ts") { $0.etag = "one" })
        #expect(await fixture.library.revisions.check(asset))
        try await fixture.origin.replaceRules(with: OriginRule("/film/90p/0.ts") { $0.status = 304 })
        try await fixture.origin.clearRequests()
        #expect(await fixture.library.revisions.check(asset))
        let request = try #require(try await fixture.origin.requests(for: "/film/90p/0.ts").first)
        #expect(request.headers["if-none-match"] == "\"one\"" && request.isComparison)
        #expect(!asset.hasChanged)
    }

    /// The one asset after a restart of the daemon, with a player that is about to get more of it.
    private func reopened(_ fixture: TestHouse) async throws -> Asset {
        try await fixture.restart()
        try await fixture.origin.clearRequests()
        return try #require(fixture.library.assets.first)
    }

    @Test func n12OneRequestComparesBeforeMoreIsFetchedAfterAStart() async throws {
        let (_, fixture, _) = try await stored()
        let asset = try await reopened(fixture)
        for _ in 0..<3 {
            await fixture.library.revisions.checkBeforeFetching(into: asset)
        }
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
            if case .contentChanged(let asset) = $0 {
                told.append(asset.name)
            }
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

    private func store(_ numbers: Range<Int>, of asset: Asset, _ fixture: TestHouse) async throws {
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

    /// The validators that an origin sends with its segments.
    enum Validators: String, CaseIterable { case strong, weak, none }

    /// From now on the origin sends these validators, and no times of modification.
    private func give(_ validators: Validators, content: Int, _ fixture: TestHouse) async throws {
        try await fixture.origin.replaceRules(
            with: OriginRule("*.[tm]*s") { rule in
                rule.noValidators = true
                switch validators {
                case .strong:
                    rule.etag = "\(content)"
                    rule.headers = ["ETag": "\"\(content)\""]
                case .weak: rule.headers = ["ETag": "W/\"same\""]
                case .none: break
                }
            })
    }

    private func segments(_ rendition: Rendition) -> [String] {
        rendition.folder.sizes.keys.filter { !$0.hasPrefix("init") }.sorted()
    }

    @Test("W8: a change within the first segments", arguments: Validators.allCases, [1, 3])
    func aChangeWithinTheFirstSegmentsIsSeenWhenTheRenditionIsComplete(
        _ validators: Validators, _ count: Int
    ) async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder))
        try await give(validators, content: 1, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<count, of: asset, fixture)
        try changeSegments(film)
        try await give(validators, content: 2, fixture)
        try await store(count..<6, of: asset, fixture)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await waitUntil("the new pieces to be gone") { asset.hasChanged && segments(rendition).count == count }
        #expect(segments(rendition) == (0..<count).map { "\($0).ts" })
        #expect(await code { _ = try fixture.fetch(count, of: rendition, in: asset) } == .otherContent)
    }

    @Test("W8: a session that ends early leaves no new piece", arguments: Validators.allCases)
    func aSessionThatEndsEarlyLeavesNoNewPiece(_ validators: Validators) async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder))
        try await give(validators, content: 1, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<1, of: asset, fixture)
        try changeSegments(film)
        try await give(validators, content: 2, fixture)
        try await store(1..<4, of: asset, fixture)
        await fixture.library.revisions.sessionEnded(of: asset)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(asset.hasChanged && segments(rendition) == ["0.ts"])
    }

    @Test func w8AVerificationFindsWhatIsOfTwoContents() async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder))
        try await give(.none, content: 1, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<1, of: asset, fixture)
        try changeSegments(film)
        try await store(1..<4, of: asset, fixture)
        let integrity = fixture.integrity
        let job = try integrity.start(asset, isRepair: false)
        try await waitUntil("the end") { job.state.isFinal }
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(asset.hasChanged && segments(rendition) == ["0.ts"])
    }

    @Test func w8AStrongTagShowsOtherContentBehindEqualFirstBytes() async throws {
        let film = try ChangingFilm("ts")
        let fixture = try await TestHouse(.origin(film.folder))
        try await give(.strong, content: 1, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<1, of: asset, fixture)
        try await give(.strong, content: 2, fixture)
        #expect(await fixture.library.revisions.check(asset))
        #expect(!asset.hasChanged, "servers of one origin may give other tags to equal bytes")
        let path = film.root + "/film/90p/0.ts"
        try FileDamage.flipBit(of: path, at: Data(contentsOf: URL(fileURLWithPath: path)).count - 100)
        try await give(.strong, content: 3, fixture)
        #expect(await fixture.library.revisions.check(asset))
        #expect(asset.hasChanged)
    }

    @Test("W8: the sound alone changes", arguments: Validators.allCases)
    func aSoundThatChangesAloneIsSeen(_ validators: Validators) async throws {
        let film = try ChangingFilm("cmaf")
        let fixture = try await TestHouse(.origin(film.folder))
        try await give(validators, content: 1, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        let sound = try await fixture.rendition("audio-en", of: asset)
        func store(_ numbers: Range<Int>) async throws {
            for number in numbers {
                let fetch = try fixture.fetch(number, of: sound, in: asset)
                try await fetch.end()
                fetch.release()
            }
        }
        try await waitUntil("a comparison") { !fixture.library.revisionChecks.hasUncompared(asset) }
        let map = try #require(sound.preliminaries.first)
        let fetch = try fixture.library.fetch(map.resource, in: map.folder, of: asset, urgency: .background)
        try await fetch.end()
        fetch.release()
        try await store(0..<3)
        for number in 0..<7 {
            try FileDamage.flipBit(of: film.root + "/film/audio-en/\(number).m4s", at: 200)
        }
        try await give(validators, content: 2, fixture)
        try await store(3..<7)
        try await waitUntil("the new pieces to be gone") { asset.hasChanged && segments(sound).count == 3 }
        #expect(segments(sound) == ["0.m4s", "1.m4s", "2.m4s"])
        let picture = try await fixture.rendition("video-90p", of: asset)
        #expect(picture.isComplete, "it was compared before the change")
    }

    @Test func w8CiphertextUnderTheSameNamesIsOtherContent() async throws {
        let (film, fixture, _) = try await stored()
        for number in 0..<6 {
            let path = film.root + "/film/90p/\(number).ts"
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(
                atPath: Repository.path("fixtures/media/aes/90p/\(number).ts"), toPath: path)
        }
        let asset = try await reopened(fixture)
        await fixture.library.revisions.checkBeforeFetching(into: asset)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        #expect(asset.hasChanged && segments(rendition) == ["0.ts"])
        #expect(await code { _ = try fixture.fetch(1, of: rendition, in: asset) } == .otherContent)
    }

    // MARK: One look

    /// A change at the origin after a piece was stored, and the result of a look at it.
    struct LookCase: CustomTestStringConvertible {
        enum Change {
            case none
            case firstBytes
            case length
        }

        let testDescription: String
        let change: Change
        let rules: [OriginRule]
        let isKnown: Bool
        let hasChanged: Bool

        init(_ name: String, _ change: Change, _ rules: OriginRule..., isKnown: Bool = true, hasChanged: Bool) {
            testDescription = name
            self.change = change
            self.rules = rules
            self.isKnown = isKnown
            self.hasChanged = hasChanged
        }
    }

    nonisolated private static let segment = "/film/90p/0.ts"
    nonisolated private static let bare = OriginRule("*.ts") { $0.noValidators = true }
    nonisolated private static let whole = OriginRule("*.ts") { ($0.noRanges, $0.noValidators) = (true, true) }
    nonisolated private static let chunks = OriginRule("*.ts") {
        ($0.noRanges, $0.noValidators, $0.chunked) = (true, true, true)
    }
    nonisolated private static let wrongLength = OriginRule("*.ts") {
        ($0.noRanges, $0.noValidators, $0.contentLength) = (true, true, 20_000)
    }
    nonisolated private static let weak = OriginRule("*.ts") {
        ($0.noValidators, $0.headers) = (true, ["ETag": "W/\"same\""])
    }

    /// The first reply to a request for the piece has another body than the second.
    nonisolated private static func reply(_ text: String) -> OriginRule {
        let body = OriginRule.media(text) + String(repeating: text, count: 3_000)
        return OriginRule(segment) { ($0.times, $0.status, $0.body) = (1, 200, body) }
    }

    nonisolated private static let looks = [
        LookCase("nothing changes", .none, hasChanged: false),
        LookCase("nothing changes, no validators", .none, bare, hasChanged: false),
        LookCase("nothing changes, no ranges", .none, whole, hasChanged: false),
        LookCase("nothing changes, chunks and no ranges", .none, chunks, hasChanged: false),
        LookCase("nothing changes, a wrong length and no ranges", .none, wrongLength, hasChanged: false),
        LookCase("other bytes", .firstBytes, hasChanged: true),
        LookCase("other bytes, no validators", .firstBytes, bare, hasChanged: true),
        LookCase("other bytes, a weak tag that stays", .firstBytes, weak, hasChanged: true),
        LookCase("other bytes, no ranges", .firstBytes, whole, hasChanged: true),
        LookCase("another length, no validators", .length, bare, hasChanged: true),
        LookCase("another length, no ranges", .length, whole, hasChanged: true),
        LookCase("each reply is made anew", .none, reply("one"), reply("two"), isKnown: false, hasChanged: false),
        LookCase("a page", .none, OriginRule(segment) { $0.html = true }, isKnown: false, hasChanged: false),
        LookCase("a refusal", .none, OriginRule(segment) { $0.status = 403 }, isKnown: false, hasChanged: false),
    ]

    @Test("N12, W8: what a look shows", arguments: looks)
    func aLookShowsWhatIsProven(_ look: LookCase) async throws {
        let (film, fixture, asset) = try await stored()
        for rule in look.rules {
            try await fixture.origin.add(rule)
        }
        switch look.change {
        case .none: break
        case .firstBytes: try changeSegments(film)
        case .length:
            let path = film.root + Self.segment
            let packet = [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: 184)
            try (Data(contentsOf: URL(fileURLWithPath: path)) + packet).write(to: URL(fileURLWithPath: path))
        }
        #expect(await fixture.library.revisions.check(asset) == look.isKnown)
        #expect(asset.hasChanged == look.hasChanged)
    }

    /// The facts that an origin states with its segments, and the requests that compare an unchanged one.
    struct CostCase: CustomTestStringConvertible {
        let testDescription: String
        let rule: OriginRule
        let isConditional: Bool
        /// The bytes of the reply's body; nil for a whole segment.
        let bytes: Int?
        /// True if the comparison is repeated each minute while more is fetched.
        var isRepeated: Bool { bytes != nil }
    }

    nonisolated private static let costs = [
        CostCase(
            testDescription: "ranges and a tag", rule: OriginRule("*.ts") { $0.etag = "one" }, isConditional: true,
            bytes: 0),
        CostCase(
            testDescription: "a tag, no ranges",
            rule: OriginRule("*.ts") { rule in
                rule.noRanges = true
                rule.etag = "one"
            },
            isConditional: true, bytes: 0),
        CostCase(testDescription: "ranges alone", rule: bare, isConditional: false, bytes: 4096),
        CostCase(testDescription: "neither", rule: whole, isConditional: false, bytes: nil),
    ]

    @Test("an unchanged piece costs no body where the origin states a strong tag", arguments: costs)
    func aLookCostsLittle(_ cost: CostCase) async throws {
        let film = try ChangingFilm("ts")
        let clock = TestClock(isRunning: true)
        let fixture = try await TestHouse(.origin(film.folder), .clock(clock))
        try await fixture.origin.add(cost.rule)
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<3, of: asset, fixture)
        // The first one is for a piece that was not compared before.
        for round in 0..<3 {
            try await fixture.origin.clearRequests()
            clock.advance(by: 61)
            await fixture.library.revisions.checkBeforeFetching(into: asset)
            let requests = try await fixture.origin.requests().filter { $0.path.hasSuffix(".ts") }
            guard cost.isRepeated || round == 0 else {
                #expect(requests.isEmpty, "\(round) \(requests)")
                continue
            }
            #expect(requests.count == 1, "\(round) \(requests)")
            let request = try #require(requests.first)
            #expect((request.headers["if-none-match"] != nil) == cost.isConditional, "\(round)")
            if let bytes = cost.bytes {
                #expect(request.bytes == bytes, "\(round)")
            }
        }
        #expect(!asset.hasChanged)

        // The user begins a session: that is worth a part of a segment.
        try await fixture.origin.clearRequests()
        await fixture.library.revisions.checkBeforeFetching(into: asset, isStart: true)
        #expect(try await fixture.origin.requests().filter { $0.path.hasSuffix(".ts") }.count == 1)
    }

    /// Players open a playlist several times; the origin may have needed seconds for the first comparison.
    @Test func theNextStartIsComparedTwoSecondsAfterTheEndOfTheLastComparison() async throws {
        let clock = TestClock(isRunning: true)
        let (_, fixture, asset) = try await stored(clock)
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        try await fixture.origin.clearRequests()
        let revisions = fixture.library.revisions
        async let first: Void = revisions.checkBeforeFetching(into: asset, isStart: true)
        try await waitUntil("the comparison") { try await fixture.origin.load().paused > 0 }
        clock.advance(by: 3)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        await first
        await revisions.checkBeforeFetching(into: asset, isStart: true)
        #expect(try await fixture.origin.requests(for: Self.segment).count == 1)
        clock.advance(by: 3)
        await revisions.checkBeforeFetching(into: asset, isStart: true)
        #expect(try await fixture.origin.requests(for: Self.segment).count == 2)
    }

    /// A player waits no longer for a comparison than the limit, whatever the origin does.
    @Test func aComparisonThatIsWaitedForEnds() async throws {
        let film = try ChangingFilm("ts")
        let clock = TestClock(isRunning: true)
        let fixture = try await TestHouse(
            .origin(film.folder), .clock(clock), .giveUpRule { $0.comparisonLimitWhileAwaited = .milliseconds(50) })
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<1, of: asset, fixture)
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        clock.advance(by: 61)
        await fixture.library.revisions.checkBeforeFetching(into: asset)
        #expect(!asset.hasChanged && fixture.library.revisionChecks.hasUncompared(asset))
    }

    @Test func w8AKeyThatChangesUnderItsURLIsThatOfTheNewContentAlone() async throws {
        let film = try ChangingFilm("aes")
        let fixture = try await TestHouse(.origin(film.folder))
        let asset = try await fixture.open("/film/master.m3u8")
        try await store(0..<2, of: asset, fixture)
        let old = try await key(of: asset, fixture)

        // Ciphertext of another key differs from its first block on.
        try changeSegments(film)
        let path = film.root + "/film/keys/0.key"
        try FileDamage.flipBit(of: path, at: 3)
        await fixture.library.revisions.checkBeforeFetching(into: asset, isStart: true)
        #expect(asset.hasChanged)
        #expect(try await key(of: asset, fixture) == old)

        let current = await fixture.library.revisions.current(asset)
        #expect(current !== asset)
        let new = try await key(of: current, fixture)
        #expect(new == [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) && new != old)
    }

    /// The stored key of the lowest quality, fetched if it is missing.
    private func key(of asset: Asset, _ fixture: TestHouse) async throws -> [UInt8] {
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let (folder, resource) = try #require(
            rendition.preliminaries.first { $0.resource.name.description.hasSuffix(".key") })
        if !folder.contains(resource.name.description) {
            let fetch = try fixture.library.fetch(resource, in: folder, of: asset, urgency: .background)
            try await fetch.end()
            fetch.release()
        }
        return folder.beginning(of: resource.name.description, count: 16)
    }

    @Test func w8OneLookAtEachRenditionBeforeMoreIsFetched() async throws {
        let film = try ChangingFilm("cmaf")
        let fixture = try await TestHouse(.origin(film.folder))
        let before = try await fixture.open("/film/master.m3u8")
        for id in ["video-90p", "audio-en"] {
            let rendition = try await fixture.rendition(id, of: before)
            for number in 0..<3 {
                let fetch = try fixture.fetch(number, of: rendition, in: before)
                try await fetch.end()
                fetch.release()
            }
        }
        let asset = try await reopened(fixture)
        for _ in 0..<3 {
            await fixture.library.revisions.checkBeforeFetching(into: asset)
        }
        let requests = try await fixture.origin.requests()
        #expect(requests.count == 2 && requests.allSatisfy(\.isComparison))
        #expect(Set(requests.map { $0.path.split(separator: "/")[1] }) == ["video-90p", "audio-en"])
    }

    @Test func w8APartOfAFileOfAnotherVersionIsCompared() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.noValidators, $0.headers) = (true, ["ETag": "\"1\""]) })
        let asset = try await fixture.open("/byterange-ts/90p/media.m3u8")
        let rendition = try #require(asset.renditions.first)
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        let first = try fixture.fetch(0, of: rendition, in: asset)
        try await first.end()
        first.release()
        try await fixture.origin.replaceRules(
            with: OriginRule("*.ts") { ($0.noValidators, $0.headers) = (true, ["ETag": "\"2\""]) })
        let second = try fixture.fetch(1, of: rendition, in: asset)
        try await second.announced()
        #expect(fixture.library.revisions.isSuspect(second, of: asset))
        try await second.end()
        second.release()
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
        #expect(rendition.isComplete)
        fixture.library.revisions.beginCheck(beforePlaying: rendition, of: asset)
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
        await fixture.library.setTitle("A title", of: asset)
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
        #expect(try await fixture.library.revisions.revise(asset) === revision)
        #expect(await code { _ = try await fixture.library.revisions.revise(revision) } == .otherContent)
        #expect(
            await code { try await fixture.library.relocation.follow(asset, to: fixture.url("/film/master.m3u8?new")) }
                == .otherContent)
        await fixture.library.revisions.abandon(revision)
        #expect(asset.revision == nil && fixture.library.asset(id: revision.id) == nil)

        try await fixture.origin.clearRequests()
        async let first = fixture.library.revisions.revise(asset)
        async let second = fixture.library.revisions.revise(asset)
        let both = try await [first, second]
        #expect(both[0] === both[1] && asset.revision === both[0])
        #expect(try await fixture.origin.requests(for: "/film/master.m3u8").count == 1)
    }

    /// The catalogue would take the row of the abandoned revision for that of the next one.
    @Test func theNextRevisionWaitsForTheRemovalOfTheAbandonedOne() async throws {
        let (fixture, asset) = try await changed()
        let (stream, end) = AsyncStream<Void>.makeStream()
        let removals = fixture.library.revisionChecks.removals
        let removal = Task { @LoopActor in
            await removals.run(ObjectIdentifier(asset)) {
                for await _ in stream {}
            }
        }
        try await waitUntil("the removal") { removals.isRunning(ObjectIdentifier(asset)) }
        try await fixture.origin.clearRequests()
        let creation = Task { @LoopActor in try await fixture.library.revisions.revise(asset) }
        try await waitUntil("the entry") {
            try await fixture.origin.requests(for: "/film/master.m3u8").contains { $0.state == "done" }
        }
        for _ in 0..<50 {
            await Task.yield()
        }
        #expect(asset.revision == nil)

        end.finish()
        await removal.value
        let revision = try await creation.value
        #expect(asset.revision === revision)
        try await fixture.fetch("subtitles-en", of: revision)
        #expect(revision.isPersistent)
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
