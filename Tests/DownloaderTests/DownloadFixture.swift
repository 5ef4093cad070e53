import EventLoop
import Foundation
import HTTPMessage
import Integrity
import Library
import Retention
import Store
import TestSupport
import Testing

@testable import Downloader
@testable import Origin

/// A downloader with its own library, store and origin.
@LoopActor final class DownloadFixture {
    private(set) var folder: TemporaryFolder
    let origin: TestOrigin
    private(set) var client: OriginClient
    private(set) var library: Library
    private(set) var retention: Retention
    private(set) var downloader: Downloader

    private let configuration: Downloader.Configuration
    private let film: ChangingFilm?

    /// - Parameters:
    ///   - film: the origin's content; nil for the fixtures.
    ///   - playlistDeadline: time limit of a request for a playlist.
    init(
        reserve: Int64 = 0, running: Int = 3, configuration: Downloader.Configuration? = nil, film: ChangingFilm? = nil,
        playlistDeadline: Duration = .seconds(60)
    ) async throws {
        self.configuration = configuration ?? Self.configuration(running: running)
        self.film = film
        folder = try TemporaryFolder()
        origin = if let film { try await TestOrigin(root: film.root) } else { try await TestOrigin() }
        client = Self.client(playlistDeadline: playlistDeadline)
        library = Library(
            store: try Store(path: folder.path, reserve: reserve), client: client, storedRecordings: RecordingRestorer()
        )
        retention = Retention(of: library)
        downloader = Downloader(
            library: library, retention: retention, integrity: Integrity(of: library, retention),
            configuration: self.configuration)
    }

    private static func client(playlistDeadline: Duration = .seconds(60)) -> OriginClient {
        var configuration = OriginClient.Configuration()
        configuration.giveUpRule.playlistDeadline = playlistDeadline
        configuration.giveUpRule.retries.attempts = 2
        configuration.giveUpRule.retries.firstPause = .milliseconds(20)
        configuration.giveUpRule.retriesWhilePlayerWaits = configuration.giveUpRule.retries
        configuration.giveUpRule.absencePauses = .milliseconds(1)...(.milliseconds(1))
        return OriginClient(configuration: configuration)
    }

    // A client that probes an origin which has ended would reach the origin of a later test at the same port.
    isolated deinit { client.prober = nil }

    private static func configuration(running: Int) -> Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.pauses = .milliseconds(20)...(.milliseconds(100))
        configuration.running = running
        return configuration
    }

    /// Waits until the catalogue stores the one download in that state.
    func notes(_ state: JobState) async throws {
        try await waitUntil("\(state) in the catalogue") {
            let copy = try await folder.copy()
            return try Store(path: copy.path).catalogue.initial.downloads.map(\.state) == [state.rawValue]
        }
    }

    /// A new downloader over a copy of the folder at this instant, as after a kill.
    func restart(reserve: Int64 = 0) async throws {
        let copy = try await folder.copy()
        downloader.stop()
        client.stop()
        (folder, client) = (copy, Self.client())
        library = Library(
            store: try Store(path: folder.path, reserve: reserve), client: client, storedRecordings: RecordingRestorer()
        )
        retention = Retention(of: library)
        downloader = Downloader(
            library: library, retention: retention, integrity: Integrity(of: library, retention),
            configuration: configuration)
    }

    /// Another verifier of the same assets, with its own clock.
    func integrity(bytesPerSecond: Int64 = 0, now: @escaping () -> Int64) -> Integrity {
        let integrity = Integrity(of: library, retention, bytesPerSecond: bytesPerSecond, now: now)
        integrity.attach(downloader)
        return integrity
    }

    func open(_ path: String) async throws -> Asset { try await library.open(try WebURL(origin.url(path))) }

    /// Starts a download, by default of the worst variant, which is the smallest.
    @discardableResult func start(
        _ path: String, _ selection: Selection = Selection(quality: .worst)
    ) async throws -> Download {
        try await downloader.start(open(path), DownloadOrder(selection))
    }

    /// The current download of the asset.
    func download(_ name: String) throws -> Download {
        try #require(library.asset(named: name).flatMap { downloader.download(of: $0) })
    }

    /// Waits until the download is in that state.
    func reaches(_ state: JobState, _ name: String) async throws {
        try await waitUntil("the state \(state) of \(name)", within: .seconds(30)) {
            try download(name).state == state
        }
    }

    /// The requested paths with their ranges, without playlists.
    func mediaRequests() async throws -> [String] {
        try await origin.requests().filter { !$0.path.contains(".m3u8") && !$0.isComparison }.map {
            $0.path + ($0.range.map { " \($0)" } ?? "")
        }
    }
}
