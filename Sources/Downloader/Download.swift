public import EventLoop
public import Library
import Playlist
import Store

/// One task: an asset's renditions to be fetched whole.
@LoopActor public final class Download {
    /// Where a download is in its life. The raw values are kept in the catalogue and never change.
    public enum State: String, Sendable {
        /// Fetching.
        case running
        /// The origin cannot be reached: it goes on by itself.
        case waiting
        /// It cannot go on by itself. What is stored is kept.
        case failed
        /// Everything that was selected is stored.
        case complete
    }

    /// Why a download failed, or waits.
    public struct Failure: Sendable {
        /// The error's code, as `LibraryError` and `StoreError` spell it.
        public let code: String
        /// A sentence for a user.
        public let message: String
    }

    /// What is downloaded.
    public let asset: Asset
    /// The renditions' ids, the variant's own first.
    public let ids: [String]
    /// When it was asked for, in seconds since 1970.
    public let created: Int64
    /// Where it is in its life.
    public internal(set) var state: State
    /// Why it failed, or waits.
    public internal(set) var failure: Failure?

    var engine: DownloadEngine?
    var rate = TransferRate()

    init(_ asset: Asset, ids: [String], state: State, failure: Failure? = nil, created: Int64) {
        self.asset = asset
        self.ids = ids
        self.state = state
        self.failure = failure
        self.created = created
    }

    /// The renditions, as far as the asset's playlists are known.
    public var renditions: [Rendition] { ids.compactMap { asset.rendition($0) } }

    /// Whether everything that was selected is there.
    public var isWhole: Bool {
        let renditions = renditions
        return renditions.count == ids.count && renditions.allSatisfy(\.isWhole)
    }

    /// How far it is.
    public var progress: DownloadProgress {
        let place = asset.renditions.firstIndex { $0.name.id == ids.first }
        let variant = asset.multivariant?.variants.first { $0.renditionIndex == place }
        let bandwidth = variant.map { $0.averageBandwidth ?? $0.bandwidth } ?? 1_000_000
        return DownloadProgress(of: renditions, bandwidth: bandwidth)
    }

    /// Bytes a second, as of late; nil when nothing comes.
    public var bytesPerSecond: Double? { state == .running ? rate.bytesPerSecond(at: .now) : nil }

    var record: DownloadRecord {
        DownloadRecord(
            asset: asset.id, renditions: ids.joined(separator: " "), state: state.rawValue, errorCode: failure?.code,
            errorMessage: failure?.message, created: created)
    }
}

/// Bytes a second over the last few seconds.
struct TransferRate: Sendable {
    private var samples: [(at: ContinuousClock.Instant, bytes: Int64)] = []
    private static let span = Duration.seconds(5)

    /// Takes note of bytes that have just come.
    mutating func add(_ bytes: Int64, at now: ContinuousClock.Instant) {
        samples.append((now, bytes))
        samples.removeAll { now - $0.at > Self.span }
    }

    /// nil before anything came.
    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        let recent = samples.filter { now - $0.at <= Self.span }
        guard let first = recent.first else { return nil }
        let (seconds, attoseconds) = (now - first.at).components
        let elapsed = max(Double(seconds) + Double(attoseconds) * 1e-18, 0.25)
        return Double(recent.reduce(0) { $0 + $1.bytes }) / elapsed
    }
}
