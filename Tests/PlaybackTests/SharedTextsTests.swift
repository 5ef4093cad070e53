import EventLoop
import HTTPServer
import Testing

@testable import Playback

@LoopActor @Suite struct SharedTextsTests {
    private static func playlist(_ session: Session, segments: Int = 10_000) -> [UInt8] {
        let lines = (0..<segments).map { "#EXTINF:4,\n/a/film/\(session.id)/video/\($0).ts\n" }
        return Array("#EXTM3U\n".utf8) + Array(lines.joined().utf8)
    }

    private static func sent(_ body: consuming RepresentationBody) throws -> any RenderedBody {
        guard case .rendered(let rendered) = body else { throw Missing() }
        return rendered
    }

    private struct Missing: Error {}

    @Test func theTextsOfAllSessionsAreKeptOnce() throws {
        let texts = SharedTexts()
        let sessions = (0..<8).map { _ in Session(.auto) }
        let bodies = try sessions.map { try Self.sent(texts.body(Self.playlist($0), of: $0)) }
        #expect(texts.count == 1)
        for (session, body) in zip(sessions, bodies) {
            let text = Self.playlist(session)
            #expect(body.count == text.count && body.bytes(in: 0..<text.count) == text)
        }
    }

    @Test func aRangeMayBeginAndEndWithinAnId() throws {
        let session = Session(.local)
        let text = Self.playlist(session)
        let body = try Self.sent(SharedTexts().body(text, of: session))
        for start in 90..<130 {
            for end in [0, 1, 3, 7, 64].map({ start + $0 }) {
                #expect(body.bytes(in: start..<end) == Array(text[start..<end]))
            }
        }
        #expect(body.bytes(in: text.count - 1..<text.count) == [0x0A])
    }

    @Test func otherTextsAreKeptApartUntilTheyAreSent() throws {
        let (texts, session) = (SharedTexts(), Session(.auto))
        var bodies = try [Session(.offline), session].map { try Self.sent(texts.body(Self.playlist($0), of: $0)) }
        bodies.append(try Self.sent(texts.body(Self.playlist(session, segments: 9_999), of: session)))
        // The mode is a part of the id: the first two are alike.
        #expect(texts.count == 2)
        bodies.removeAll()
        #expect(texts.count == 0)
    }

    @Test func aShortTextIsCopied() {
        let session = Session(.auto)
        if case .bytes(let bytes) = SharedTexts().body(Self.playlist(session, segments: 3), of: session) {
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
        let foreign = try Self.sent(texts.body(text, of: one))
        let own = try Self.sent(texts.body(Self.playlist(two) + title, of: two))
        #expect(foreign.bytes(in: 0..<text.count) == text)
        #expect(own.bytes(in: 0..<text.count) == Self.playlist(two) + title)
    }
}
