import Assets
import EventLoop
import Foundation
import HLS
import HTTPMessage
import Orders
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// A recorder for a live stream of the origin.
@LoopActor final class RecordingScene: DownloadWorkObserver {
    let fixture: TestHouse
    let path: String
    private(set) var channel: Asset
    private(set) var asset: Asset
    private(set) var recorder: Recorder?
    private(set) var outcome: DownloadOutcome?
    private(set) var sentence = ""
    private(set) var received: Int64 = 0
    /// The words of the recorder about its holes.
    private(set) var lacks: String?

    /// - Parameter prepare: called with the channel before the recording begins.
    init(
        _ fixture: TestHouse, _ path: String, _ limits: GiveUpRule.RecordingLimits = .init(),
        from start: RecordingStart? = nil, prepare: (Asset) async throws -> Void = { _ in }
    ) async throws {
        self.fixture = fixture
        self.path = path
        try await fixture.origin.declareLiveSegments(seconds: 1)
        channel = try await fixture.open(path)
        try await prepare(channel)
        asset = try await fixture.library.makeRecording(of: channel, name: "recording", title: nil)
        self.start(limits, from: start)
    }

    convenience init(_ path: String, _ limits: GiveUpRule.RecordingLimits = .init()) async throws {
        try await self.init(try await TestHouse(.downloader()), path, limits)
    }

    func start(_ limits: GiveUpRule.RecordingLimits = .init(), from start: RecordingStart? = nil) {
        var task = DownloadTask()
        task.recordFrom = start
        task.add(DownloadTask.Item(Selection(), renditions: asset.renditions.map(\.name.id)))
        recorder = Recorder(
            Download(asset, task, state: .running, created: 0), library: fixture.library, parallel: 4,
            limits: limits, observer: self
        ) { [weak self] in self?.sentence = $0 }
        recorder?.start(at: 0)
    }

    func work(for download: Download, received bytes: Int64) { received += bytes }

    func work(for download: Download, completed rendition: Rendition) {}
    func work(for download: Download, completed selection: DownloadTask.Item) {}
    func work(for download: Download, lacks words: String?) { lacks = words }

    func work(for download: Download, ended outcome: DownloadOutcome) {
        // Ignores outcomes of a killed process's work.
        if download.asset === asset {
            self.outcome = outcome
        }
    }

    /// Starts a new process with the state of a killed one, on a disk with space.
    func kill() async throws {
        let former = recorder
        try await fixture.restart(.reserve(0))
        former?.cancel()
        let recordings = fixture.library.assets.filter(\.isChannelRecording)
        asset = try #require(recordings.first)
        channel = try #require(fixture.library.channel(of: asset))
        outcome = nil
    }

    /// Waits until each rendition lists a number of segments.
    func records(_ count: Int) async throws {
        try await waitUntil("\(count) recorded segments of \(path)", within: .seconds(30)) {
            asset.renditions.allSatisfy { ($0.recording?.count ?? 0) >= count }
        }
    }

    /// The message about the end of the recording.
    func reason() async throws -> String {
        try await waitUntil("the end of \(path)", within: .seconds(40)) { outcome != nil }
        guard case .complete = outcome else { throw TimedOut("a whole recording: \(String(describing: outcome))") }
        return sentence
    }

    /// The recorded segments' names, a gap in brackets.
    var names: [String] {
        let source = (asset.renditions[0].recording as? Recording)?.source ?? asset.renditions[0].source
        return source?.playlist.segments.map { $0.isGap ? "(\($0.mediaSequenceNumber))" : $0.uri } ?? []
    }

    /// The bytes of a recorded segment.
    func piece(_ name: String) throws -> Data {
        let folder = "assets/\(asset.id)/\(asset.renditions[0].name.id)"
        return try Data(contentsOf: URL(filePath: fixture.folder.path("\(folder)/\(name)")))
    }

    /// Sets the playlist text of the origin.
    func text(_ text: String) async throws {
        try await fixture.origin.replaceRules(
            with: OriginRule("*.m3u8") { ($0.status, $0.body) = (200, text) },
            OriginRule("*.key") { ($0.status, $0.bodyHex) = (200, String(repeating: "0f", count: 16)) },
            OriginRule("*.mp4*") { ($0.status, $0.body) = (200, OriginRule.media("section")) },
            OriginRule("*.m4s*") { ($0.status, $0.body) = (200, OriginRule.media("media")) })
    }
}
