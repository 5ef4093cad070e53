import EventLoop
import TestSupport
import Testing

@testable import Playheads

@LoopActor @Suite struct PlayheadTrackerTests {
    /// An asset with a main rendition of ten segments of 2 s, in files named by their numbers.
    private final class Film: PlayedAsset {
        final class Main: PlayedRendition {
            let id = "video"
            var isEncrypted = false
            func span(ofFile file: String) -> SegmentSpan? {
                Int(file).map { SegmentSpan(number: $0, start: Double($0) * 2, duration: 2) }
            }
        }

        let id = "film"
        let duration: Double? = 20
        var isRemoved = false
        let main = Main()

        func playedRendition(in folder: String) -> (rendition: any PlayedRendition, kind: MediaKind)? {
            folder == main.id ? (main, .main) : nil
        }
    }

    private final class Clock {
        var now = ContinuousClock.now
    }

    private let clock = Clock()
    private let tracker: PlayheadTracker
    private let film = Film()

    init() {
        tracker = PlayheadTracker { [clock] in clock.now }
    }

    private final class Reply: PieceDelivery {
        var isAnswered = false
        private(set) var looks = 0
        var deliveredShare: Double? {
            looks += 1
            return nil
        }
    }

    private func cursor(_ session: String = "s", of film: Film? = nil) throws -> RenditionCursor {
        try #require(tracker.cursor(of: session, in: film ?? self.film, "video"))
    }

    /// A player that is paused amid a segment reads the rest of it hours later. No download waits for that.
    @Test func aPieceThatHasArrivedIsNotAwaited() throws {
        let cursor = try cursor()
        var waits = 0
        let subscription = tracker.originWaits.subscribe { waits += 1 }
        defer { withExtendedLifetime(subscription) {} }
        cursor.beginWait(for: "0")
        cursor.beginWait(for: "1")
        cursor.pieceArrived()
        #expect(waits == 3 && tracker.demands(at: clock.now).waiting.count == 1)
        cursor.pieceArrived()
        #expect(waits == 4 && tracker.demands(at: clock.now).waiting.isEmpty)
        clock.now += .seconds(30)
        #expect(!tracker.demands(at: clock.now).isWatched)
        // The end of its reply ends no wait of another one, and it is delivered only now.
        cursor.beginWait(for: "2")
        #expect(tracker.reading(of: "s")?.front == 0)
        cursor.endWait(for: "0", bytes: 1000, isComplete: true, hasArrived: true)
        #expect(tracker.demands(at: clock.now).waiting.count == 1)
        #expect(tracker.reading(of: "s")?.front == 2)
    }

    @Test func contentWithoutAPlayheadHasNoCursor() {
        #expect(tracker.cursor(of: "s", in: film, "keys") == nil)
        #expect(!tracker.isPlayed("film") && !tracker.isAnyPlayed && tracker.downloadStart(for: "film") == nil)
    }

    @Test func storedPiecesAreExaminedLaterAndInOrder() throws {
        var seen: [String] = []
        let events = tracker.events.subscribe { event in
            seen.append("\(event.asset) \(event.rendition) \(event.span.number) \(event.change)")
        }
        let moves = tracker.moves.subscribe { seen.append("\($0.asset) \($0.cause)") }
        let cursor = try cursor()
        for number in [0, 1, 7] {
            cursor.served("\(number)")
        }
        #expect(seen.isEmpty)
        #expect(tracker.downloadStart(for: "film") == 16)
        #expect(
            seen == [
                "film video 0 requested(isSeek: false)", "film progress", "film video 0 delivered",
                "film video 1 requested(isSeek: false)", "film progress", "film video 1 delivered",
                "film video 7 requested(isSeek: true)", "film seek", "film video 7 delivered",
            ])
        withExtendedLifetime((events, moves)) {}
    }

    @Test func sessionBeginsAndEnds() throws {
        var seen: [String] = []
        let changes = tracker.sessionChanges.subscribe { seen.append("\($0)") }
        let moves = tracker.moves.subscribe { seen.append("\($0.cause)") }
        _ = try cursor("a")
        _ = try cursor("b")
        #expect(tracker.isPlayed("film") && tracker.isAnyPlayed && !tracker.isPlayed("other"))
        clock.now += .seconds(30)
        #expect(tracker.age(of: "a") == 30)
        tracker.forget("film")
        #expect(!tracker.isPlayed("film") && !tracker.hasSession("a"))
        let began = #"began(asset: "film")"#
        let ended = #"ended(asset: "film")"#
        #expect(seen == [began, began, ended, ended, "end"])
        withExtendedLifetime((changes, moves)) {}
    }

    @Test func idleSessionEndsUnlessItWaits() throws {
        let cursor = try cursor()
        cursor.beginWait(for: "0")
        clock.now += .seconds(600)
        #expect(tracker.isPlayed("film"))
        cursor.endWait(for: "0", bytes: 1000, isComplete: true)
        clock.now += .seconds(61)
        #expect(!tracker.isPlayed("film") && tracker.reading(of: "s") == nil)
    }

    @Test func waitsShowToTransfersThatYield() throws {
        var waits = 0
        let subscription = tracker.originWaits.subscribe { waits += 1 }
        let cursor = try cursor()
        #expect(!tracker.demands(at: clock.now).isWatched)
        cursor.beginWait(for: "0")
        #expect(waits == 1 && tracker.demands(at: clock.now).waiting.map(\.buffer) == [0])
        cursor.endWait(for: "0", bytes: 1000, isComplete: true)
        #expect(waits == 2 && tracker.demands(at: clock.now).waiting.isEmpty)
        #expect(tracker.demands(at: clock.now).isWatched)
        cursor.beginWait(for: "1")
        #expect(tracker.demands(at: clock.now).waiting.map(\.buffer) == [2])
        #expect(tracker.demands(at: clock.now).waiting.map(\.rate) == [500])
        withExtendedLifetime(subscription) {}
    }

    @Test func aConnectedSessionStaysAndOneWhosePlayerLeftEnds() throws {
        let cursor = try cursor()
        cursor.served("0")
        tracker.catchUp()
        tracker.setConnected("s", true)
        clock.now += .seconds(3600)
        #expect(tracker.isPlayed("film"))
        tracker.setConnected("s", false)
        #expect(!tracker.isPlayed("film"))
        tracker.setConnected("s", true)
        tracker.end("s")
        #expect(!tracker.hasSession("s") && !tracker.isPlayed("film"))
    }

    @Test func aReplyThatDoesNotBeginWithholdsTheSegmentBefore() async throws {
        for isEncrypted in [false, true] {
            film.main.isEncrypted = isEncrypted
            let session = "\(isEncrypted)"
            let cursor = try #require(
                tracker.cursor(of: session, in: film, "video", PlayerTraits(playsParts: true, resume: 1)))
            for number in 0..<3 {
                cursor.served("\(number)")
            }
            let reply = Reply()
            cursor.beginWait(for: "3", reply)
            clock.now += .seconds(2)
            #expect(tracker.reading(of: session)?.front == 6)
            try await waitUntil("a look at the reply") { reply.looks > 1 }
            #expect(tracker.reading(of: session)?.front == (isEncrypted ? 6 : 4))
            reply.isAnswered = true
            try await waitUntil("the begin of the reply") { tracker.reading(of: session)?.front == 6 }
            cursor.endWait(for: "3", isComplete: true)
            #expect(tracker.reading(of: session)?.front == 8)
        }
    }

    @Test func downloadStartsWhereTheSmallestBufferEnds() throws {
        let first = try cursor("a")
        let second = try cursor("b")
        for number in 0..<4 {
            first.served("\(number)")
        }
        second.served("0")
        #expect(tracker.downloadStart(for: "film") == 2)
        #expect(tracker.neededTimes(of: "film").sorted() == [0, 0, 2, 8])
        for number in 1..<10 {
            second.served("\(number)")
        }
        // The second session has requested all of the film.
        #expect(tracker.downloadStart(for: "film") == 8)
    }

    @Test func sessionsOfARemovedAssetDoNotCountForItsSuccessor() throws {
        let old = try cursor("a")
        old.beginWait(for: "0")
        tracker.forget("film")
        film.isRemoved = true
        old.endWait(for: "0", isComplete: true)
        #expect(tracker.hasSession("a") && !tracker.isPlayed("film") && tracker.isAnyPlayed)
        let successor = Film()
        _ = try cursor("b", of: successor)
        #expect(tracker.isPlayed("film"))
    }
}
