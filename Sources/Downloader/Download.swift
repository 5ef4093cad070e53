public import EventLoop
import Fetching
public import Library
import Playlist
import Retention
import Store

/// One download: the content of an asset to store, its state and its progress.
@LoopActor public final class Download: AssetJob {
    /// The condition that a download waits for.
    public enum Need: String, Sendable {
        /// An origin that can be reached and answers.
        case network
        /// Room on the disk.
        case space
        /// A key that the origin refuses to deliver.
        case key
        /// The disk on which the asset is stored.
        case disk
    }

    /// The asset that is downloaded.
    public let asset: Asset
    /// The content to store.
    public internal(set) var task: DownloadTask
    /// Time of the order, in seconds since 1970.
    public let created: Int64
    /// Current state.
    public internal(set) var state: JobState
    /// The condition that it waits for; nil unless the state is `waiting`.
    public internal(set) var need: Need?
    /// The reason why it failed or waits.
    public internal(set) var failure: JobFailure?

    /// Position in the order of requests; `created` is too coarse, because several downloads may begin in one second.
    var number = 0
    var work: (any DownloadWork)?
    /// The current asynchronous step: loading playlists, or a pause before a retry.
    var step: Task<Void, Never>?
    /// Subscription to the asset's playheads, while the download runs or its revision waits for sessions to end.
    var watch: Subscription?
    var retryBudget = RetryBudget()
    var rate = TransferRate()
    var ticker: ProgressTicker?

    init(_ asset: Asset, _ task: DownloadTask, state: JobState, failure: JobFailure? = nil, created: Int64) {
        self.asset = asset
        self.task = task
        self.state = state
        self.failure = failure
        self.created = created
    }

    /// Ids of the requested renditions, the variant's own first.
    public var ids: [String] { task.renditions }

    /// The requested renditions whose playlists are known.
    public var renditions: [Rendition] { ids.compactMap { asset.rendition($0) } }

    /// True if everything requested is stored.
    public var isComplete: Bool {
        let renditions = renditions
        return renditions.count == ids.count && renditions.allSatisfy(isComplete)
    }

    func isComplete(_ rendition: Rendition) -> Bool {
        guard let wanted = task.span(of: rendition.name.id), wanted != .all else { return rendition.isStored }
        guard rendition.source?.isDurable ?? false else { return false }
        let track = Plan.Track(of: rendition, wanted) { _ in false }
        return track.segments.isEmpty && track.preliminaries.isEmpty
    }

    /// The holes, in the order of `renditions`.
    var tracks: [Plan.Track] {
        var seen: Set<Resource> = []
        return renditions.map { rendition in
            Plan.Track(of: rendition, task.span(of: rendition.name.id) ?? .all) { !seen.insert($0).inserted }
        }
    }

    /// Current progress.
    public var progress: DownloadProgress { DownloadProgress(of: self) }

    /// Recent bytes per second; nil if nothing arrives.
    public var bytesPerSecond: Double? { state == .running ? rate.bytesPerSecond(at: .now) : nil }

    /// True if this version cannot read the stored task, which must not be overwritten, only removed.
    public var isUnreadable: Bool { failure?.code == Self.unreadable }

    // MARK: The catalogue

    var record: DownloadRecord {
        DownloadRecord(
            asset: asset.id, renditions: ids.joined(separator: " "), state: state.rawValue, task: task.stored,
            need: need?.rawValue, errorCode: failure?.code, errorMessage: failure?.message, created: created)
    }

    /// Restores a download of an earlier process. One whose task cannot be read fails, and its row stays.
    convenience init(_ record: DownloadRecord, of asset: Asset, by reader: inout TaskReader) {
        let failure = record.errorMessage.map { JobFailure(code: record.errorCode ?? "", message: $0) }
        do {
            self.init(
                asset, try reader.task(of: record), state: JobState(rawValue: record.state) ?? .failed,
                failure: failure,
                created: record.created)
            need = record.need.flatMap(Need.init)
        } catch {
            let sentence = "what is to be kept of \(asset.name) is not understood: \(error)"
            self.init(
                asset, DownloadTask(), state: .failed, failure: JobFailure(code: Self.unreadable, message: sentence),
                created: record.created)
        }
    }

    /// Failure code of a download whose stored task cannot be read.
    public static let unreadable = "unreadable"
}
