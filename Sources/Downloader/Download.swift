public import EventLoop
import Fetching
public import Library
import Playlist
import Retention
import Store

/// One task under way, or at rest: what is to be kept of an asset, and how it fares.
@LoopActor public final class Download {
    /// Where a download is in its life. The raw values are kept in the catalogue and never change.
    public enum State: String, Sendable, CaseIterable {
        /// Others come first.
        case queued
        /// Fetching.
        case running
        /// Stopped by a person, until a person lets it go on.
        case paused
        /// It lacks what `need` says, and goes on by itself.
        case waiting
        /// It cannot go on by itself. What is stored is kept.
        case failed
        /// Everything that was wanted is stored.
        case complete
        /// Given up by a person. What is stored is kept.
        case cancelled

        /// Whether it goes on, now or later, without anybody's doing.
        public var isActive: Bool { self == .queued || self == .running || self == .waiting }
    }

    /// What a download waits for.
    public enum Need: String, Sendable {
        /// An origin that can be reached, and answers.
        case network
        /// Room on the disk.
        case space
        /// A key that the origin refuses to give.
        case key
        /// The disk on which the asset lies.
        case disk
    }

    /// Why a download failed, or waits.
    public struct Failure: Equatable, Sendable {
        /// The error's code, as `LibraryError` and `StoreError` spell it.
        public let code: String
        /// A sentence for a user.
        public let message: String

        init(code: String, message: String) {
            self.code = code
            self.message = message
        }
    }

    /// What is downloaded.
    public let asset: Asset
    /// What is wanted of it.
    public internal(set) var task: DownloadTask
    /// When it was asked for, in seconds since 1970.
    public let created: Int64
    /// Where it is in its life.
    public internal(set) var state: State
    /// What it waits for; nil unless it is `waiting`.
    public internal(set) var need: Need?
    /// Why it failed, or waits.
    public internal(set) var failure: Failure?

    /// Its place in the order in which downloads were asked for: several are of one second.
    var number = 0
    /// What fetches at the moment.
    var work: (any DownloadWork)?
    /// What is begun or waited for at the moment: playlists, or the end of a pause.
    var step: Task<Void, Never>?
    /// Follows the asset's playheads: while it runs, or waits for the sessions of the old content to end.
    var watch: Subscription?
    /// How long it has been waiting for what.
    var patience = Patience()
    /// How fast bytes come.
    var rate = TransferRate()
    /// Tells of progress, not too often.
    var ticker: ProgressTicker?

    init(_ asset: Asset, _ task: DownloadTask, state: State, failure: Failure? = nil, created: Int64) {
        self.asset = asset
        self.task = task
        self.state = state
        self.failure = failure
        self.created = created
    }

    /// The ids of the renditions that are wanted, the variant's own first.
    public var ids: [String] { task.renditions }

    /// The renditions, as far as the asset's playlists are known.
    public var renditions: [Rendition] { ids.compactMap { asset.rendition($0) } }

    /// Whether everything that is wanted is there.
    public var isWhole: Bool {
        let renditions = renditions
        return renditions.count == ids.count && renditions.allSatisfy(isWhole)
    }

    /// Whether everything that is wanted of one of its renditions is there.
    func isWhole(_ rendition: Rendition) -> Bool {
        guard let wanted = task.span(of: rendition.name.id), wanted != .whole else { return rendition.isStored }
        guard rendition.source?.isDurable ?? false else { return false }
        let track = Plan.Track(of: rendition, wanted) { _ in false }
        return track.segments.isEmpty && track.preliminaries.isEmpty
    }

    /// What is missing, in the order of `renditions`.
    var tracks: [Plan.Track] {
        var seen: Set<Resource> = []
        return renditions.map { rendition in
            Plan.Track(of: rendition, task.span(of: rendition.name.id) ?? .whole) { !seen.insert($0).inserted }
        }
    }

    /// How far it is.
    public var progress: DownloadProgress { DownloadProgress(of: self) }

    /// Bytes a second, as of late; nil when nothing comes.
    public var bytesPerSecond: Double? { state == .running ? rate.bytesPerSecond(at: .now) : nil }

    // MARK: The catalogue

    var record: DownloadRecord {
        DownloadRecord(
            asset: asset.id, renditions: ids.joined(separator: " "), state: state.rawValue, task: task.stored,
            need: need?.rawValue, errorCode: failure?.code, errorMessage: failure?.message, created: created)
    }

    /// What an earlier process left. A task that this one does not understand fails, and is left in the catalogue as it
    /// is.
    convenience init(_ record: DownloadRecord, of asset: Asset, by reader: inout TaskReader) {
        let failure = record.errorMessage.map { Failure(code: record.errorCode ?? "", message: $0) }
        do {
            self.init(
                asset, try reader.task(of: record), state: State(rawValue: record.state) ?? .failed, failure: failure,
                created: record.created)
            need = record.need.flatMap(Need.init)
        } catch {
            let sentence = "what is to be kept of \(asset.name) is not understood: \(error)"
            self.init(
                asset, DownloadTask(), state: .failed, failure: Failure(code: Self.unreadable, message: sentence),
                created: record.created)
        }
    }

    /// The code of a failure that lies in the catalogue's text.
    public static let unreadable = "unreadable"
}
