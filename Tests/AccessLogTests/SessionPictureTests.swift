import Foundation
import FoundationXML
import Testing

@testable import AccessLog

/// The elements of an SVG text; empty if it is no well-formed XML.
private final class Elements: NSObject, XMLParserDelegate {
    private(set) var all: [(name: String, attributes: [String: String])] = []
    private(set) var text = ""

    init?(_ svg: String) {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        guard parser.parse() else { return nil }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) { all.append((name, attributes)) }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    /// The elements of a class.
    func of(_ kind: String) -> [[String: String]] {
        all.map(\.attributes).filter { $0["class"]?.split(separator: " ").map(String.init).contains(kind) ?? false }
    }

    /// The marks of segments of a source.
    func marks(_ kind: String) -> Int { all.count { $0.attributes["class"] == "mark \(kind)" } }
}

@Suite struct SessionPictureTests {
    private func segment(
        _ number: Int, of rendition: Int = 0, substitute: Int? = nil, from source: PieceSource, at time: Double,
        rate: Double? = nil
    ) -> TimelineSegment {
        let start = Double(number) * 2
        var segment = TimelineSegment(
            number, of: rendition, substitute: substitute, from: source, media: start..<start + 2, at: time)
        segment.bufferBefore = 1
        segment.buffer = 3
        segment.rate = rate
        segment.wait = rate.map { _ in 0.5 }
        return segment
    }

    private var timeline: SessionTimeline {
        var timeline = SessionTimeline(
            session: "aabcde", guid: "G", asset: "film", client: "mpv/0.40 x", began: 1_764_000_000, length: 20)
        timeline.renditions = [
            TimelineRendition(id: "video-720p", isAudio: false, height: 720, bandwidth: 2_000_000),
            TimelineRendition(id: "video-360p", isAudio: false, height: 360, bandwidth: 700_000),
            TimelineRendition(id: "audio-en", isAudio: true),
        ]
        timeline.segments = [
            segment(0, from: .store, at: 0.1), segment(0, of: 2, from: .store, at: 0.1),
            segment(1, from: .origin, at: 2, rate: 4_000_000), segment(2, from: .joined, at: 4, rate: 1_000_000),
            segment(3, substitute: 1, from: .store, at: 9), segment(4, from: .origin, at: 11, rate: 2_000_000),
        ]
        timeline.stalls = [TimelineStall(since: 6.5, until: 9)]
        return timeline
    }

    @Test func hasAMarkForEachSegmentWithItsSourceAndAnAreaForEachStall() throws {
        let picture = SessionPicture(timeline, title: "A film")
        let elements = try #require(Elements(picture.svg))
        #expect(elements.of("mark").count == 6)
        #expect(
            ["store", "origin", "joined", "substitute"].map(elements.marks) == [2, 2, 1, 1])
        // Each mark has a shape of its own, so that no colour carries meaning alone.
        let shapes = elements.of("key").compactMap { $0["d"]?.filter(\.isLetter) }
        #expect(shapes.count == 4 && Set(shapes).count == 4)
        #expect(elements.of("stall").count == 2 && elements.of("stalled").count == 1)
        #expect(elements.of("rate").count == 3 && elements.of("quality").count == 1 && elements.of("buffer").count == 1)
        for words in [
            "Playback of A film", "720p", "360p", "4 Mb/s", "2.5 s", "mpv/0.40 · ", "0:09: segment 3 of video-720p",
        ] {
            #expect(elements.text.contains(words), "\(words)")
        }
        #expect(
            picture.summary
                == """
                0:20 long · 6 segments: 2 from the store, 2 from the origin, 1 from a fetch in progress, \
                1 of another quality instead · 1 stall, 2.5 s, the first at 0:06.5 · throughput 1 Mb/s to 4 Mb/s
                """)
    }

    @Test(arguments: [1, 280, 320, 960, 4096, 100_000])
    func everythingIsWithinTheImage(width: Int) throws {
        let elements = try #require(Elements(SessionPicture(timeline, width: width).svg))
        let size = try #require(elements.all.first?.attributes["width"].flatMap(Double.init))
        #expect(size == Double(min(max(width, 280), 4096)))
        for attributes in elements.all.map(\.attributes) {
            for key in ["x", "x1", "x2"] {
                guard let x = attributes[key].flatMap(Double.init) else { continue }
                #expect(x >= 0 && x <= size, "\(attributes)")
            }
        }
    }

    @Test func aHostileNameIsText() throws {
        let name = "<script>alert(1)</script> & \"\u{1B}[31m\u{202E}\u{FFFE}"
        let elements = try #require(Elements(SessionPicture(timeline, title: name).svg))
        #expect(elements.all.allSatisfy { $0.name != "script" })
        #expect(elements.text.contains("Playback of <script>alert(1)</script> & \"\\u{1B}[31m\\u{202E}\u{FFFD}"))
    }

    @Test func aSessionWithoutVariantsFetchesOrStallsSaysSo() throws {
        var plain = SessionTimeline(session: "s", guid: "G", asset: "film", client: nil, began: 0, length: 0)
        let empty = try #require(Elements(SessionPicture(plain).svg))
        #expect(empty.of("mark").isEmpty && empty.text.contains("0 segments") && empty.text.contains("no stall"))
        plain.renditions = [TimelineRendition(id: "video", isAudio: false)]
        plain.segments = (0..<300).map { segment($0, from: .store, at: 0.2) }
        plain.omitted = 7
        let elements = try #require(Elements(SessionPicture(plain).svg))
        #expect(elements.marks("store") == 300 && elements.of("quality").isEmpty && elements.of("rate").isEmpty)
        for words in [
            "the stream does not state one", "nothing was fetched", "307 segments", "the first 7 are not shown",
        ] {
            #expect(elements.text.contains(words), "\(words)")
        }
    }

    @Test func valuesOutOfAllProportionAreDrawn() throws {
        var odd = timeline
        odd.length = .infinity
        odd.segments[1].time = 1e300
        odd.segments[2].rate = 1e300
        odd.segments[3].buffer = 1e300
        odd.segments[4].rendition = 99
        odd.stalls = [TimelineStall(since: -5, until: 1e300)]
        #expect(Elements(SessionPicture(odd).svg)?.of("mark").count == 6)
    }

    @Test func marksDoNotCoverEachOther() {
        let rows = MarkRows([10, 10, 10, 15, 40, 40] + Array(repeating: 60, count: 30), right: 900)
        for (index, one) in rows.positions.enumerated() {
            for other in rows.positions.dropFirst(index + 1) where one.row == other.row {
                #expect(abs(one.x - other.x) >= MarkRows.size)
            }
        }
        #expect(rows.positions[0].x == 10 && rows.positions[4].x == 40 && rows.count == 6)
        // Where there is no room left they stay within the image.
        let full = MarkRows(Array(repeating: 0, count: 500), right: 200).positions
        #expect(full.count == 500 && full.allSatisfy { $0.x <= 200 })
    }

    @Test func linesDoNotBreakBeforeAUnit() {
        #expect(PictureText.lines("a stall of 2.3 s at 0:04", of: 14) == ["a stall of 2.3 s", "at 0:04"])
    }

    @Test func aLineOfTheLogHasTheFiguresOfASession() throws {
        let line = timeline.line(.w3c)
        let fields = SessionTimeline.fields.split(separator: " ")
        #expect(line.split(separator: " ").count == fields.count)
        #expect(line.hasSuffix(" G 20.000 6 1 2.500"))
    }
}
