import EventLoop
import Fetching
import Foundation
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Sharing

/// The loop's part in long work on files that the user hands in.
@Suite(.serialized) @LoopActor struct LoopTimeTests {
    @Test("An import of 100 streams and 10,000 segments leaves the loop to others")
    func importOfManyStreams() async throws {
        let folder = try TemporaryFolder()
        let segments = (0..<100).map { "#EXTINF:2,\n../\($0).ts\n" }
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(segments.joined())#EXT-X-ENDLIST\n"
        for number in 0..<100 {
            try folder.write(Data([0x47] + [UInt8](repeating: 0, count: 187)), to: "film/\(number).ts")
            try folder.write(Data(media.utf8), to: "film/\(number)/media.m3u8")
        }
        let variants = (0..<100).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)00000\n\($0)/media.m3u8\n" }
        try folder.write(Data("#EXTM3U\n\(variants.joined())".utf8), to: "film/master.m3u8")
        let fixture = try await TestHouse()
        let longest = try await LoopStopwatch.longest {
            _ = try await fixture.exchange.importer.importAsset(at: folder.path("film"), name: "film")
        }
        // In a debug build, which needs about eight times as long as a release build.
        #expect(longest < 0.2)
    }

    @Test("A subtitle file of 100,000 cues leaves the loop to others")
    func subtitlesOfManyCues() async throws {
        let folder = try TemporaryFolder()
        let cues = (0..<100_000).map { number in
            let second = number % 3600
            let clock = String(format: "%02d:%02d:%02d", number / 3600, second / 60, second % 60)
            return "\(clock).000 --> \(clock).500\nLine \(number)\n\n"
        }
        try folder.write(Data("WEBVTT\n\n\(cues.joined())".utf8), to: "film/0.vtt")
        try folder.write(
            Data("#EXTM3U\n#EXT-X-TARGETDURATION:100000\n#EXTINF:100000,\n0.vtt\n#EXT-X-ENDLIST\n".utf8),
            to: "film/en.m3u8")
        try folder.write(Data([0x47] + [UInt8](repeating: 0, count: 187)), to: "film/0.ts")
        try folder.write(
            Data("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n".utf8), to: "film/media.m3u8")
        try folder.write(
            Data(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="en.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=100000,SUBTITLES="s"
                media.m3u8

                """.utf8), to: "film/master.m3u8")
        let fixture = try await TestHouse()
        let asset = try await fixture.exchange.importer.importAsset(at: folder.path("film"), name: "film")
        var text: [UInt8] = []
        let longest = try await LoopStopwatch.longest {
            text = try await fixture.exchange.exporter.subtitles("en", of: asset)
        }
        #expect(String(decoding: text.suffix(40), as: UTF8.self).contains("Line 99999"))
        #expect(longest < 0.02)

        // Joined once, as long as nothing of it changes.
        let exporter = fixture.exchange.exporter
        #expect(try await exporter.subtitles("en", of: asset) == text)
        #expect(exporter.joinedTexts.joinCount == 1)
        let rendition = try #require(asset.rendition("subtitles-en"))
        rendition.folder.reread()
        #expect(try await exporter.subtitles("en", of: asset) == text)
        #expect(exporter.joinedTexts.joinCount == 2)
    }

    @Test("Those who ask for one text at the same time have it joined once, and the first one may leave")
    func joinIsShared() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.exchange.importer.importAsset(
            at: Repository.path("fixtures/media/cmaf"), name: "film")
        let exporter = fixture.exchange.exporter
        let readers = (0..<4).map { _ in Task { @LoopActor in try? await exporter.subtitles("en", of: asset) } }
        readers[0].cancel()
        var texts: [[UInt8]] = []
        for reader in readers.dropFirst() {
            texts.append(try #require(await reader.value))
        }
        #expect(Set(texts).count == 1)
        #expect(exporter.joinedTexts.joinCount <= 2)
    }

    /// A film of so many ranges of one file.
    private func writeFilm(_ count: Int, to folder: TemporaryFolder) throws {
        let lines = (0..<count).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:188@\($0 % 8 * 188)\na.ts\n" }
        let head = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:2\n"
        let packet = [0x47] + [UInt8](repeating: 0, count: 187)
        try folder.write(Data([[UInt8]](repeating: packet, count: 8).joined()), to: "film/a.ts")
        try folder.write(Data("\(head)\(lines.joined())#EXT-X-ENDLIST\n".utf8), to: "film/media.m3u8")
    }

    @Test("An import of 5,000 segments leaves the loop to others")
    func importOfManySegments() async throws {
        let folder = try TemporaryFolder()
        try writeFilm(5_000, to: folder)
        let fixture = try await TestHouse()
        let longest = try await LoopStopwatch.longest {
            let asset = try await fixture.exchange.importer.importAsset(at: folder.path("film"), name: "film")
            #expect(asset.content.isEverythingComplete)
        }
        // In a debug build, which needs about eight times as long as a release build.
        #expect(longest < 0.1)
    }

    @Test("12,000 stored segments are read on other threads after a start, and exported in slices")
    func useOfManyPieces() async throws {
        let folder = try TemporaryFolder()
        try writeFilm(12_000, to: folder)
        let fixture = try await TestHouse()
        _ = try await fixture.exchange.importer.importAsset(at: folder.path("film"), name: "film")
        await fixture.flush()
        try await fixture.restart()
        let asset = try #require(fixture.library.asset(named: "film"))
        var longest = await LoopStopwatch.longest { await fixture.library.wake(asset) }
        // In a debug build, which needs about eight times as long as a release build.
        #expect(longest < 0.1)
        // Known by then, so that nothing else reads the folder on the loop.
        #expect(asset.renditions[0].folder.known?.count == 12_000)
        longest = await LoopStopwatch.longest { #expect(asset.isPlayableOffline) }
        #expect(longest < 0.01)
        longest = try await LoopStopwatch.longest {
            let contents = try await AssetExport(asset: asset).contents()
            #expect(contents.folders[0].files.count == 12_000)
        }
        #expect(longest < 0.1)
    }
}
