package import Assets
package import EventLoop
import Fetching
import HLS
package import Orders
import Retention
import Store

/// One download: the content of an asset to store, its state and its progress.
@LoopActor package final class Download: AssetJob {
    package let asset: Asset
    package internal(set) var task: DownloadTask
    /// Time of the order, in seconds since 1970.
    package let created: Int64
    package internal(set) var state: JobState
    /// The condition that it waits for; nil unless the state is `waiting`.
    package internal(set) var need: Need?
    /// The reason why it failed or waits.
    package internal(set) var failure: JobFailure?
    /// The rules that stop it; empty unless it waits for a rule's condition.
    package internal(set) var holds: [Reason] = []

    /// Position in the order of requests; `created` is too coarse, because several downloads may begin in one second.
    var number = 0
    var work: (any DownloadWork)?
    /// The current asynchronous step: loading playlists, or a pause before a retry.
    var step: Task<Void, Never>?
    /// Subscription to the asset's playheads, while the download runs or its revision waits for sessions to end.
    var watch: Subscription?
    var retryBudget = RetryBudget()
    /// The numbers of the segments of subtitles that the present attempt did not get, by rendition.
    var lost: [String: Set<Int>] = [:]
    /// The most requests at a time since a host has banned its client; nil unless one has.
    var banWidth: Int?
    /// The variants of which the origin delivers no segment, as indices of renditions.
    var undelivered: Set<Int> = []
    /// The task as ordered, before another quality replaced the selected one, and the reason.
    var ordered: (task: DownloadTask, failure: JobFailure)?
    var rate = ReceivedRate()
    var ticker: ProgressTicker?
    /// Measures `rate` while it runs.
    var pulse: Pulse?
    /// Counts what is fetched.
    var book = DownloadBook()
    /// True if keys that do not decrypt what is stored are to be fetched again.
    var distrustsKeys = false
    /// True if the user began or continued it since its last run.
    var isOrdered = false
    /// True if what it has stored was compared with the origin's at its end, with whatever result.
    var isCompared = false
    /// The selections whose completion was reported.
    var reported: [DownloadTask.Item.Identity] = []
    let meter = ProgressMeter()

    init(_ asset: Asset, _ task: DownloadTask, state: JobState, failure: JobFailure? = nil, created: Int64) {
        self.asset = asset
        self.task = task
        self.state = state
        self.failure = failure
        self.created = created
    }

    /// Ids of the requested renditions, the variant's own first.
    package var ids: [String] { task.renditions }

    /// The part of the latest order that cannot be had; nil if all of it is downloaded.
    package var shortfall: Shortfall? { task.items.first.flatMap { task.shortfall(of: $0) } }

    /// A sentence about the old content, if the download is of new content beside it; else nil.
    package var otherContent: String? {
        asset.isRevision ? Self.otherContentSentence : nil
    }

    static let otherContentSentence =
        "the origin has other content now: the new is fetched beside the old, which plays until the new is complete"

    /// The requested renditions whose playlists are known.
    package var renditions: [Rendition] { ids.compactMap { asset.rendition($0) } }

    /// True if everything requested is stored.
    package var isComplete: Bool {
        let spans = task.spans
        return ids.allSatisfy { id in
            guard let rendition = asset.rendition(id) else { return false }
            return isComplete(rendition, spans[rendition.name.id] ?? .all)
        }
    }

    func isComplete(_ rendition: Rendition) -> Bool {
        isComplete(rendition, task.span(of: rendition.name.id) ?? .all)
    }

    /// True if everything that one selection requests is stored.
    func isComplete(_ item: DownloadTask.Item) -> Bool {
        item.renditions.allSatisfy { id in
            guard let rendition = asset.rendition(id) else { return false }
            return isComplete(rendition, item.wanted)
        }
    }

    func isComplete(_ rendition: Rendition, _ wanted: WantedTime) -> Bool {
        guard wanted != .all else { return rendition.isStored }
        guard rendition.hasEnded else { return false }
        return meter.isComplete(rendition, wanted)
    }

    /// True if a playlist of it is too long to be looked at in one turn of the loop.
    var isLong: Bool { renditions.contains { $0.isLong } }

    /// Finds out on a worker if the long renditions are complete, so that `isComplete` answers at once.
    func measureCompleteness() async {
        for item in task.items {
            for rendition in item.renditions.compactMap({ asset.rendition($0) }) where rendition.isLong {
                await meter.measureCompleteness(of: rendition, item.wanted)
            }
        }
        for rendition in renditions where rendition.isLong {
            await meter.measureCompleteness(of: rendition, task.span(of: rendition.name.id) ?? .all)
        }
        // The end is reported from the numbers measured here, not from those of the last interval.
        _ = await measuredProgress()
    }

    /// The holes of each selection's renditions, in the order of the selections. One that an earlier selection has too is
    /// left out.
    var tracks: [(rendition: Rendition, holes: Plan.Track)] { tracks(with: [:]) }

    /// Finds the holes as `tracks` does. Long playlists are scanned on a worker: what is stored meanwhile is still a hole in them.
    func scannedTracks() async -> [(rendition: Rendition, holes: Plan.Track)] {
        var scans: [ProgressMeter.Key: HoleScan] = [:]
        for item in task.items {
            for rendition in item.renditions.compactMap({ asset.rendition($0) }) {
                // Without it, what is listed twice would be fetched twice.
                await rendition.prepareLocations()
                guard rendition.isLong else { continue }
                let key = ProgressMeter.Key(rendition: rendition.name.id, wanted: item.wanted)
                await rendition.folder.load()
                guard scans[key] == nil, let input = HoleScan.Input(rendition, item.wanted) else { continue }
                scans[key] = await PureWork.shared.run(size: input.size, for: rendition) { HoleScan(input) }
            }
        }
        return tracks(with: scans)
    }

    private func tracks(
        with scans: [ProgressMeter.Key: HoleScan]
    ) -> [(rendition: Rendition, holes: Plan.Track)] {
        var seen: Set<Resource> = []
        var planned: [String: Set<Plan.Hole.Item>] = [:]
        var whole: Set<String> = []
        var tracks: [(Rendition, Plan.Track)] = []
        for (index, item) in task.items.enumerated() {
            for rendition in item.renditions.compactMap({ asset.rendition($0) }) {
                let id = rendition.name.id
                var track = Plan.Track()
                if !whole.contains(id) {
                    var scan = scans[ProgressMeter.Key(rendition: id, wanted: item.wanted)]
                    if scan == nil, let input = HoleScan.Input(rendition, item.wanted) {
                        scan = HoleScan(input)
                    }
                    track = Plan.Track(of: rendition, scan) { !seen.insert($0).inserted }
                    if let known = planned[id] {
                        track.preliminaries.removeAll { known.contains($0.item) }
                        track.segments.removeAll { known.contains($0.item) }
                    }
                    if item.range == nil {
                        whole.insert(id)
                    } else {
                        planned[id, default: []].formUnion((track.preliminaries + track.segments).map(\.item))
                    }
                }
                track.selection = index
                tracks.append((rendition, track))
            }
        }
        return tracks
    }

    /// The requested media time of all selections, in seconds; nil if one requests all of it.
    package var requestedRanges: TimeRanges? {
        let ranges = task.items.map(\.range)
        guard !ranges.isEmpty, !ranges.contains(nil) else { return nil }
        return ranges.compactMap(\.?.seconds).sorted { $0.lowerBound < $1.lowerBound }
            .reduce(into: TimeRanges()) { $0.append($1) }
    }

    /// True if the asset has renditions that are not requested.
    var hasUnselected: Bool {
        let ids = Set(renditions.map(\.name.id))
        return asset.renditions.contains { !ids.contains($0.name.id) }
    }

    package var progress: DownloadProgress { DownloadProgress(of: self) }

    /// The progress with nothing left to measure: a long playlist is measured on a worker, and thousands of short ones in slices.
    @discardableResult package func measuredProgress() async -> DownloadProgress {
        let rates = AnnouncedRates(asset)
        let spans = task.spans
        var slice = LoopSlice()
        for rendition in renditions where rendition.recording == nil {
            let wanted = spans[rendition.name.id] ?? .all
            await meter.prepare(rendition, wanted, bitRate: rates.bitRate(of: rendition))
            await slice.giveWay()
        }
        return progress
    }

    /// Recent bytes per second; nil while that is unknown, and unless it runs.
    package var bytesPerSecond: Double? { state == .running ? rate.reading(at: .now).rate : nil }
    /// The time since the last byte, if it runs and that time is long.
    package var silence: Duration? { state == .running ? rate.reading(at: .now).silence : nil }
    /// Bytes of pieces that are on their way.
    package var unfinishedBytes: Int64 {
        guard state == .running, let work else { return 0 }
        return work.unfinished
    }

    /// The time until it is complete; nil unless it is known to a factor of two.
    package func timeLeft(_ progress: DownloadProgress) -> Duration? {
        guard state == .running, !progress.isOpen, progress.isSizeKnown else { return nil }
        let left = progress.totalBytes - progress.bytes - ByteCount(unfinishedBytes)
        return rate.timeLeft(for: Int64(left), at: .now)
    }

    /// True if this version cannot read the stored task, which must not be overwritten, only removed.
    package var isUnreadable: Bool { failure?.code == .unreadable }

    /// The account of the latest end; nil before the first.
    package var account: DownloadAccount? { book.account }

    // MARK: The catalogue

    var record: DownloadRecord {
        DownloadRecord(
            asset: asset.id, renditions: ids.joined(separator: " "), state: state.rawValue,
            task: task.stored,
            account: book.stored(.init(asset.traffic), now: .now)?.stored, need: need?.rawValue,
            errorCode: failure?.code.stored, errorMessage: failure?.message, created: created)
    }

    /// Restores a download of an earlier process. One whose task cannot be read fails, and its row stays.
    convenience init(_ record: DownloadRecord, of asset: Asset, by reader: inout TaskReader) {
        var failure: JobFailure?
        if let message = record.errorMessage {
            failure = JobFailure(code: .init(stored: record.errorCode ?? ""), message: message)
        }
        do {
            let (task, account) = try reader.read(record)
            self.init(
                asset, task, state: JobState(rawValue: record.state) ?? .failed, failure: failure,
                created: record.created)
            need = record.need.flatMap(Need.init(stored:))
            book = DownloadBook(stored: account)
        } catch {
            let sentence = "what is to be kept of \(asset.name) is not understood: \(error)"
            self.init(
                asset, DownloadTask(), state: .failed, failure: JobFailure(code: .unreadable, message: sentence),
                created: record.created)
        }
    }
}
