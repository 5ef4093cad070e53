import API
import Downloader
import EventLoop
import Integrity
import Library
import Origin
import Playback
import Retention
import Store
import Substitution
import TestSupport

@testable import Control

/// All endpoints of a daemon, as its services register them.
@LoopActor enum AllEndpoints {
    static func handlers(store folder: String) throws -> EndpointHandlers {
        let library = Library(store: try Store(path: folder, reserve: 0), client: OriginClient())
        let retention = Retention(of: library)
        let integrity = Integrity(of: library, retention)
        let downloader = Downloader(library: library, retention: retention, integrity: integrity)
        let substitutions = Substitutions()
        let playback = Playback(
            library: library, substitutions: substitutions, retention: retention, logs: .init(), report: { _ in })
        var handlers = EndpointHandlers()
        LibraryService(library: library, retention: retention, downloader: downloader).register(in: &handlers)
        PlaybackService(playback.sessions, library: library).register(in: &handlers)
        StreamService(library, store: NoStreams()).register(in: &handlers)
        handlers.registerLink { () throws(APIError) in throw APIError(.noLink, "no link conditioner runs") }
        return handlers
    }

    /// The table of a server with all endpoints.
    static func lines() throws -> [EndpointLine] {
        let folder = try TemporaryFolder()
        let routes = ControlRoutes(
            try handlers(store: folder.path), events: EventFeed(snapshot: { [] }), token: "secret-token")
        return routes.lines
    }
}

private struct NoStreams: StreamStore {
    func read() async throws(APIError) -> [KnownStream] { [] }
    func append(_ streams: [KnownStream]) async throws(APIError) -> [KnownStream] { streams }
}
