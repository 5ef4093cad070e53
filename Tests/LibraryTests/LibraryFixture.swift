import EventLoop
import Exchange
import HTTPMessage
import Integrity
import Playlist
import Store
import Substitution
import Synchronization
import TestSupport
import Testing

@testable import Fetching
@testable import Library
@testable import Origin
@testable import Retention

/// A library with its own store, and an origin whose failures are set by rules.
@LoopActor final class LibraryFixture {
    private(set) var folder: TemporaryFolder
    let origin: TestOrigin
    private let root: TemporaryFolder?
    /// Messages to the user.
    let log = Log()

    final class Log: Sendable {
        private let all = Mutex<[String]>([])
        var lines: [String] { all.withLock { $0 } }
        func add(_ line: String) { all.withLock { $0.append(line) } }
    }
    private(set) var client: OriginClient
    private(set) var library: Library {
        didSet { exchange = ExchangeServices(library, moves: moves) }
    }
    /// The services for import, export, publication and moves over `library`.
    private(set) var exchange: ExchangeServices
    private let moves = MoveRegister()
    let substitutions = Substitutions()
    private(set) var retention: Retention
    var integrity: Integrity { Integrity(of: library, retention) }
    /// The library's clock, in seconds since 1970.
    var date: Int64 {
        get { clock.date }
        set { clock.date = newValue }
    }
    private let clock = Clock()

    private final class Clock {
        var date: Int64 = 1_000_000_000
        var ahead = Duration.zero
    }

    /// Lets time pass for playheads, and for playlists that will be due.
    func advance(by duration: Duration) { clock.ahead += duration }

    /// - Parameters:
    ///   - root: the folder that the origin serves; nil for the fixtures.
    ///   - stallSpan: the span in which a body must make progress.
    ///   - cacheLimit: the limit of the play cache in bytes.
    ///   - authority: the path of the one certificate to trust; nil for those of the system.
    ///   - comparison: the time limit of a comparison that something waits for.
    init(
        reserve: Int64 = 0, root: TemporaryFolder? = nil, stallSpan: Duration = .seconds(30), cacheLimit: Int64? = nil,
        authority: String? = nil, comparison: Duration? = nil
    ) async throws {
        folder = try TemporaryFolder()
        self.root = root
        origin = if let root { try await TestOrigin(root: root.path) } else { try await TestOrigin() }
        client = Self.client(stallSpan: stallSpan, authority: authority, comparison: comparison)
        library = Library(
            store: try Store(path: folder.path, reserve: reserve), client: client, moves: moves,
            partialPlayback: substitutions, now: { [clock] in .now + clock.ahead }, date: { [clock] in clock.date },
            report: { [log] in log.add($0) })
        exchange = ExchangeServices(library, moves: moves)
        retention = Retention(of: library, cacheLimit: cacheLimit)
    }

    // A client that probes an origin which has ended would reach the origin of a later test at the same port.
    isolated deinit { client.prober = nil }

    /// A client with the default limits, except for shorter waits.
    private static func client(
        stallSpan: Duration = .seconds(30), authority: String? = nil, comparison: Duration? = nil
    ) -> OriginClient {
        var configuration = OriginClient.Configuration()
        configuration.authorities = authority
        if let comparison { configuration.giveUpRule.comparisonLimitWhileAwaited = comparison }
        configuration.giveUpRule.stallSpan = stallSpan
        configuration.giveUpRule.retries.attempts = 2
        configuration.giveUpRule.retries.firstPause = .milliseconds(20)
        configuration.giveUpRule.retriesWhilePlayerWaits = configuration.giveUpRule.retries
        configuration.giveUpRule.absencePauses = .milliseconds(1)...(.milliseconds(1))
        configuration.giveUpRule.absenceInterest = .zero
        return OriginClient(configuration: configuration)
    }

    /// Waits until all received pieces are synced and have their ledger lines.
    func flush() async { await library.store.flush() }

    /// Opens a new library over a copy of the folder in its current state, as after a kill.
    func restart(
        isOffline: Bool = false, reserve: Int64 = 0, cacheLimit: Int64? = nil, purge: PurgePlan.Limit = .expired
    ) async throws {
        let copy = try await folder.copy()
        client.stop()
        (folder, client) = (copy, Self.client())
        library = Library(
            store: try Store(path: folder.path, reserve: reserve), client: client,
            mode: isOffline ? .offline : .auto, moves: moves, partialPlayback: substitutions,
            now: { [clock] in .now + clock.ahead }, date: { [clock] in clock.date }, report: { [log] in log.add($0) })
        retention = Retention(of: library, cacheLimit: cacheLimit, purge: purge)
    }

    func url(_ path: String) throws -> WebURL { try WebURL(origin.url(path)) }

    func open(_ path: String) async throws -> Asset { try await library.open(url(path)) }

    /// The rendition, with its playlist loaded.
    func rendition(_ id: String, of asset: Asset) async throws -> Rendition {
        let rendition = try #require(asset.rendition(id))
        _ = try await library.playlists.source(of: rendition, in: asset)
        return rendition
    }

    /// The resource of segment number `number`.
    func resource(_ number: Int, of rendition: Rendition) throws -> Resource {
        let segments = try #require(rendition.source?.playlist.segments)
        let segment = try #require(segments.first { Int($0.mediaSequenceNumber) == number })
        return try #require(rendition.resource(of: segment))
    }

    /// The fetch of segment number `number`.
    func fetch(
        _ number: Int, of rendition: Rendition, in asset: Asset, urgency: Fetch.Urgency = .playback
    ) throws -> Fetch {
        try library.fetch(resource(number, of: rendition), in: rendition.folder, of: asset, urgency: urgency)
    }

    /// Fetches every resource of the rendition.
    func fetch(_ id: String, of asset: Asset) async throws {
        let rendition = try await rendition(id, of: asset)
        let playlist = try #require(rendition.source?.playlist)
        let segments = playlist.segments.compactMap { rendition.resource(of: $0) }.map { (rendition.folder, $0) }
        for (folder, resource) in rendition.preliminaries + segments {
            let fetch = try library.fetch(resource, in: folder, of: asset, urgency: .background)
            try await fetch.end()
            fetch.release()
        }
    }

    /// The requested paths, without playlists, and without comparisons: these come when a rendition is complete.
    func mediaRequests() async throws -> [String] {
        let requests = try await origin.requests().filter { !$0.isComparison }
        return requests.map(\.path).filter { !$0.contains(".m3u8") }
    }
}

extension Fetch {
    /// Waits for the end; throws the fetch's error.
    func end() async throws { try await result().get() }

    /// The outcome; nil before the end.
    func result() async -> Result<Void, FetchError> {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// Waits until the response can be decided.
    func announced() async throws {
        try await withCheckedContinuation { continuation in whenAnnounced { continuation.resume(returning: $0) } }.get()
    }

    /// The bytes so far.
    var bytes: [UInt8] { file.prefix(Int(file.written)) }
}

extension Result where Failure == FetchError {
    /// The error's code; nil for success.
    var code: FetchError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

/// The code of the library's error that `body` throws, itself or as the cause; nil if it throws no such error.
@LoopActor func code(of body: () async throws -> Void) async -> LibraryError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return ((error as? ExchangeError)?.underlying as? LibraryError ?? error as? LibraryError)?.code
    }
}

/// The code of the exchange room's error that `body` throws; nil if it throws no such error.
@LoopActor func exchangeCode(of body: () async throws -> Void) async -> ExchangeError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ExchangeError)?.code
    }
}

/// Answers the library's questions about downloads as a test sets it.
final class DownloadStub: DownloadStatus {
    /// The asset with a download; nil for none.
    var kept: Asset?
    /// The names of the assets that were adopted.
    private(set) var adopted: [String] = []
    let isRoomAwaited = false

    func isKept(_ asset: Asset) -> Bool { asset === kept }
    func isFetched(_ asset: Asset) -> Bool { false }
    func keep(_ asset: Asset) async { adopted.append(asset.name) }
}
