package import Assets
import EventLoop
import Fetching
import HLS
package import Orders
import Retention

/// Pre-caching: the beginning of an asset is fetched into the play cache, so that it plays at once. It is not pinned, and is
/// evicted as what was played.
extension Downloader {
    private static let cacheWidth = 6

    /// Fetches what the first seconds of a selection need, in time order. Returns the number of bytes that were fetched.
    package func cache(_ asset: Asset, _ selection: Selection, seconds: Double) async throws(Refusal) -> Int64 {
        do { try retention.checkExpiry(of: asset) } catch { throw .library(error) }
        let item = try await item(selection, DownloadOrder(), of: asset)
        if !asset.isPersistent {
            await library.records.saveNew(asset)
        }
        var wanted = item.renditions.compactMap { asset.rendition($0) }
            .flatMap { Self.beginning(of: $0, seconds: seconds) }
            .sorted { $0.start < $1.start }.map { ($0.folder, $0.resource) }[...]
        var bytes: Int64 = 0
        while !wanted.isEmpty {
            let batch = wanted.prefix(Self.cacheWidth)
            wanted = wanted.dropFirst(batch.count)
            bytes += try await fetch(batch.filter { !$0.0.contains($0.1.name.description) }, of: asset)
        }
        return bytes
    }

    private typealias Piece = (folder: PieceFolder, resource: Resource, start: Double)

    private static func beginning(of rendition: Rendition, seconds: Double) -> [Piece] {
        var sections: [Map] = []
        var keys: [Key] = []
        var segments: [Piece] = []
        guard let playlist = rendition.source?.playlist else { return [] }
        var time = 0.0
        for segment in playlist.segments {
            guard time < seconds else { break }
            if let section = segment.map, section.index != sections.last?.index {
                sections.append(section)
            }
            keys += segment.keys
            if !segment.isGap, let resource = rendition.resource(of: segment) {
                segments.append((rendition.folder, resource, time))
            }
            time += segment.duration.seconds
        }
        let needed = rendition.names(of: sections, keys)
        let preliminaries = rendition.preliminaries.filter { needed.contains($0.resource.name) }
        return preliminaries.map { ($0.folder, $0.resource, -1) } + segments
    }

    private func fetch(_ pieces: [(PieceFolder, Resource)], of asset: Asset) async throws(Refusal) -> Int64 {
        var fetches: [Fetch] = []
        defer {
            for fetch in fetches {
                fetch.release()
            }
        }
        do throws(LibraryError) {
            for (folder, resource) in pieces {
                fetches.append(try library.fetch(resource, in: folder, of: asset, urgency: .background))
            }
        } catch {
            throw .library(error)
        }
        var bytes: Int64 = 0
        for fetch in fetches {
            let result = await withCheckedContinuation { continuation in
                fetch.whenEnded { continuation.resume(returning: $0) }
            }
            if case .failure(let error) = result {
                throw .library(LibraryError(error))
            }
            if let failure = fetch.keepFailure {
                throw .library(LibraryError(failure, about: "\(fetch.resource.name) of \(asset.name) is not kept"))
            }
            bytes += fetch.written
        }
        return bytes
    }
}
