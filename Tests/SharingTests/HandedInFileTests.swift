import EventLoop
import Extras
import Foundation
import Glibc
import HLS
import Orders
import SegmentFormat
import Sharing
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Retention

/// Chapters, thumbnails and packages that were made to end the daemon or to keep it busy.
@Suite struct HandedInFileTests {
    /// Numbers from the edges of every type, as JSON has them.
    private static let numbers = [
        "0", "-0", "0.0", "-0.0", "1e-300", "-1e-300", "1e300", "-1e300", "1e308", "1e999", "-1e999",
        "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "18446744073709551616", "999999999.9999", "1e15", "1e18", "NaN",
        "Infinity", "-Infinity", "null",
    ]

    @Test("Chapters take any number", arguments: numbers)
    func chaptersTakeAnyNumber(number: String) throws {
        let texts = ["start-time", "start_time", "end_time", "duration"].flatMap { key in
            ["0", "1e300", number].map { other in
                let entry =
                    "{\"start_time\":\(key == "start_time" ? number : "5"),\"\(key)\":\(number),\"title\":\"a\"}"
                return "[\(entry),{\"start_time\":7,\"duration\":\(other),\"end_time\":\(other)}]"
            }
        }
        for text in texts {
            // An unreadable file is refused with a sentence.
            guard let list = try? ChapterList(Array(text.utf8)) else { continue }
            for length in [nil, 0, 12, 1e300, .infinity, .nan] as [Double?] {
                #expect(list.webVTT(length: length).starts(with: "WEBVTT".utf8), "\(text)")
                let json = list.json(language: nil, length: length)
                #expect(throws: Never.self, "\(text)") { try JSONSerialization.jsonObject(with: Data(json)) }
                for span in list.spans(length: length) {
                    #expect(span.start.seconds.isFinite && span.end?.seconds.isFinite ?? true, "\(text)")
                    #expect(span.end.map { $0.milliseconds >= span.start.milliseconds } ?? true, "\(text)")
                }
            }
        }
    }

    @Test("A chapter of 1e300 s, as yt-dlp copies it from a page, lasts to the end")
    func longChapterIsKept() throws {
        let list = try ChapterList(Array(#"[{"start-time":1,"duration":1e300,"titles":[{"title":"a"}]}]"#.utf8))
        #expect(list.chapters.count == 1)
        #expect(String(decoding: list.webVTT(length: 12), as: UTF8.self).contains("00:00:01.000 --> 00:00:12.000"))
    }

    @Test("More chapters than any film has are refused")
    func manyChaptersAreRefused() {
        let entry = #"{"start-time":1,"titles":[]}"#
        let text = "[" + [String](repeating: entry, count: 10_001).joined(separator: ",") + "]"
        let error = #expect(throws: SubtitleError.self) { try ChapterList(Array(text.utf8)) }
        #expect(error?.reason == "the file has more than 10000 chapters")
    }

    @Test(
        "A sheet takes any interval and any length",
        arguments: [0, -0.0, 1e-300, -1e-300, 1e-9, 1e9, 1e300, -1e300, .nan, .infinity, 0x1p63])
    func sheetTakesAnyInterval(number: Double) {
        for length in [0, 12, 1e300, -1, .nan, .infinity, 0x1p63] {
            let track = ThumbnailTrack(
                sheet: "s.png", size: (width: 320, height: 180), grid: (columns: 2, rows: 2), interval: number,
                length: length)
            #expect((1...4).contains(track.count))
            _ = track.playlist { "\($0).png" }
            _ = track.webVTT { "\($0).png" }
        }
    }

    /// The processor time of this thread that `body` takes, in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    @Test("Thumbnails of many pictures take time in proportion")
    func manyPicturesAreLinear() throws {
        func time(_ count: Int) throws -> Double {
            let cues = (0..<count).map { "00:01.000 --> 00:02.000\n\($0).jpg\n" }.joined(separator: "\n")
            let file = try CueFile(Array("WEBVTT\n\n\(cues)".utf8))
            let begin = Self.processorTime()
            #expect(try ThumbnailTrack(file).names.count == count)
            return Self.processorTime() - begin
        }
        let short = max(try time(1000), try time(1000), 1e-4)
        let long = try time(4000)
        #expect(long < short * 9, "\(short) s, then \(long) s")
    }

    @Test("The times of a bundle's description take any number", arguments: numbers + ["-1", "2000000000"])
    func descriptionTakesAnyTime(number: String) throws {
        let text = """
            {"format":1,"id":"film-k3f9","name":"film","created":\(number),"firstPlayed":\(number),
            "policy":{"expires":\(number),"afterFirstPlay":\(number),"keysExpire":\(number),"keysAfterFirstPlay":\(number)},
            "keys":[{"number":0,"came":\(number),"firstPlayed":\(number),"expires":2000000000,"dated":\(number)}]}
            """
        // A text that is no whole number is refused.
        guard let identity = try BundleIdentity(Array(text.utf8), at: "asset.json") else { return }
        let life = try #require(identity.keys?.first?.life)
        let policy = try #require(identity.policy)
        let times = [identity.created, identity.firstPlayed, policy.expires, life.came, life.dated, life.firstPlayed]
        #expect(times.compactMap(\.self).allSatisfy { (0...(1 << 50)).contains($0) })
        var notices = KeyNotices()
        let place = KeyNotices.Key(asset: "film-k3f9", number: 0)
        for now in [0, 1_000_000_000, 1_999_999_000] as [Int64] {
            _ = notices.isRenewalDue(of: place, life, by: policy.keys, at: now)
            _ = life.remaining(by: policy.keys, at: now)
        }
    }

    // MARK: Packages

    /// A `.movpkg` whose streams are all of one folder.
    private func package(streams: Int, segments: Int, in folder: TemporaryFolder) throws -> String {
        let path = folder.path("\(streams).movpkg")
        let base = "http://host.invalid/film-\(streams)"
        let segment = try Data(contentsOf: URL(filePath: Repository.path("fixtures/media/ts/90p/0.ts")))
        let stream = "<Complete>YES</Complete></Stream>"
        let list = (0..<streams).map { "<Stream ID=\"\($0)\" Path=\"X\" NetworkURL=\"\(base)/\($0).m3u8\">" + stream }
        try folder.write(
            Data(
                """
                <HLSMoviePackage><Version>1.0</Version><Streams>\(list.joined())</Streams>
                <MasterPlaylist><NetworkURL>\(base)/master.m3u8</NetworkURL></MasterPlaylist>
                <DataItems Directory="Data"><DataItem><DataPath>m</DataPath><Role>Master</Role></DataItem></DataItems>
                </HLSMoviePackage>
                """.utf8), to: "\(streams).movpkg/boot.xml")
        try folder.write(
            Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n0.m3u8\n".utf8), to: "\(streams).movpkg/Data/m")
        let lines = (0..<segments).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        try folder.write(
            Data("#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n".utf8), to: "\(streams).movpkg/X/p")
        let items = (0..<segments).map { "<SEG PATH=\"0.frag\" SeqNum=\"\($0)\"/>" }.joined()
        try folder.write(
            Data(
                """
                <StreamInfo><Complete>YES</Complete>
                <MediaPlaylist><PathToLocalCopy>p</PathToLocalCopy></MediaPlaylist>
                <MediaSegments>\(items)</MediaSegments></StreamInfo>
                """.utf8), to: "\(streams).movpkg/X/StreamInfoBoot.xml")
        try folder.write(segment, to: "\(streams).movpkg/X/0.frag")
        return path
    }

    @Test("A package of many streams of one folder takes the loop no longer than one of a few") @LoopActor
    func packageIsReadOnce() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        func loopTime(streams: Int) async throws -> Double {
            let path = try package(streams: streams, segments: 400, in: folder)
            // Of the loop's own thread, on which this function runs.
            let begin = Self.processorTime()
            let asset = try await fixture.exchange.importer.importAsset(at: path, name: "film-\(streams)")
            let time = Self.processorTime() - begin
            #expect(asset.content.isEverythingComplete)
            return time
        }
        let few = try await loopTime(streams: 10)
        let many = try await loopTime(streams: 100)
        #expect(many < few * 3 + 0.05, "\(few) s, then \(many) s")
    }

    @Test("Thumbnails whose playlist has no end end no import") @LoopActor
    func thumbnailsWithoutAnEnd() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        let segment = try Data(contentsOf: URL(filePath: Repository.path("fixtures/media/ts/90p/0.ts")))
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
        try folder.write(segment, to: "film/0.ts")
        try folder.write(Data("\(head)#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n".utf8), to: "film/media.m3u8")
        try folder.write(Data("picture".utf8), to: "film/attached-a/0.jpg")
        try folder.write(Data("\(head)#EXTINF:2,\n0.jpg\n#EXTINF:2,\n0.jpg\n".utf8), to: "film/attached-a/media.m3u8")
        try folder.write(
            Data(
                """
                {"format":1,"id":"film-k3f9","name":"film","created":1,
                "attachments":[{"id":"attached-a","kind":"thumbnails","name":"a"}]}
                """.utf8), to: "film/asset.json")
        let asset = try await fixture.exchange.importer.importAsset(at: folder.path("film"), name: "film")
        #expect(asset.isPlayableOffline)
    }

    @Test("Who leaves ends an import, and nothing is left of it") @LoopActor
    func cancelledImportEnds() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        let path = try package(streams: 10, segments: 400, in: folder)
        let importing = Task { @LoopActor in
            _ = try await fixture.exchange.importer.importAsset(at: path, name: "film")
        }
        importing.cancel()
        await #expect(throws: ExchangeError.self) { try await importing.value }
        #expect(fixture.library.assets.isEmpty && fixture.library.store.bundleNames.isEmpty)
    }
}
