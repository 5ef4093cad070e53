import Assets
import EventLoop
import Playback
import Recordings
import TestRooms
import WeirAPI

@testable import Control

/// All endpoints of a daemon, as its services register them.
@LoopActor enum AllEndpoints {
    /// A house that has the rooms of all endpoints.
    static func house() async throws -> TestHouse { try await TestHouse(.downloader(), .playback()) }

    static func handlers(of house: TestHouse) -> EndpointHandlers {
        let library = house.library
        var handlers = EndpointHandlers()
        let service = LibraryService(of: house)
        service.register(in: &handlers)
        let schedules = RecordingSchedules(library, house.downloader, stored: nil, save: { _ in nil })
        RecordingService(service, schedules).register(in: &handlers)
        PlaybackService(house.playback.sessions, library: library).register(in: &handlers)
        let streams = StreamService(library, store: NoStreams())
        streams.register(in: &handlers)
        let lists = ChannelLists(library, store: NoLists())
        ListService(library, lists, streams: streams).register(in: &handlers)
        return handlers
    }

    /// The table of a server with all endpoints.
    static func lines() async throws -> [EndpointLine] {
        let routes = ControlRoutes(
            handlers(of: try await house()), events: EventFeed(snapshot: { [] }), token: "secret-token")
        return routes.lines
    }
}

private struct NoStreams: StreamStore {
    func remove(_ stream: KnownStream) async throws(APIError) -> [KnownStream] { [] }
    func read() async throws(APIError) -> [KnownStream] { [] }
    func append(_ streams: [KnownStream]) async throws(APIError) -> [KnownStream] { streams }
    func append(_ list: KnownList) async throws(APIError) -> [KnownList] { [list] }
    func remove(list: String) async throws(APIError) -> [KnownList] { [] }
}

private struct NoLists: ListStore {
    func read(_ list: String) -> [UInt8]? { nil }
    func write(_ list: String, _ text: [UInt8]) -> String? { nil }
    func remove(_ list: String) {}
}
