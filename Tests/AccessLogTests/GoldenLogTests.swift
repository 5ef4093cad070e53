import Foundation
import TestSupport
import Testing

@testable import AccessLog

/// The log's files as a later build must read them: `fixtures/golden/log`.
@Suite struct GoldenLogTests {
    /// 2026-11-21.
    private static let day = 20_778 * 86_400.0

    private static var access: AccessEvent {
        var event = AccessEvent(
            session: "aabcde", guid: "2845C021-B768-4ACC-A151-FB1F94391B56", number: 1, asset: "film",
            client: "mpv 0.40",
            began: day + 1.25)
        event.ended = day + 61.5
        event.logged = day + 62
        event.uri = "https://h/720p.m3u8"
        event.serverAddress = "203.0.113.7"
        event.serverAddressChanges = 1
        event.playbackType = .live
        event.requests = 12
        event.downloaded = 66
        event.startOffset = 6
        event.watched = 59.75
        event.bytes.store = 1_000_000
        event.bytes.origin = 2_000_000
        event.bytes.joined = 300_000
        event.observed.add(bytes: 2_000_000, seconds: 2)
        event.indicated = 2_000_000
        event.stalls = 1
        event.stallTime = 0.5
        event.framesDropped = 3
        event.startup = 0.4
        event.overdue = 2
        event.inferred = ["uri"]
        return event
    }

    private static var error: ErrorEvent {
        var event = ErrorEvent(
            time: day + 30, uri: "https://h/720p/5.ts", status: 502, domain: .origin,
            comment: "the origin \"h\" is silent")
        event.session = "aabcde"
        event.guid = "2845C021-B768-4ACC-A151-FB1F94391B56"
        event.asset = "film"
        return event
    }

    private static var session: SessionTimeline {
        var timeline = SessionTimeline(
            session: "aabcde", guid: "2845C021-B768-4ACC-A151-FB1F94391B56", asset: "film", client: "mpv 0.40",
            began: day + 1.25, length: 60.25)
        timeline.ended = day + 61.5
        timeline.renditions = [
            TimelineRendition(id: "video-720p", isAudio: false, height: 720, bandwidth: 2_000_000),
            TimelineRendition(id: "audio-en", isAudio: true),
        ]
        var segment = TimelineSegment(5, of: 0, substitute: 1, from: .origin, media: 30..<36, at: 2.5)
        segment.count = 2
        segment.bytes = 1_500_000
        segment.wait = 0.75
        segment.rate = 16_000_000
        segment.bufferBefore = 4
        segment.buffer = 10
        segment.playhead = 26
        timeline.segments = [segment]
        timeline.omitted = 7
        timeline.stalls = [TimelineStall(since: 20, until: 20.5)]
        return timeline
    }

    @Test func theFilesOfADay() async throws {
        let folder = try TemporaryFolder()
        let place = LogFolder(path: folder.path("log"), days: 3, software: "Weir/0.1.0")
        let files = LogFiles(place) { _ in }
        await files.append([Self.access], at: Self.day + 62)
        await files.append([Self.error], at: Self.day + 62)
        await files.append([Self.session], at: Self.day + 62)

        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        let texts = try names.map { ($0, try String(contentsOfFile: "\(place.path)/\($0)", encoding: .utf8)) }
        #expect(try GoldenFiles("log").differences(from: Dictionary(uniqueKeysWithValues: texts)) == [])
    }
}
