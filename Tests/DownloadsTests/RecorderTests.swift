import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite @LoopActor struct RecorderTests {
    @Test(.namingCases) func aStreamIsRecordedToItsEndAndBecomesAnOrdinaryAsset() async {
        await sideBySide(["/_live/a/master.m3u8", "/_live/a/media.m3u8", "/_event/a/master.m3u8"]) {
            try await expectOrdinaryAsset(recordedFrom: $0)
        }
    }

    private func expectOrdinaryAsset(recordedFrom path: String) async throws {
        let scene = try await RecordingScene(path)
        try await scene.records(path.contains("event") ? 2 : 4)
        #expect(scene.asset.isRecording && !scene.asset.isPlayableOffline)
        for _ in 0..<3 {
            try await scene.fixture.origin.advance("a", by: 2)
            try await scene.records(scene.names.count + 2)
        }
        try await scene.fixture.origin.end("a")
        #expect(try await scene.reason().hasSuffix("the recording ended: the origin ended it"))
        let count = path.contains("event") ? 8 : 10
        #expect(scene.names == (0..<count).map { "\($0).ts" })
        #expect(scene.asset.isPlayableOffline && scene.asset.content.isEverythingComplete && !scene.asset.isRecording)
        #expect(scene.asset.duration == Double(count))
        for number in 0..<count {
            #expect(try scene.piece("\(number).ts") == Repository.fixture("/ts/90p/\(number % 6).ts"))
        }
        #expect(scene.received == scene.asset.bytes)
        let requests = try await scene.fixture.mediaRequests()
        #expect(requests.count == count && Set(requests).count == count)
        let folder = "assets/\(scene.asset.id)/\(scene.asset.renditions[0].name.id)"
        let text = try String(contentsOfFile: scene.fixture.folder.path("\(folder)/media.m3u8"), encoding: .utf8)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(text.contains("#EXT-X-DISCONTINUITY\n"))
        // The recording is an ordinary asset, also after a restart.
        try await scene.kill()
        #expect(scene.asset.isPlayableOffline && scene.asset.duration == Double(count))
    }

    @Test("A5: what is fetched for a recording is in its account, and not in its channel's; their rights are the same")
    func account() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        func bytes(_ asset: Asset) -> Int64 { asset.traffic.counts.values.reduce(0) { $0 + $1.bytes } }
        #expect(bytes(scene.asset) >= scene.asset.bytes && scene.asset.bytes > 0)
        let least = try (0..<4).map { try scene.piece("\($0).ts").count }.min()
        #expect(bytes(scene.channel) < Int64(try #require(least)))

        let another = try await scene.fixture.library.makeRecording(of: scene.channel, name: "another", title: nil)
        #expect(another.traffic !== scene.asset.traffic && another.traffic.counts.isEmpty)
        #expect(scene.asset.access.cookies === scene.channel.access.cookies)
        scene.channel.access.confirm()
        let fields = try UserFields(["Referer: http://a/"])
        scene.channel.access.change(to: scene.channel.origin, with: fields)
        #expect(another.access.fields == fields && scene.asset.access.fields == fields)
    }

    @Test func aRecordingContinuesAfterAKillWithAGapForMissedSegments() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        try await scene.kill()
        #expect(scene.asset.isRecording && scene.names == ["0.ts", "1.ts", "2.ts", "3.ts"])
        try await scene.fixture.origin.clearRequests()
        // Segments 4 and 5 are still in the window.
        try await scene.fixture.origin.advance("a", by: 2)
        scene.start()
        try await scene.records(6)
        // Two requests that are sent at once may arrive in any order.
        #expect(try await scene.fixture.mediaRequests().sorted() == ["/_live/a/4.ts", "/_live/a/5.ts"])
        try await scene.kill()
        try await scene.fixture.origin.advance("a", by: 7)
        scene.start()
        try await scene.records(13)
        #expect(scene.names.suffix(8) == ["5.ts", "(6)", "(7)", "(8)", "9.ts", "10.ts", "11.ts", "12.ts"])
        try await scene.fixture.origin.end("a")
        _ = try await scene.reason()
        #expect(scene.asset.isPlayableOffline)
        let playlist = try #require(scene.asset.renditions[0].source?.playlist)
        // Segments 6 and 12 begin discontinuities. The missed one counts too.
        #expect(playlist.segments.count { $0.isDiscontinuity } == 2)
    }

    @Test func recordedPiecesDoNotCountAsPlayCache() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        #expect(scene.asset.isRecording && scene.asset.bytes > 0 && scene.asset.cachedBytes == 0)
        try await scene.kill()
        #expect(scene.asset.isRecording && scene.asset.bytes > 0 && scene.asset.cachedBytes == 0)
        #expect(try scene.fixture.library.recordings.close(scene.asset.renditions, of: scene.asset))
        try await scene.fixture.restart()
        let asset = try #require(scene.fixture.library.asset(named: "recording"))
        #expect(asset.isRecorded && asset.bytes > 0 && asset.cachedBytes == 0)
    }

    @Test func aStoppedRecordingIsCompleteUpToItsEnd() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        try await scene.fixture.origin.add(OriginRule("*/5.ts") { $0.pauseAfter = 1000 })
        try await scene.fixture.origin.advance("a", by: 3)
        try await scene.records(5)
        try await waitUntil("segment 6") {
            scene.asset.renditions[0].folder.contains("6.ts")
        }
        scene.recorder?.finish()
        #expect(try await scene.reason().hasSuffix("the recording ended: it was told to end"))
        #expect(scene.names == ["0.ts", "1.ts", "2.ts", "3.ts", "4.ts", "(5)", "6.ts"])
        #expect(scene.asset.isPlayableOffline)
        try await scene.kill()
        #expect(scene.asset.isPlayableOffline && !scene.asset.isRecording)
    }

    @Test func aCancelledRecordingContinuesAfterItsLastSegment() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        scene.recorder?.cancel()
        #expect(scene.asset.isRecording)
        // A player that opens the live stream meanwhile gets it from the origin, and the store keeps none of it.
        try await scene.fixture.origin.advance("a", by: 1)
        let channel = scene.channel
        let rendition = channel.renditions[0]
        try await waitUntil("the window's sliding") {
            try await scene.fixture.library.playlists.source(of: rendition, in: channel).playlist.mediaSequence == 1
        }
        let resource = try #require(PieceName("4.ts").flatMap { rendition.resource(named: $0) })
        let fetch = try scene.fixture.library.fetch(
            resource, in: rendition.folder, of: channel, urgency: .playback)
        try await waitUntil("the segment") { fetch.isComplete }
        fetch.release()
        #expect(!fetch.isPiece && scene.names.count == 4)
        scene.start()
        try await scene.records(5)
        #expect(scene.names == ["0.ts", "1.ts", "2.ts", "3.ts", "4.ts"])
    }

    @Test func anUnavailableSegmentIsAGap() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        try await scene.fixture.origin.add(OriginRule("*/4.ts") { $0.status = 404 })
        try await scene.fixture.origin.advance("a", by: 2)
        try await scene.records(6)
        #expect(scene.names.suffix(2) == ["(4)", "5.ts"])
        #expect(scene.lacks == "1 hole, 1 s missing")
    }

    @Test(arguments: [
        ("", nil), ("ss", nil), ("s.s", "1 hole, 2 s missing"), ("s..s.s", "2 holes, 6 s missing"),
        ("s" + String(repeating: ".", count: 75) + "s", "1 hole, 2 min missing"),
    ])
    func holesAreStretches(_ segments: String, _ words: String?) {
        var holes = RecordingHoles()
        for segment in segments {
            holes.append(seconds: 2, isMissing: segment == ".")
        }
        #expect(holes.words == words)
    }

    @Test func whatIsAboutToLeaveTheWindowGoesBesidePlayers() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let scene = try await RecordingScene(fixture, "/_live/a/media.m3u8")
        let rendition = scene.asset.renditions[0]
        try await waitUntil("the requests") { try await fixture.mediaRequests().count == 4 }
        var awaited: [Bool] = []
        for number in 0..<4 {
            let resource = try #require(PieceName("\(number).ts").flatMap { rendition.resource(named: $0) })
            let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: scene.asset, urgency: .background)
            awaited.append(fetch.isAwaited)
            fetch.release()
        }
        #expect(awaited == [true, true, false, false])
        try await fixture.origin.release()
        try await scene.records(4)
    }

    /// A picture that is missing at first often comes, and is worth some requests. An empty segment has no cues; a missing one is a
    /// gap.
    @Test(arguments: [(404, true), (200, false)])
    func aSegmentOfSubtitlesWithoutBytesCostsOneRequest(_ status: Int, _ isGap: Bool) async throws {
        let fixture = try await TestHouse(.downloader())
        try await show(3, in: fixture, missingAs: status)
        let scene = try await RecordingScene(fixture, "/master.m3u8")
        try await scene.records(3)
        try await show(6, in: fixture, missingAs: status)
        try await scene.records(6)
        for path in ["/1.vtt", "/4.vtt"] {
            #expect(try await fixture.origin.requests(for: path).count == 1, "\(path)")
        }
        scene.recorder?.finish()
        _ = try await scene.reason()
        let cues = try #require(scene.asset.renditions.first { $0.name.content == .subtitles })
        let gaps = cues.source?.playlist.segments.map(\.isGap)
        #expect(cues.isComplete && gaps == [false, isGap, false, false, isGap, false])
    }

    /// Shows a live stream of so many segments, with subtitles of which two segments have no bytes.
    private func show(_ count: Int, in fixture: TestHouse, missingAs status: Int) async throws {
        func list(_ name: (Int) -> String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + (0..<count).map { "#EXTINF:1,\n\(name($0))\n" }.joined()
        }
        let subtitles = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"e\",LANGUAGE=\"en\",URI=\"cues.m3u8\""
        let master = "#EXTM3U\n\(subtitles)\n#EXT-X-STREAM-INF:BANDWIDTH=9,SUBTITLES=\"s\"\nmedia.m3u8\n"
        let media = list { "/ts/90p/\($0 % 6).ts" }
        let cues = list { "/\($0).vtt" }
        try await fixture.origin.replaceRules(
            with: OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
            OriginRule("/media.m3u8") { ($0.status, $0.body) = (200, media) },
            OriginRule("/cues.m3u8") { ($0.status, $0.body) = (200, cues) },
            OriginRule("/[14].vtt") { ($0.status, $0.body) = (status, "") },
            OriginRule("/[0-9].vtt") { ($0.status, $0.body) = (200, "WEBVTT\n\n00:01.000 --> 00:02.000\nx\n") })
    }

    @Test func theFirstSegmentIsStoredAfterItLeftTheWindow() async throws {
        let fixture = try await TestHouse(.downloader())
        // The first request is refused, and the second one is answered when the segment has left the window.
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.status, $0.times) = (404, 1) },
            OriginRule("*/0.ts") { ($0.hold, $0.times) = (true, 1) })
        let scene = try await RecordingScene(fixture, "/_live/a/media.m3u8")
        try await waitUntil("the second request") { try await fixture.origin.load().paused == 1 }
        try await fixture.origin.advance("a")
        try await fixture.origin.release()
        try await scene.records(5)
        #expect(scene.names == ["0.ts", "1.ts", "2.ts", "3.ts", "4.ts"])
        #expect(try scene.piece("0.ts") == Repository.fixture("/ts/90p/0.ts"))
    }

    @Test func aRestartedStreamIsRecordedAfterADiscontinuity() async throws {
        func text(_ numbers: Range<Int>, at second: Int) -> String {
            let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(10 + second)Z\n"
            return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
                + "#EXT-X-KEY:METHOD=AES-128,URI=\"0.key\"\n#EXT-X-MAP:URI=\"init.mp4?t=\(second)\"\n" + date
                + numbers.map { "#EXTINF:1,\n\($0).m4s?t=\(second)\n" }.joined()
        }
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.m3u8") { ($0.status, $0.body) = (200, text(7..<10, at: 0)) })
        let scene = try await RecordingScene(fixture, "/live.m3u8")
        try await scene.text(text(7..<10, at: 0))
        try await scene.records(3)
        try await scene.text(text(0..<2, at: 20))
        try await scene.records(5)
        #expect(scene.names == ["7.m4s", "8.m4s", "9.m4s", "10.m4s", "11.m4s"])
        let source = try #require(await scene.asset.renditions[0].recording?.current())
        #expect(source.playlist.segments.map(\.isDiscontinuity) == [false, false, false, true, false])
        #expect(source.playlist.segments[3].keys[0].initializationVector == [UInt8](repeating: 0, count: 16))
        #expect(source.playlist.maps.map(\.uri) == ["init-0.mp4", "init-1.mp4"])
        // The live view uses new segment names, since the origin's numbers are already taken.
        let rendition = scene.asset.renditions[0]
        let live = try #require(rendition.source)
        #expect(live.playlist.segments.map { rendition.name(of: $0, in: live).description } == ["10.m4s", "11.m4s"])
        // The names stay after a restart, and a new token does not create another initialization section.
        try await scene.kill()
        scene.start()
        try await scene.text(text(0..<3, at: 20).replacing("init.mp4?t=20", with: "init.mp4?t=21"))
        try await scene.records(6)
        #expect(scene.names.last == "12.m4s")
        try await scene.text(text(0..<3, at: 20) + "#EXT-X-ENDLIST\n")
        #expect(try await scene.reason().hasSuffix("the recording ended: the origin ended it"))
        #expect(scene.asset.isPlayableOffline)
        #expect(scene.asset.renditions[0].source?.playlist.maps.count == 2)
    }

    @Test func aPlayersSegmentAndTheRecordingsAreOneFetch() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8")
        try await scene.records(4)
        try await scene.fixture.origin.add(OriginRule("*/4.ts") { $0.pauseAfter = 1000 })
        try await scene.fixture.origin.advance("a")
        let rendition = scene.channel.renditions[0]
        try await waitUntil("the new segment") { rendition.source?.playlist.mediaSequence == 1 }
        let resource = try #require(PieceName("4.ts").flatMap { rendition.resource(named: $0) })
        let fetch = try scene.fixture.library.fetch(
            resource, in: rendition.folder, of: scene.channel, urgency: .playback)
        try await waitUntil("the first bytes") { fetch.written > 0 }
        try await scene.fixture.origin.release()
        try await scene.records(5)
        try await waitUntil("the player's last byte") { fetch.isComplete }
        #expect(!fetch.isPiece)
        fetch.release()
        #expect(try await scene.fixture.origin.requests(for: "/_live/a/4.ts").count == 1)
    }

    @Test(.namingCases) func aMissingPlaylistEndsTheRecordingWithTheReason() async {
        await sideBySide([404, 410]) { try await expectEnd(ofRecordingWithoutPlaylist: $0) }
    }

    private func expectEnd(ofRecordingWithoutPlaylist status: Int) async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8", .init(gone: .milliseconds(500)))
        try await scene.records(4)
        try await scene.fixture.origin.add(OriginRule("*.m3u8") { $0.status = status })
        let reason = try await scene.reason()
        #expect(reason.contains("has had no playlist any more") && reason.contains("\(status)"), "\(reason)")
        #expect(scene.asset.isPlayableOffline)
    }

    @Test func aLongAbsenceOfTheOriginEndsTheRecording() async throws {
        let scene = try await RecordingScene("/_live/a/media.m3u8", .init(absent: .seconds(1)))
        try await scene.records(4)
        try await scene.fixture.origin.stop()
        let reason = try await scene.reason()
        #expect(reason.contains("3 seconds"), "\(reason)")
        #expect(scene.asset.isPlayableOffline)
    }

    @Test func protectedOrEndedStreamsAreNotRecorded() async throws {
        let fixture = try await TestHouse(.downloader())
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="com.apple.streamingkeydelivery",URI="skd://x"
            #EXTINF:2,
            0.ts
            """
        try await fixture.origin.add(OriginRule("/drm.m3u8") { ($0.status, $0.body) = (200, text) })
        let scene = try await RecordingScene(fixture, "/drm.m3u8")
        try await waitUntil("the refusal") { scene.outcome != nil }
        guard case .failed(let error, _, _) = scene.outcome else { throw TimedOut("a failure") }
        #expect("\(error)".contains("DRM"))
    }

    @Test func renditionsEndTogether() async throws {
        let fixture = try await TestHouse(.downloader())
        func media(_ numbers: Range<Int>, _ end: String = "") -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
                + numbers.map { "#EXTINF:1,\n\($0).m4s\n" }.joined() + end
        }
        func show(_ video: String, _ sound: String) async throws {
            let master = """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",LANGUAGE="en",URI="sound.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a"
                video.m3u8
                """
            try await fixture.origin.replaceRules(
                with: OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
                OriginRule("/video.m3u8") { ($0.status, $0.body) = (200, video) },
                OriginRule("/sound.m3u8") { ($0.status, $0.body) = (200, sound) },
                OriginRule("*.m4s") { ($0.status, $0.body) = (200, OriginRule.media("media")) })
        }
        try await show(media(0..<3), media(10..<13))
        let scene = try await RecordingScene(fixture, "/master.m3u8")
        try await scene.records(3)
        try await show(media(1..<4, "#EXT-X-ENDLIST\n"), media(11..<14))
        try await waitUntil("the end of the video") {
            (scene.asset.rendition("video")?.recording as? Recording)?.hasEnded ?? false
        }
        try await waitUntil("its last segment") { scene.asset.rendition("video")?.recording?.count == 4 }
        #expect(scene.outcome == nil)
        try await show(media(1..<4, "#EXT-X-ENDLIST\n"), media(12..<15, "#EXT-X-ENDLIST\n"))
        #expect(try await scene.reason().hasSuffix("the recording ended: the origin ended it"))
        #expect(scene.asset.content.isEverythingComplete)
        #expect(scene.fixture.folder.files().contains("assets/\(scene.asset.id)/master.m3u8"))
    }

    @Test func aFullDiskStopsTheRecordingUntilThereIsSpace() async throws {
        let scene = try await RecordingScene(try await TestHouse(.reserve(.max), .downloader()), "/_live/a/media.m3u8")
        try await waitUntil("the end") { scene.outcome != nil }
        guard case .storeFailed(let error) = scene.outcome else { throw TimedOut("a full disk") }
        #expect(error.code == .diskFull)
        try await scene.kill()
        scene.start()
        try await scene.records(4)
    }
}
