import EventLoop
import HLS
import HTTPMessage
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct LiveNamesTests {
    private func edge(_ first: Int, parts: Int) -> String {
        let segment = "#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n#EXTINF:2,\n\(first).m4s\n"
        let listed = (0..<parts).map { "#EXT-X-PART:DURATION=0.5,URI=\"\(first + 1).\($0).m4s\"\n" }.joined()
        return segment + listed + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(first + 1).\(parts).m4s\""
    }

    private func names(_ fixture: RenditionFixture) throws -> (parts: [String], hint: String?) {
        let source = try #require(fixture.rendition.source)
        return (
            source.playlist.parts.compactMap { fixture.rendition.name(of: $0, in: source)?.description },
            source.playlist.preloadHints.first.flatMap { fixture.rendition.name(of: $0, in: source)?.description }
        )
    }

    @Test func aPreloadHintHasTheNameOfItsPart() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(edge(7, parts: 1))
        let before = try names(fixture)
        try fixture.adopt(edge(7, parts: 2))
        let after = try names(fixture)
        #expect(after.parts == before.parts + [try #require(before.hint)])
        #expect(fixture.resource(after.parts[1])?.url.text == "http://o/a/v/8.1.m4s")
        #expect(fixture.resource(try #require(after.hint))?.url.text == "http://o/a/v/8.2.m4s")
    }

    @Test func aPartIsFoundForAWhileAndItsNameIsNotReused() throws {
        let fixture = try RenditionFixture()
        var all: Set<String> = []
        for first in 0..<100 {
            try fixture.adopt(edge(first, parts: 2))
            let names = try names(fixture).parts
            #expect(all.isDisjoint(with: names))
            all.formUnion(names)
        }
        let now = try names(fixture).parts
        #expect(fixture.resource(now[1])?.url.text == "http://o/a/v/100.1.m4s")
        let number = try #require(Int(now[0].dropFirst(5).prefix { $0 != "." }))
        #expect(fixture.resource("live-\(number - 3).m4s")?.url.text == "http://o/a/v/99.0.m4s")
        #expect(fixture.resource("live-1.m4s") == nil)
        #expect(fixture.resource("live-\(number).mp4") == nil)
        #expect(fixture.resource("live-\(number + 9).m4s") == nil)
    }

    @Test func aByteRangePartIsAResource() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-TARGETDURATION:2", "#EXT-X-PART:DURATION=1,URI=\"0.mp4\",BYTERANGE=\"10@0\"",
            "#EXT-X-PART:DURATION=1,URI=\"0.mp4\",BYTERANGE=\"20\"",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"0.mp4\",BYTERANGE-START=30,BYTERANGE-LENGTH=5")
        let (parts, hint) = try names(fixture)
        let all = (parts + [hint]).compactMap { $0 }
        #expect(all.map { fixture.resource($0)?.range } == [0..<10, 10..<30, 30..<35])
    }

    /// The end of this part is unknown until it exists. Then it has the hint's name.
    @Test func aHintOfUnknownLengthIsAResourceThatEndsWhereTheOriginEndsIt() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-TARGETDURATION:2", "#EXT-X-PART:DURATION=1,URI=\"0.mp4\",BYTERANGE=\"10@0\"",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"0.mp4\",BYTERANGE-START=10")
        let hint = try #require(try names(fixture).hint)
        #expect(fixture.resource(hint)?.range == 10..<Int64.max && fixture.resource(hint)?.exactLength == nil)
        try fixture.adopt(
            "#EXT-X-TARGETDURATION:2", "#EXT-X-PART:DURATION=1,URI=\"0.mp4\",BYTERANGE=\"10@0\"",
            "#EXT-X-PART:DURATION=1,URI=\"0.mp4\",BYTERANGE=\"7@10\"",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"1.mp4\"")
        let after = try names(fixture)
        #expect(after.parts.last == hint && fixture.resource(hint)?.range == 10..<17)
        #expect(fixture.resource(try #require(after.hint))?.range == 0..<Int64.max)
    }

    @Test func aDeltaUpdateNamesSegmentsWithoutReplacingThePlaylist() throws {
        let fixture = try RenditionFixture()
        let whole = (0..<8).map { "#EXTINF:2,\n\($0).x" }.joined(separator: "\n")
        try fixture.adopt("#EXT-X-TARGETDURATION:2", "#EXT-X-MAP:URI=\"i.mp4\"", whole)
        for first in 2..<40 {
            let listed = (first + 6..<first + 9).map { "#EXTINF:2,\n\($0).x\n" }.joined()
            fixture.rendition.show(
                try RenditionFixture.source(
                    "#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n#EXT-X-SKIP:SKIPPED-SEGMENTS=6\n\(listed)"
                        + "#EXT-X-PART:DURATION=1,URI=\"\(first + 9).0.x\"",
                    base: "http://o/a/v/media.m3u8?_HLS_skip=YES"))
        }
        #expect(fixture.rendition.source?.playlist.segments.count == 8)
        // The segments match those of the full playlist, although the update omits the EXT-X-MAP line.
        #expect(fixture.resource("47.m4s")?.url.text == "http://o/a/v/47.x")
        #expect(fixture.resource("44.m4s")?.url.text == "http://o/a/v/44.x")
        #expect(fixture.resource("3.m4s")?.url.text == "http://o/a/v/3.x")
        #expect(fixture.resource("live-0.mp4")?.url.text == "http://o/a/v/i.mp4")
        let delta = try #require(fixture.rendition.latest)
        let name = fixture.rendition.name(of: try #require(delta.playlist.parts.first), in: delta)
        #expect(name?.fileExtension == "m4s")
        #expect(fixture.resource(try #require(name).description)?.url.text == "http://o/a/v/48.0.x")
    }
}
