public import API
public import EventLoop
import Library

/// The control API's access to jobs of one kind.
@LoopActor public protocol JobService<Job>: AnyObject, Sendable {
    /// The kind, as it is told of.
    associatedtype Job: API.Job

    /// Begins a job on an asset, or attaches to what is under way; `.noSuchAsset`, and what is known to be in its way. What
    /// else goes wrong is in what `job` gives later.
    func begin(_ request: Job.Request, ofAsset name: String) async throws(APIError) -> Job

    /// State of the asset's last job; throws `.noSuchAsset`. Cheap while the job runs.
    func job(ofAsset name: String) async throws(APIError) -> Job

    /// Gives it up, if it goes on; `.noSuchAsset`. It may end a little later, or well.
    func cancelJob(ofAsset name: String) async throws(APIError) -> Job
}

/// One kind of jobs on the assets of a library.
@LoopActor final class AssetJobs<Job: API.Job>: JobService {
    private let service: LibraryService
    private let start: (Asset, Job.Request) throws(APIError) -> Void
    private let look: (Asset) -> Job
    private let stop: (Asset) -> Void

    /// - Parameters:
    ///   - service: finds the assets.
    ///   - start: begins a job, or leaves alone what is under way and comes to the same.
    ///   - look: how the last one stands, where there was one.
    ///   - stop: gives it up, if it goes on.
    init(
        _ service: LibraryService, start: @escaping (Asset, Job.Request) throws(APIError) -> Void,
        look: @escaping (Asset) -> Job, stop: @escaping (Asset) -> Void
    ) {
        (self.service, self.start, self.look, self.stop) = (service, start, look, stop)
    }

    func begin(_ request: Job.Request, ofAsset name: String) async throws(APIError) -> Job {
        let asset = try service.find(name)
        try start(asset, request)
        return look(asset)
    }

    func job(ofAsset name: String) async throws(APIError) -> Job { look(try service.find(name)) }

    func cancelJob(ofAsset name: String) async throws(APIError) -> Job {
        let asset = try service.find(name)
        stop(asset)
        return look(asset)
    }
}

extension API.JobState {
    init(_ state: JobState) {
        self =
            switch state {
            case .running: .running
            case .repairing: .repairing
            case .done: .done
            case .cancelled: .cancelled
            case .failed: .failed
            }
    }
}
