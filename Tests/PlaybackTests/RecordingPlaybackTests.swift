import Assets
import Downloads
import EventLoop
import Fetching
import Foundation
import HTTPServer
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// A channel that is recorded while players watch it.
@LoopActor private struct RecordedStream {
    let fixture: TestHouse
    let channel: Asset
    let asset: Asset
    let recording: Recording
    /// The path that leads a player to the channel.
    let typed: String

    var rendition: Rendition { asset.renditions[0] }

    init(_ entry: String) async throws {
        fixture = try await TestHouse(.playback())
        typed = fixture.typed("/_live/show/\(entry).m3u8")
        #expect(try await fixture.get(typed).status == 200)
        channel = try #require(fixture.library.assets.first)
        asset = try await fixture.library.makeRecording(of: channel, name: "recording", title: nil)
        recording = try #require(try await fixture.library.recordings.start(asset.renditions[0], of: asset))
        try await fetch()
    }

    /// Fetches the resources that the recording has listed.
    func fetch() async throws {
        for item in recording.items {
            for need in item.needed {
                let fetch = try fixture.library.fetch(
                    need.resource, in: need.folder, of: asset, urgency: .background)
                try await waitUntil("\(need.resource.name)") { fetch.outcome != nil }
                fetch.release()
            }
        }
        try recording.advance()
    }

    /// Advances the origin by some segments, and records them.
    func goOn(by count: Int) async throws {
        let end = recording.count + count
        try await fixture.origin.advance("show", by: count)
        try await waitUntil("\(end) segments", within: .seconds(30)) {
            _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
            try await fetch()
            return recording.count >= end
        }
    }

    /// The text of the media playlist of an entry.
    func media(_ path: String) async throws -> String { try await playlist(path).text }

    /// The paths in the media playlist of an entry.
    func paths(_ path: String) async throws -> [String] {
        let playlist = try await playlist(path)
        return PlaylistText.paths(in: playlist.text, at: playlist.path)
    }

    private func playlist(_ path: String) async throws -> (path: String, text: String) {
        let answer = try await fixture.get(path)
        #expect(answer.status == 200, "\(answer.text)")
        guard answer.text.contains("#EXT-X-STREAM-INF") else { return (path, answer.text) }
        let media = try #require(PlaylistText.paths(in: answer.text, at: path).first)
        return (media, try await fixture.get(media).text)
    }
}

@Suite @LoopActor struct RecordingPlaybackTests {
    @Test(arguments: ["master", "media"])
    func theNamePlaysTheRecordingAndTheURLTheLiveStream(_ entry: String) async throws {
        let stream = try await RecordedStream(entry)
        let name = "/\(stream.asset.name).m3u8"
        let first = try await stream.media(name)
        #expect(first.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") && !first.contains("ENDLIST"))
        #expect(PlaylistText.paths(in: first, at: "/").count == 4)
        try await stream.goOn(by: 3)
        let second = try await stream.media(name)
        #expect(PlaylistText.paths(in: second, at: "/").count == 7)
        if entry == "media" {
            #expect(second.hasPrefix(first))
        }
        let live = try await stream.media(stream.typed)
        #expect(live.contains("#EXT-X-MEDIA-SEQUENCE:3\n") && !live.contains("EVENT"))
        #expect(PlaylistText.paths(in: live, at: "/").count == 4)

        // The recording plays from the store, without the origin.
        try await stream.fixture.stopOrigin()
        for mode in ["", "/offline", "/local"] {
            let paths = try await stream.paths(mode + name)
            #expect(paths.count == 7)
            for (number, path) in paths.enumerated() {
                let body = try await stream.fixture.get(path).body
                #expect(try body == Repository.fixture("/ts/90p/\(number % 6).ts"))
            }
        }
        #expect(try stream.fixture.library.recordings.close([stream.rendition], of: stream.asset))
        for path in [name, "/offline" + name] {
            let text = try await stream.media(path)
            #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"), "\(path)")
            #expect(PlaylistText.paths(in: text, at: "/").count == 7)
        }
    }

    @Test(arguments: ["master", "media"])
    func theChannelStaysLiveWhenTheRecordingEnds(_ entry: String) async throws {
        let stream = try await RecordedStream(entry)
        let paths = [stream.typed, "/\(stream.channel.name).m3u8"]
        var media = stream.typed
        if entry == "master" {
            media = try await stream.fixture.entry(stream.typed)[0]
        }
        try await stream.goOn(by: 3)
        #expect(try stream.fixture.library.recordings.close([stream.rendition], of: stream.asset))
        try await stream.fixture.origin.advance("show", by: 2)
        try await waitUntil("the live window") {
            try await stream.fixture.get(media).text.contains("#EXT-X-MEDIA-SEQUENCE:5\n")
        }
        for path in paths {
            let text = try await stream.media(path)
            #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:5\n") && !text.contains("ENDLIST"), "\(path): \(text)")
        }
        #expect(stream.channel.isLive && !stream.asset.isLive && stream.asset.isPlayableOffline)
    }

    @Test func aLivePlayersSegmentsAreTheRecordedOnes() async throws {
        let stream = try await RecordedStream("media")
        try await stream.fixture.origin.clearRequests()
        for path in try await stream.paths(stream.typed) {
            #expect(try await stream.fixture.get(path).status == 200)
        }
        #expect(try await stream.fixture.mediaPaths() == [])
        // A segment that a player requests first is recorded from the same bytes.
        try await stream.fixture.origin.advance("show")
        try await waitUntil("the next segment") {
            try await stream.media(stream.typed).contains("#EXT-X-MEDIA-SEQUENCE:1\n")
        }
        let path = try #require(try await stream.paths(stream.typed).last)
        #expect(try await stream.fixture.get(path).status == 200)
        _ = try await stream.fixture.library.playlists.source(of: stream.rendition, in: stream.asset)
        try await stream.fetch()
        #expect(stream.recording.count == 5)
        #expect(try await stream.fixture.mediaPaths() == ["/_live/show/4.ts"])
    }
}
