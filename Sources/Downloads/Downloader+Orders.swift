package import Assets
import EventLoop
import Fetching
import HLS
package import Orders
import Origin
import Retention
import SafeText
import Store

extension Downloader {
    /// The reason why a download did not begin.
    package enum Refusal: Error, CustomStringConvertible, Sendable {
        /// The presentation is live, so it cannot be downloaded before it ends.
        case live(name: String)
        /// The content needs a content decryption module, so a stored copy could not be played.
        case needsDRM(name: String)
        /// No variant or rendition matches the selection.
        case noMatch(Selection.NoMatch)
        /// The requested time is after the end of the media; the value is the media's length in seconds.
        case noSuchTime(name: String, duration: Double)
        /// The disk has less room than the download is estimated to need; values in bytes. `isReserved`: recordings in progress
        /// need a part of it.
        case noRoom(name: String, needed: Int64, free: Int64, isReserved: Bool)
        /// A newer Weir wrote the asset's download task, which is not overwritten.
        case unreadable(name: String)
        /// A playlist could not be loaded.
        case library(LibraryError)

        package var description: String {
            switch self {
            case .live(let name): "\(name) is live: live streams cannot be saved while they are in progress"
            case .needsDRM(let name): "\(name) is protected by DRM, or names no key: a stored copy could not be played"
            case .noMatch(let error): error.description
            case .noSuchTime(let name, let duration):
                "\(name) is over after \(Int(duration.rounded())) s: the range begins after its end"
            case .noRoom(let name, let needed, let free, let isReserved):
                "\(name) takes about \(Quantity.bytes(Int(needed))), and the disk has room for \(Quantity.bytes(Int(free)))"
                    + (isReserved ? " beside the recordings in progress" : "")
            case .unreadable(let name):
                "what is to be kept of \(name) was noted by a newer Weir, and is left as it is"
            case .library(let error): error.message
            }
        }
    }

    /// Resolves a selection against the asset's playlists, which it loads.
    /// - Parameter undelivered: the variants that the origin is known not to deliver, as indices of renditions.
    func item(
        _ selection: Selection, _ order: DownloadOrder, of asset: Asset, without undelivered: Set<Int> = []
    ) async throws(Refusal) -> DownloadTask.Item {
        var chosen = try await choose(asset, selection, without: undelivered)
        // The first failure, which is also the reason for another quality.
        var failure: Refusal? = nil
        var excluded: Set<Int> = undelivered
        var silences = 0
        while let variant = chosen.first {
            do throws(Refusal) {
                try await checkTwice(variant, of: asset, order)
                break
            } catch {
                if asset.isRemoved {
                    throw error
                }
                if error.isSilence {
                    silences += 1
                }
                guard error.isAboutOneVariant, asset.multivariant != nil, silences <= Self.mostSilences,
                    !library.isOffline
                else { throw failure ?? error }
                excluded.insert(variant.index)
                failure = failure ?? error
                guard let next = try? await choose(asset, selection, without: excluded) else { throw failure ?? error }
                chosen = next
            }
        }
        var leftOut: Refusal?
        for rendition in chosen.dropFirst() {
            do throws(Refusal) {
                try await check(rendition, of: asset, recordsLive: order.record == true)
            } catch {
                // The picture is worth more than nothing.
                guard error.isAboutOneVariant, !library.isOffline, !asset.isRemoved else { throw error }
                leftOut = leftOut ?? error
                chosen.removeAll { $0 === rendition }
            }
        }
        if let range = order.range {
            try check(range.seconds, chosen, of: asset)
        }
        var shortfall: Shortfall?
        if let failure {
            shortfall = Shortfall(.quality, "\(failure); the next best quality is downloaded")
        } else if let leftOut {
            shortfall = Shortfall(.missing, "\(leftOut); the other tracks are downloaded")
        } else if let abridgement = chosen.lazy.compactMap(\.abridgement).first {
            shortfall = Shortfall(.holes, abridgement)
        }
        return DownloadTask.Item(
            selection, range: order.range, renditions: chosen.map(\.name.id), shortfall: shortfall)
    }

    /// An origin whose playlists time out one after the other is not asked for all variants: each takes a minute.
    private static let mostSilences = 2

    private func choose(
        _ asset: Asset, _ selection: Selection, without excluded: Set<Int> = []
    ) async throws(Refusal) -> [Rendition] {
        let renditions = asset.renditions
        guard let playlist = asset.multivariant else { return renditions }
        let size = Self.variantSize * playlist.variants.count
        let found = await PureWork.shared.run(size: size, for: asset) {
            Result { () throws(Selection.NoMatch) in try selection.renditions(of: playlist, without: excluded) }
        }
        guard let found else { throw .library(LibraryError(.missing, "\(asset.name) was removed")) }
        do {
            return try found.get().map { renditions[$0] }
        } catch {
            throw .noMatch(error)
        }
    }

    /// The size of a choice, for each variant, as `PureWork` counts it.
    private static let variantSize = 128

    /// Checks a variant, once more if the origin does not have its playlist: one such answer may be a mistake.
    private func checkTwice(
        _ variant: Rendition, of asset: Asset, _ order: DownloadOrder
    ) async throws(Refusal) {
        do throws(Refusal) {
            try await check(variant, of: asset, recordsLive: order.record == true)
        } catch {
            guard error.isAnswer, !asset.isRemoved else { throw error }
            try await check(variant, of: asset, recordsLive: order.record == true)
        }
        guard let source = variant.source, source.isDurable, source.playlist.segments.isEmpty else { return }
        throw .library(LibraryError(.notPlaylist, "the playlist of \(variant.name.id) names no segments"))
    }

    private func check(_ rendition: Rendition, of asset: Asset, recordsLive: Bool) async throws(Refusal) {
        let source: Rendition.Source
        do throws(LibraryError) {
            source = try await library.playlists.source(of: rendition, in: asset)
        } catch {
            throw .library(error)
        }
        if rendition.needsDRM {
            throw .needsDRM(name: asset.name)
        }
        if !source.isDurable, !recordsLive {
            throw .live(name: asset.name)
        }
    }

    private func check(_ range: Range<Double>, _ renditions: [Rendition], of asset: Asset) throws(Refusal) {
        let durations = renditions.compactMap { $0.source?.playlist.duration.seconds }
        let duration = durations.max() ?? 0
        guard range.lowerBound < duration else { throw .noSuchTime(name: asset.name, duration: duration) }
    }

    /// Estimates are inexact: a download that passes may still have to wait for room.
    func checkRoom(for task: DownloadTask, of asset: Asset) async throws(Refusal) {
        guard let room = library.volumes.room(for: asset) else { return }
        let reserved = asset.isHome ? reservedBytes : 0
        let progress = await Download(asset, task, state: .queued, created: 0).measuredProgress()
        // An invented size is no reason to refuse: a download for which there is no room waits.
        guard let total = progress.estimatedBytes else { return }
        let needed = Int64(total - progress.bytes)
        guard needed > room - reserved, let free = freeRoom(for: asset), needed > free else { return }
        throw .noRoom(name: asset.name, needed: needed, free: free, isReserved: reserved > 0)
    }
}

extension Rendition {
    /// True if a segment is stored with its initialization section and keys.
    fileprivate var hasPlayableSegment: Bool {
        guard folder.hasSegments == true, let segments = source?.playlist.segments else { return false }
        return segments.contains { segment in
            guard folder.sizes[file(of: segment), default: 0] > 0 else { return false }
            if let map = segment.map, !folder.contains(name(of: map).description) {
                return false
            }
            return segment.keys.compactMap { number(of: $0) }.allSatisfy(keys.hasFile)
        }
    }

    /// A sentence about the segments that its playlist skips although it was requested as a whole; nil if it lists all.
    fileprivate var abridgement: String? {
        guard let skipped = source?.playlist.skippedSegments, skipped > 0 else { return nil }
        return "the origin's playlist of \(name.id) skips \(skipped) segments; the listed ones are downloaded"
    }
}

extension Downloader {
    /// Continues with the next best quality if the origin has delivered nothing of the selected variant that plays. Returns
    /// false if nothing else is left: the task is then as it was ordered.
    func takeNextBest(_ download: Download, _ failure: JobFailure) async -> Bool {
        let asset = download.asset
        guard let item = download.task.items.first, let variant = item.renditions.first.flatMap(asset.rendition),
            asset.multivariant != nil, !variant.hasPlayableSegment
        else { return false }
        if download.undelivered.isEmpty {
            download.ordered = (download.task, failure)
        }
        download.undelivered.insert(variant.index)
        let order = DownloadOrder(item.selection, range: item.range)
        do throws(Refusal) {
            var next = try await self.item(item.selection, order, of: asset, without: download.undelivered)
            let first = download.ordered?.failure ?? failure
            let sentence = "\(first.message); the next best quality is downloaded"
            next.shortfall = Shortfall(.quality, sentence)
            guard byAsset[asset.id] === download, download.state == .running else { return true }
            report("\(asset.name): \(sentence)")
            download.task = download.task.with([next] + download.task.items.dropFirst())
            notify(download, .selectionResolved(Download.Selected(next)))
            set(download, .queued)
            return true
        } catch {
            guard let ordered = download.ordered else { return false }
            download.task = ordered.task
            download.ordered = nil
            download.undelivered = []
            fail(download, ordered.failure)
            return true
        }
    }
}

extension Downloader.Refusal {
    /// True if the origin does not have the playlist of one variant, does not give it, is silent about it, or gives something
    /// else: another variant may be available.
    fileprivate var isAboutOneVariant: Bool {
        guard case .library(let error) = self else { return false }
        return [.missing, .notPlaylist, .badOrigin, .originRefused, .originAbsent, .hostDead].contains(error.code)
    }

    fileprivate var isAnswer: Bool {
        guard case .library(let error) = self, let status = error.originStatus else { return false }
        return [403, 404, 410].contains(status)
    }

    /// True if the origin was reached and did not answer in time.
    fileprivate var isSilence: Bool {
        guard case .library(let error) = self, error.code == .originAbsent else { return false }
        return !isUnreachable
    }

    private var isUnreachable: Bool {
        guard case .library(let error) = self else { return false }
        return (error.underlying as? OriginError)?.code == .unreachable
    }
}
