import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import HTTPMessage
import SegmentFormat
import TestRooms
import TestSupport
import Testing

@testable import Extras

@Suite struct AttachmentTests {
    // MARK: Chapters

    @Test(
        arguments: [
            #"[{"chapter":1,"start-time":0,"duration":4.5,"titles":[{"language":"en","title":"One"}]},"#
                + #"{"start-time":4.5,"titles":[{"language":"en","title":"Two"}]}]"#,
            #"{"chapters":[{"start_time":0,"end_time":4.5,"title":"One"},{"start_time":4.5,"title":"Two"}]}"#,
            "WEBVTT\n\n00:00.000 --> 00:04.500\nOne\n\n00:04.500 --> 00:12.000\nTwo\n",
        ])
    func chaptersAreReadFromEachForm(text: String) throws {
        let list = try ChapterList(Array(text.utf8))
        let spans = list.spans(length: 12)
        #expect(
            spans.map(\.start) == [0, 4.5] && spans.map(\.end) == [4.5, 12] && spans.map(\.title) == ["One", "Two"])
        let vtt = String(decoding: list.webVTT(length: 12), as: UTF8.self)
        #expect(vtt.contains("00:00:04.500 --> 00:00:12.000\nTwo"))
        let json = list.json(language: "en", length: 12)
        #expect(try ChapterList(json).spans(length: 12).map(\.title) == ["One", "Two"])
        #expect(String(decoding: json, as: UTF8.self).contains("\"start-time\":4.5"))
    }

    @Test(
        arguments: [
            ("[", "it is no list of chapters"), ("[]", "the file has no chapter"),
            (#"[{"titles":[]}]"#, "chapter 1 has no start-time"),
            (#"[{"start-time":-1,"duration":1}]"#, "chapter 1 has no start-time"),
            (#"[{"start-time":1,"duration":-1}]"#, "chapter 1 ends before it begins"),
            ("WEBVTT\n", "the file has no cue"),
        ])
    func badChaptersAreRefused(text: String, words: String) throws {
        let error = try #require(throws: SubtitleError.self) { try ChapterList(Array(text.utf8)) }
        #expect(error.description.hasPrefix(words), "\(error)")
    }

    // MARK: Thumbnails

    private func track(_ cues: String...) throws -> ThumbnailTrack {
        let blocks = cues.enumerated().map { "00:\(10 + $0.offset).000 --> 00:\(11 + $0.offset).000\n\($0.element)\n" }
        return try ThumbnailTrack(CueFile(Array(("WEBVTT\n\n" + blocks.joined(separator: "\n")).utf8)))
    }

    @Test func aRegularGridBecomesTiles() throws {
        let text =
            "WEBVTT\n\n"
            + (0..<5).map { number in
                "00:0\(number).000 --> 00:0\(number + 1).000\ns\(number / 4).jpg#xywh=\(number % 2 * 16),\(number % 4 / 2 * 9),16,9\n"
            }.joined(separator: "\n")
        let track = try ThumbnailTrack(CueFile(Array(text.utf8)))
        #expect(track.names == ["s0.jpg", "s1.jpg"])
        #expect(track.grid == ThumbnailTrack.Grid(width: 16, height: 9, columns: 2, rows: 2, duration: 1000))
        let playlist = String(decoding: track.playlist { "\($0).jpg" }, as: UTF8.self)
        #expect(playlist.contains("#EXT-X-TILES:RESOLUTION=16x9,LAYOUT=2x2,DURATION=1.0\n#EXTINF:4.0,\n0.jpg\n"))
        #expect(playlist.contains("#EXTINF:1.0,\n1.jpg\n#EXT-X-ENDLIST"))
        let vtt = String(decoding: track.webVTT { "\($0).jpg" }, as: UTF8.self)
        #expect(vtt.contains("00:00:04.000 --> 00:00:05.000\n1.jpg#xywh=0,0,16,9"))
    }

    @Test func otherTracksHaveNoTiles() throws {
        #expect(try track("a.jpg", "b.png").grid == nil)
        #expect(try track("a.jpg#xywh=0,0,16,9", "a.jpg#xywh=99,0,16,9").grid == nil)
        #expect(try track("a.jpg#xywh=0,0,16,9", "a.jpg#xywh=0,0,8,9").grid == nil)
    }

    @Test(arguments: ["text", "/etc/passwd", "../a.jpg", "http://h/a.jpg", "a.svg", "a.jpg#xywh=1,2", ".jpg/a"])
    func aCueNamesAPictureBesideTheFile(cue: String) {
        #expect(throws: SubtitleError.self) { try track(cue) }
    }

    @Test func aSheetIsDividedByItsGrid() {
        let track = ThumbnailTrack(
            sheet: "s.png", size: (width: 320, height: 180), grid: (columns: 2, rows: 2), interval: 4, length: 12)
        #expect(track.count == 3)
        #expect(track.grid == ThumbnailTrack.Grid(width: 160, height: 90, columns: 2, rows: 2, duration: 4000))
    }

    @Test func picturesTellTheirSize() throws {
        let png = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0, 0,
            90,
        ]
        let jpeg = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xC0, 0, 17, 8, 0, 90, 0, 160, 3]
        for (bytes, width) in [(png, 256), (jpeg, 160)] {
            let size = PictureSize.of(try #require(Artwork(bytes.map { UInt8($0) })))
            #expect(size?.width == width && size?.height == 90)
        }
    }

    // MARK: The start of the media

    @Test func theStartIsThatOfThePlaylistsBeginning() {
        #expect(MediaStart(ticks: 126_000, at: 0).ticks == 126_000)
        #expect(MediaStart(ticks: 126_000 + 360_000, at: 4).ticks == 126_000)
        // A clock that has wrapped around since the beginning.
        #expect(MediaStart(ticks: 90_000, at: 2).ticks == UInt64(MediaStart.wrap - 90_000))
    }

    /// The times of what is attached follow from it.
    @Test @LoopActor func theStartIsReadFromAPieceThatIsSound() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        for number in 0..<2 {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            try await fetch.end()
            fetch.release()
        }
        await fixture.flush()
        let start = try #require(await MediaStart(storedOf: asset)).ticks
        try await DiskTick.pass(in: fixture.folder)

        let file = fixture.folder.path("assets/\(asset.id)/video-90p/0.ts")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        // The second bit of the first timestamps of the picture and the sound: hours.
        for stream: UInt8 in [0xE0, 0xC0] {
            let packet = try #require(bytes.firstRange(of: [0, 0, 1, stream])).lowerBound
            try FileDamage.flipBit(of: file, at: packet + 9)
        }
        // The sound of the second segment begins a part of a frame earlier.
        let second = try #require(await MediaStart(storedOf: asset)).ticks
        #expect(max(start, second) - min(start, second) < 9_000)
        #expect(!rendition.folder.contains("0.ts"), "it is set aside")
    }
}
