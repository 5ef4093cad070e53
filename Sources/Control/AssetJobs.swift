import Assets
import EventLoop
import WeirAPI

/// The jobs of one kind on a library's assets.
@LoopActor final class AssetJobs<Job: API.Job>: Sendable {
    private let service: LibraryService
    private let start: (Asset, Job.Request) throws(APIError) -> Void
    private let look: (Asset) -> Job
    private let stop: (Asset) -> Void

    /// `start` starts a job or keeps an equal running one; `look` returns the last job's state; `stop` cancels it.
    init(
        _ service: LibraryService, start: @escaping (Asset, Job.Request) throws(APIError) -> Void,
        look: @escaping (Asset) -> Job, stop: @escaping (Asset) -> Void
    ) {
        self.service = service
        self.start = start
        self.look = look
        self.stop = stop
    }

    /// Registers the handlers of this kind of job.
    func register(_ endpoints: JobEndpoints<Job>, in handlers: inout EndpointHandlers) {
        handlers.on(endpoints.begin) { call, request throws(APIError) in
            let asset = try self.service.find(call.item)
            // A long playlist that was not used since the start is read on other threads.
            await self.service.library.wake(asset)
            try self.start(asset, request)
            return self.look(asset)
        }
        handlers.on(endpoints.look) { call throws(APIError) in self.look(try self.service.find(call.item)) }
        handlers.on(endpoints.cancel) { call throws(APIError) in
            let asset = try self.service.find(call.item)
            self.stop(asset)
            return self.look(asset)
        }
    }
}
