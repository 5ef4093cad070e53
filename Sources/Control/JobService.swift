package import API
package import EventLoop
import Library

/// The control API's access to jobs of one kind.
@LoopActor package protocol JobService<Job>: AnyObject, Sendable {
    associatedtype Job: API.Job
    /// Starts a job, or attaches to a running one. Throws known obstacles; `job` reports later errors.
    func begin(_ request: Job.Request, ofAsset name: String) async throws(APIError) -> Job
    /// State of the asset's last job. Throws `.noSuchAsset`. Cheap while the job runs.
    func job(ofAsset name: String) async throws(APIError) -> Job
    /// Cancels a running job. Throws `.noSuchAsset`. The job may end a little later, or still succeed.
    func cancelJob(ofAsset name: String) async throws(APIError) -> Job
}

/// The jobs of one kind on a library's assets.
@LoopActor final class AssetJobs<Job: API.Job>: JobService {
    private let service: LibraryService
    private let start: (Asset, Job.Request) throws(APIError) -> Void
    private let look: (Asset) -> Job
    private let stop: (Asset) -> Void

    /// `start` starts a job or keeps an equal running one; `look` returns the last job's state; `stop` cancels it.
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
            // Only downloads are queued, paused or waiting.
            case .queued, .running, .paused, .waiting: .running
            case .complete: .done
            case .cancelled: .cancelled
            case .failed: .failed
            }
    }
}
