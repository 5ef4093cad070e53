import Dispatch
import EventLoop
import HTTPMessage
import HTTPServer
import Playlist
import Testing

@testable import Playback

@LoopActor @Suite struct SharedTextsTests {
    private static func playlist(_ session: Session, segments: Int = 10_000) -> [UInt8] {
        let lines = (0..<segments).map { "#EXTINF:4,\n/a/film/\(session.id)/video/\($0).ts\n" }
        return Array("#EXTM3U\n".utf8) + Array(lines.joined().utf8)
    }

    private static func sent(_ text: SharedText, _ session: Session) throws -> any RenderedBody {
        guard case .rendered(let rendered) = text.body(for: session) else { throw Missing() }
        return rendered
    }

    private struct Missing: Error {}

    private final class Client: TextClient {
        var isOpen = true
    }

    private final class Owner: Sendable {}

    @Test func theTextsOfAllSessionsAreKeptOnce() throws {
        let texts = SharedTexts()
        let sessions = (0..<8).map { _ in Session(.auto) }
        let bodies = try sessions.map { try Self.sent(texts.text(Self.playlist($0), for: $0), $0) }
        #expect(texts.count == 1)
        for (session, body) in zip(sessions, bodies) {
            let text = Self.playlist(session)
            #expect(body.count == text.count && body.bytes(in: 0..<text.count) == text)
        }
    }

    /// A client may choose its id.
    @Test func anIdThatIsAlsoAFolderIsReplacedInItsPlaceOnly() throws {
        let texts = SharedTexts()
        let chosen = try #require(Session(id: "audio1"))
        let text = { (session: Session) in
            let lines = (0..<10_000).map { "#EXTINF:4,\n/a/film/\(session.id)/audio1/\($0).ts\n/audio1/\($0).key\n" }
            return Array(lines.joined().utf8)
        }
        let sessions = [chosen, Session(chosen.mode)]
        let bodies = try sessions.map { try Self.sent(texts.text(text($0), for: $0), $0) }
        for (session, body) in zip(sessions, bodies) {
            #expect(body.bytes(in: 0..<body.count) == text(session), "\(session.id)")
        }
        #expect(texts.count == 1)
    }

    @Test func aRangeMayBeginAndEndWithinAnId() throws {
        let session = Session(.local)
        let text = Self.playlist(session)
        let body = try Self.sent(SharedTexts().text(text, for: session), session)
        for start in 90..<130 {
            for end in [0, 1, 3, 7, 64].map({ start + $0 }) {
                #expect(body.bytes(in: start..<end) == Array(text[start..<end]))
            }
        }
        #expect(body.bytes(in: text.count - 1..<text.count) == [0x0A])
    }

    @Test func otherTextsAreKeptApartUntilTheyAreSent() throws {
        let (texts, session) = (SharedTexts(), Session(.auto))
        var bodies = try [Session(.offline), session].map { try Self.sent(texts.text(Self.playlist($0), for: $0), $0) }
        bodies.append(try Self.sent(texts.text(Self.playlist(session, segments: 9_999), for: session), session))
        // The mode is a part of the id: the first two are alike.
        #expect(texts.count == 2)
        bodies.removeAll()
        #expect(texts.count == 0)
    }

    @Test func aShortTextIsCopied() {
        let session = Session(.auto)
        let text = SharedTexts().text(Self.playlist(session, segments: 3), for: session)
        if case .bytes(let bytes) = text.body(for: session) {
            #expect(bytes == Self.playlist(session, segments: 3))
        } else {
            Issue.record("a short text is shared")
        }
    }

    @Test func textsWithTheIdInOtherPlacesAreOthers() throws {
        let texts = SharedTexts()
        let (one, two) = (Session(.auto), Session(.auto))
        let title = Array("#EXTINF:4,/\(one.id)/\n".utf8)
        let text = Self.playlist(one) + title
        let foreign = try Self.sent(texts.text(text, for: one), one)
        let own = try Self.sent(texts.text(Self.playlist(two) + title, for: two), two)
        #expect(foreign.bytes(in: 0..<text.count) == text)
        #expect(own.bytes(in: 0..<text.count) == Self.playlist(two) + title)
    }

    // MARK: Writing

    private static func media(_ segments: Int) throws -> MediaPlaylist {
        let lines = (0..<segments).map { "#EXTINF:4,\nsegment\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"
        guard case .media(let media) = try Playlist.parse(Array(text.utf8)) else { throw Missing() }
        return media
    }

    private static func draft(_ playlist: MediaPlaylist, _ session: Session, folder: String = "video") throws
        -> PlaylistDraft
    {
        .media(
            MediaDraft(
                playlist: playlist, base: try WebURL("http://origin.example/film.m3u8"), view: .stored, cut: nil,
                prefix: SessionPrefix(mount: "", asset: "film", session), folder: folder,
                files: playlist.segments.map { "\($0.index).ts" }, maps: [], keys: [], presentations: [:], lists: [:]))
    }

    @Test func aPlaylistIsWrittenOnceForAllWhoWaitForItOrReadIt() async throws {
        let texts = SharedTexts()
        try await write(texts)
        #expect(texts.count == 0)
    }

    private func write(_ texts: SharedTexts) async throws {
        let (owner, playlist) = (Owner(), try Self.media(5_000))
        let sessions = (0..<20).map { _ in Session(.auto) }
        let tasks = sessions.map { session in
            Task { @LoopActor in
                // The origin sent the same text again.
                try await texts.text(
                    of: Self.draft(session.id.hasSuffix("a") ? Self.media(5_000) : playlist, session), for: session,
                    Client(),
                    owner: owner)
            }
        }
        var bodies: [any RenderedBody] = []
        var tags: Set<String> = []
        for (session, task) in zip(sessions, tasks) {
            let text = try #require(try await task.value)
            bodies.append(try Self.sent(text, session))
            tags.insert(try #require(text.tag(for: session)).description)
            let expected = try #require(try Self.draft(playlist, session).text())
            #expect(bodies.last?.bytes(in: 0..<expected.count) == expected)
        }
        #expect(texts.count == 1 && texts.writtenCount == 1 && tags.count == 20)
        let late = Session(.auto)
        bodies.append(
            try Self.sent(
                try #require(try await texts.text(of: Self.draft(playlist, late), for: late, Client(), owner: owner)),
                late))
        #expect(texts.count == 1 && texts.writtenCount == 1)
        // Another playlist, mode or rendition has another text.
        let others = try [
            (Self.draft(Self.media(4_999), late), late), (Self.draft(playlist, late, folder: "audio"), late),
            (Self.draft(playlist, Session(.offline)), late),
        ]
        for (draft, session) in others {
            let text = try #require(try await texts.text(of: draft, for: session, Client(), owner: owner))
            bodies.append(try Self.sent(text, session))
        }
        #expect(texts.writtenCount == 4 && texts.count == 4)
        withExtendedLifetime(bodies) {}
    }

    @Test func nothingIsWrittenForClientsThatHaveLeft() async throws {
        let (texts, owner, playlist) = (SharedTexts(), Owner(), try Self.media(5_000))
        let gate = DispatchSemaphore(value: 0)
        let busy = Task { @LoopActor in await PureWork.shared.run(size: .max, for: owner) { gate.wait() } }
        let (session, clients) = (Session(.auto), (0..<4).map { _ in Client() })
        let tasks = clients.map { client in
            Task { @LoopActor in
                try await texts.text(of: Self.draft(playlist, session), for: session, client, owner: owner)
            }
        }
        // Three loops of jobs: the requests, the writing, and its work.
        for _ in 0..<3 { await Task { @LoopActor in }.value }
        #expect(PureWork.shared.waitingCount(for: owner) == 1)
        for client in clients { client.isOpen = false }
        // A client that comes now waits for a text of its own.
        let late = Task { @LoopActor in
            try await texts.text(of: Self.draft(playlist, session), for: session, Client(), owner: owner)
        }
        for _ in 0..<3 { await Task { @LoopActor in }.value }
        gate.signal()
        _ = await busy.value
        for task in tasks { #expect(try await task.value == nil) }
        #expect(try await late.value != nil)
        #expect(texts.writtenCount == 1)
    }
}
