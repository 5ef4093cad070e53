import EventLoop
package import Library
import Playlist
import Retention
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
        /// The disk has less room than the download is estimated to need; values in bytes.
        case noRoom(name: String, needed: Int64, free: Int64)
        /// A newer Weir wrote the asset's download task, which is not overwritten.
        case unreadable(name: String)
        /// A playlist could not be loaded.
        case library(LibraryError)

        package var description: String {
            switch self {
            case .live(let name): "\(name) is live: live streams cannot be saved while they are in progress"
            case .needsDRM(let name): "\(name) is protected by DRM: a stored copy could not be played"
            case .noMatch(let error): error.description
            case .noSuchTime(let name, let duration):
                "\(name) is over after \(Int(duration.rounded())) s: the range begins after its end"
            case .noRoom(let name, let needed, let free):
                "\(name) takes about \(needed >> 20) MB, and the disk has room for \(free >> 20) MB"
            case .unreadable(let name):
                "what is to be kept of \(name) was noted by a newer Weir, and is left as it is"
            case .library(let error): error.message
            }
        }
    }

    /// Resolves a selection against the asset's playlists, which it loads.
    func item(
        _ selection: Selection, _ order: DownloadOrder, of asset: Asset
    ) async throws(Refusal) -> DownloadTask.Item {
        var chosen = try choose(asset, selection)
        // The first failure, which is also the reason for another quality.
        var (failure, excluded): (Refusal?, Set<Int>) = (nil, [])
        while let variant = chosen.first {
            do throws(Refusal) {
                try await checkTwice(variant, of: asset, order)
                break
            } catch {
                guard error.isAboutOneVariant, asset.multivariant != nil else { throw failure ?? error }
                excluded.insert(variant.place)
                failure = failure ?? error
                guard let next = try? choose(asset, selection, without: excluded) else { throw failure ?? error }
                chosen = next
            }
        }
        for rendition in chosen.dropFirst() {
            try await check(rendition, of: asset, recordsLive: order.recordsLive)
        }
        if let range = order.range { try check(range, chosen, of: asset) }
        let reason = failure.map { "\($0); the next best quality is downloaded" }
        return DownloadTask.Item(
            selection, range: order.range, renditions: chosen.map(\.name.id), otherQuality: reason)
    }

    private func choose(
        _ asset: Asset, _ selection: Selection, without excluded: Set<Int> = []
    ) throws(Refusal) -> [Rendition] {
        guard let playlist = asset.multivariant else { return asset.renditions }
        do {
            return try selection.renditions(of: playlist, without: excluded).map { asset.renditions[$0] }
        } catch {
            throw .noMatch(error)
        }
    }

    /// Checks a variant, once more if the origin does not have its playlist: one such answer may be a mistake.
    private func checkTwice(
        _ variant: Rendition, of asset: Asset, _ order: DownloadOrder
    ) async throws(Refusal) {
        do throws(Refusal) {
            try await check(variant, of: asset, recordsLive: order.recordsLive)
        } catch {
            guard error.isAboutOneVariant else { throw error }
            try await check(variant, of: asset, recordsLive: order.recordsLive)
        }
    }

    private func check(_ rendition: Rendition, of asset: Asset, recordsLive: Bool) async throws(Refusal) {
        let source: Rendition.Source
        do throws(LibraryError) {
            source = try await library.playlists.source(of: rendition, in: asset)
        } catch {
            throw .library(error)
        }
        if rendition.needsDRM { throw .needsDRM(name: asset.name) }
        if !source.isDurable, !recordsLive { throw .live(name: asset.name) }
    }

    private func check(_ range: Range<Double>, _ renditions: [Rendition], of asset: Asset) throws(Refusal) {
        let duration = renditions.compactMap { $0.source?.playlist.duration }.max() ?? 0
        guard range.lowerBound < duration else { throw .noSuchTime(name: asset.name, duration: duration) }
    }

    /// Estimates are inexact: a download that passes may still have to wait for room.
    func checkRoom(for task: DownloadTask, of asset: Asset) throws(Refusal) {
        guard let room = library.volumes.room(for: asset) else { return }
        let progress = Download(asset, task, state: .queued, created: 0).progress
        let needed = progress.totalBytes - progress.bytes
        guard needed > room, let free = retention.roomAfterPurge(for: asset), needed > free else { return }
        throw .noRoom(name: asset.name, needed: needed, free: free)
    }
}

extension Downloader.Refusal {
    /// True if the origin does not have the playlist of one variant, or does not give it: another variant may be available.
    fileprivate var isAboutOneVariant: Bool {
        guard case .library(let error) = self, let status = error.originStatus else { return false }
        return [403, 404, 410].contains(status)
    }
}
