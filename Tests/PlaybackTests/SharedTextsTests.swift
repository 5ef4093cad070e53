import Dispatch
import EventLoop
import Fetching
import HLS
import HTTPMessage
import HTTPServer
import Testing

@testable import Assets
@testable import Playback

@LoopActor @Suite struct SharedTextsTests {
    private struct Missing: Error {}

    private final class Client: TextClient {
        var isOpen = true
    }

    private final class Owner: Sendable {}

    private static func media(_ segments: Int) throws -> MediaPlaylist {
        let lines = (0..<segments).map { "#EXTINF:4,\nsegment\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"
        guard case .media(let media) = try Playlist.parse(Array(text.utf8)) else { throw Missing() }
        return media
    }

    private static func draft(
        _ playlist: MediaPlaylist, folder: String = "video", isInFolder: Bool = true
    ) -> PlaylistDraft {
        let rule = Rendition.SegmentNames(shift: 0, content: .media)
        var names = MediaNames(segments: [], rule: rule, sections: [], keys: [])
        if !isInFolder {
            names.rendition = "\(SessionPath.mark)\(folder)/"
        }
        return .media(
            MediaDraft(asset: "film", folder: folder, view: .stored, cut: nil, playlist: playlist, names: names))
    }

    private func body(
        _ texts: SharedTexts, _ draft: PlaylistDraft, _ owner: Owner, path: String = ""
    ) async throws -> SessionText {
        let text = try #require(try await texts.text(of: draft, for: Client(), owner: owner))
        return SessionText(text, path: path)
    }

    @Test func aPlaylistIsWrittenOnceForAllThatWaitForItOrReadIt() async throws {
        let texts = SharedTexts()
        try await write(texts)
        #expect(texts.count == 0)
    }

    private func write(_ texts: SharedTexts) async throws {
        let owner = Owner()
        let playlist = try Self.media(5_000)
        let tasks = (0..<20).map { number in
            Task { @LoopActor in
                // The origin sent the same text again.
                let text = try number % 3 == 0 ? Self.media(5_000) : playlist
                return try await texts.text(of: Self.draft(text), for: Client(), owner: owner)
            }
        }
        var read: [SharedText] = []
        for task in tasks {
            read.append(try #require(try await task.value))
        }
        #expect(texts.count == 1 && texts.writtenCount == 1)
        #expect(read.allSatisfy { $0 === read[0] && $0.tag(for: Session(.auto)) == read[0].tag(for: Session(.local)) })
        let late = try await body(texts, Self.draft(playlist), owner)
        #expect(texts.count == 1 && texts.writtenCount == 1)
        #expect(late.bytes(in: 0..<late.count) == (try #require(try Self.draft(playlist).text())))

        // Another playlist, rendition or place has another text.
        var others: [SessionText] = []
        for draft in try [
            Self.draft(Self.media(4_999)), Self.draft(playlist, folder: "audio"),
            Self.draft(playlist, isInFolder: false),
        ] {
            others.append(try await body(texts, draft, owner))
        }
        #expect(texts.writtenCount == 4 && texts.count == 4)
        withExtendedLifetime((read, late, others)) {}
    }

    /// At the URL of an entry each line has the session's path.
    @Test func theTextsOfAllSessionsAreKeptOnce() async throws {
        let texts = SharedTexts()
        let owner = Owner()
        let draft = try Self.draft(Self.media(5_000), isInFolder: false)
        let marked = String(decoding: try #require(try draft.text()), as: UTF8.self)
        var bodies: [SessionText] = []
        var tags: Set<String> = []
        for number in 0..<8 {
            let session = Session(.auto)
            let path = "/t/\(String(repeating: "x", count: number))/a/film/\(session.id)/"
            let text = try #require(try await texts.text(of: draft, for: Client(), owner: owner))
            tags.insert(try #require(text.tag(for: session)).description)
            let body = SessionText(text, path: path)
            let expected = Array(marked.replacing(SessionPath.mark, with: path).utf8)
            #expect(body.count == expected.count && body.bytes(in: 0..<body.count) == expected)
            guard case .rendered = body.body else {
                Issue.record("a long text is copied")
                return
            }
            bodies.append(body)
        }
        #expect(texts.count == 1 && texts.writtenCount == 1 && tags.count == 8)
        withExtendedLifetime(bodies) {}
    }

    @Test func aShortTextIsCopied() async throws {
        let texts = SharedTexts()
        let owner = Owner()
        let body = try await body(texts, Self.draft(Self.media(3)), owner)
        if case .bytes(let bytes) = body.body {
            #expect(bytes == body.bytes(in: 0..<body.count))
        } else {
            Issue.record("a short text is shared")
        }
        #expect(texts.count == 0)
    }

    @Test func aRangeMayBeginAndEndWithinAPath() {
        let path = Array("/a/film/l12345/".utf8)
        let mark = SessionPath.mark
        for marked in [
            "\(mark)0.ts\n\(mark)\(mark)1.ts~\n~x\(mark)", "0.ts\n", "\(mark)", "", "~", "0.ts\n\(mark)1.ts\n",
        ] {
            let text = SessionlessText(Array(marked.utf8))
            let whole = Array(marked.replacing(mark, with: String(decoding: path, as: UTF8.self)).utf8)
            #expect(text.count(withPathOf: path.count) == whole.count)
            for start in 0...whole.count {
                for end in start...whole.count {
                    #expect(
                        text.bytes(in: start..<end, with: path) == Array(whole[start..<end]),
                        "\(marked) \(start) \(end)")
                }
            }
        }
    }

    @Test func nothingIsWrittenForClientsThatHaveLeft() async throws {
        let texts = SharedTexts()
        let owner = Owner()
        let playlist = try Self.media(5_000)
        let gate = DispatchSemaphore(value: 0)
        let busy = Task { @LoopActor in await PureWork.shared.run(size: .max, for: owner) { gate.wait() } }
        let clients = (0..<4).map { _ in Client() }
        let tasks = clients.map { client in
            Task { @LoopActor in
                try await texts.text(of: Self.draft(playlist), for: client, owner: owner)
            }
        }
        // Three loops of jobs: the requests, the writing, and its work.
        for _ in 0..<3 {
            await Task { @LoopActor in }.value
        }
        #expect(PureWork.shared.waitingCount(for: owner) == 1)
        for client in clients {
            client.isOpen = false
        }
        // A client that comes now waits for a text of its own.
        let late = Task { @LoopActor in
            try await texts.text(of: Self.draft(playlist), for: Client(), owner: owner)
        }
        for _ in 0..<3 {
            await Task { @LoopActor in }.value
        }
        gate.signal()
        _ = await busy.value
        for task in tasks {
            #expect(try await task.value == nil)
        }
        #expect(try await late.value != nil)
        #expect(texts.writtenCount == 1)
    }
}
