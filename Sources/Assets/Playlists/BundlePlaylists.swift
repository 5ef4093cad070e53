package import EventLoop
import Fetching
package import HLS
import HTTPMessage
import Orders
import Store

/// Writes the playlists and `asset.json` of a bundle. They list the complete renditions by relative names: the
/// folder is then plain HLS, which any player and any static server can use without Weir.
@LoopActor package struct BundlePlaylists {
    /// A multivariant playlist and the files that it names.
    package struct Master {
        /// The text of the playlist.
        package let text: [UInt8]
        /// The indices in `Asset.renditions` of the listed renditions.
        package var renditions: Set<Int> = []
        /// The paths of session keys and session data that it names.
        package var files: Set<String> = []
    }

    private let asset: Asset

    package init(_ asset: Asset) { self.asset = asset }

    /// Writes all files. Each write is atomic: a reader sees the old text or the new one.
    /// - Parameter published: the indices of renditions whose playlists are there.
    package func write(leaving published: Set<Int> = []) throws {
        let renditions = asset.renditions.filter { !published.contains($0.index) } + asset.content.additions.sorted
        for rendition in renditions where rendition.isComplete {
            guard let source = rendition.source else { continue }
            try rendition.folder.write(media(source, of: rendition), as: "media.m3u8")
        }
        try writeEntry()
    }

    /// True if its playlists are too long, or too many, to be written in one turn of the loop.
    package var isLong: Bool {
        var size = 0
        for rendition in asset.renditions + asset.content.additions.sorted where rendition.isComplete {
            size += Self.fileCost + (rendition.source?.playlist.text.write().count ?? 0)
            if size > Self.longText {
                return true
            }
        }
        return false
    }

    /// In bytes: some milliseconds.
    private static let longText = 512 << 10
    /// A file takes as long as so many bytes of text: it is created, written and renamed.
    private static let fileCost = 16 << 10

    /// Writes all files, the playlists of renditions on another thread. What is no longer complete by then is left out.
    package func writeOutsideLoop() async throws {
        for rendition in asset.renditions + asset.content.additions.sorted where rendition.isComplete {
            guard let source = rendition.source else { continue }
            let names = names(in: source, of: rendition)
            let folder = try rendition.folder.directory(create: true)
            try await DiskWork.run { () throws(StoreError) in
                let text: [UInt8]
                do throws(PlaylistError) {
                    text = try names.text(of: source.playlist, as: .bundle)
                } catch {
                    throw StoreError(.io, path: "media.m3u8", detail: "\(error)")
                }
                try folder.directory.write(text, as: "media.m3u8")
            }
            if !rendition.isComplete {
                try rendition.folder.removeText("media.m3u8")
            }
        }
        if asset.multivariant == nil, let rendition = asset.renditions.first {
            await rendition.readPeakBitRate()
        }
        try writeEntry()
    }

    /// Writes the multivariant playlist and `asset.json`.
    private func writeEntry() throws {
        let folder = try asset.bundle.directory(create: true)
        if let master = try master() {
            try folder.write(master.text, as: "master.m3u8")
        } else {
            try folder.remove("master.m3u8")
        }
        try folder.write(try identity(), as: BundleIdentity.fileName)
    }

    /// The playlist of a rendition, which is stored beside the pieces.
    package func media(_ source: Rendition.Source, of rendition: Rendition) throws -> [UInt8] {
        try names(in: source, of: rendition).text(of: source.playlist, as: .bundle)
    }

    /// The names in the stored playlist of a rendition.
    package func names(in source: Rendition.Source, of rendition: Rendition) -> MediaNames {
        var names = rendition.names(in: source)
        names.gaps = rendition.givenUpIndices
        names.keepsGaps = rendition.fillsGaps(of: source)
        for range in source.playlist.dateRanges where range.isInterstitial {
            names.presentations[range.index] = stored(range.assetURI, .presentation, in: source)
            names.lists[range.index] = stored(range.assetList, .list, in: source)
        }
        return names
    }

    /// The path of an interstitial's file; nil if it is not stored.
    private func stored(_ uri: String?, _ kind: Interstitials.Kind, in source: Rendition.Source) -> String? {
        guard let uri, let url = try? source.base.resolving(uri) else { return nil }
        let name = asset.content.interstitials.name(url, kind)
        guard asset.content.additions.hasStored(name) else { return nil }
        return "../\(Interstitials.folder)/\(name)"
    }

    /// The multivariant playlist of the complete renditions; nil if nothing plays.
    package func master() throws -> Master? { try master(of: asset.content.completeRenditions) }

    /// The multivariant playlist of the renditions at these indices; nil if nothing plays.
    package func master(of whole: Set<Int>) throws -> Master? {
        guard let multivariant = asset.multivariant else {
            guard let rendition = asset.renditions.first, whole.contains(0) else { return nil }
            let text = rendition.masterText(uri: "\(rendition.name.id)/media.m3u8")
            return Master(text: try asset.content.additions.tracks.added(to: text) { $0 }, renditions: [0])
        }

        var renditions: Set<Int> = []
        var files: Set<String> = []
        let text = try multivariant.stored(.bundle, renditions: whole) { reference in
            if let index = reference.renditionIndex {
                renditions.insert(index)
                return "\(asset.renditions[index].name.id)/media.m3u8"
            }
            let file = asset.content.storedFile(of: reference)
            if let file {
                files.insert(file)
            }
            return file
        }
        guard let text else { return nil }
        let complete = try asset.content.additions.tracks.added(to: text) { $0 }
        return Master(text: complete, renditions: renditions, files: files)
    }

    /// The text of `asset.json`.
    package func identity() throws -> [UInt8] {
        var identity = BundleIdentity(id: asset.id, name: asset.name, title: asset.title, created: asset.created)
        identity.note = asset.note
        // The URL of a recording leads to what its channel shows now.
        if !asset.origin.isPlaceholder, !asset.isChannelRecording {
            identity.origin = asset.origin.redacted
        }

        let policy = asset.life.policy
        if policy != StoragePolicy() {
            identity.policy = policy
        }
        if policy.afterFirstPlay != nil {
            identity.firstPlayed = asset.life.firstPlayed
        }

        let additions = asset.content.additions
        identity.artwork = additions.artwork?.fileName
        if !additions.attachments.isEmpty {
            identity.attachments = additions.attachments
        }
        if additions.keepsInterstitials {
            identity.interstitials = additions.interstitials
        }

        let ring = asset.keys
        if ring.isLimited {
            identity.keys = ring.allNumbers.map { BundleIdentity.Key($0, ring.life(of: $0)) }
        }
        return try identity.text()
    }
}

extension Rendition {
    /// A multivariant playlist with this rendition as its only variant.
    package func masterText(uri: String) -> [UInt8] {
        Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(Int(peakBitRate))\n\(uri)\n".utf8)
    }

    /// The peak segment bit rate of the stored segments: BANDWIDTH of RFC 8216 §4.3.4.2.
    package var peakBitRate: BitRate {
        if let known = knownPeakBitRate {
            return known
        }
        guard let source else { return .zero }
        guard !folder.sizes.isEmpty else { return Self.leastBitRate }
        let files = source.playlist.segments.map { file(of: $0) }
        let peak = Self.peakBitRate(of: source.playlist.segments, files, folder.sizes)
        knownPeakBitRate = peak
        return peak
    }

    /// Computes `peakBitRate` on a worker, if the playlist is long.
    package func readPeakBitRate() async {
        guard knownPeakBitRate == nil, let source, source.isDurable, !folder.sizes.isEmpty else { return }
        let segments = source.playlist.segments
        let files = segmentFiles
        let sizes = folder.sizes
        let changes = folder.changes
        let edition = edition
        let peak = await PureWork.shared.run(size: 64 * segments.count, for: self) {
            Self.peakBitRate(of: segments, files, sizes)
        }
        if let peak, folder.changes == changes, self.edition == edition {
            knownPeakBitRate = peak
        }
    }

    /// The bit rate of a rendition without segments: zero is no BANDWIDTH.
    private nonisolated static let leastBitRate = BitRate(1)

    private nonisolated static func peakBitRate(
        of segments: Segments, _ files: [String], _ sizes: PieceTable<Int64>
    ) -> BitRate {
        zip(segments, files).reduce(leastBitRate) { peak, segment in
            guard let size = sizes[segment.1] else { return peak }
            return max(peak, BitRate(of: ByteCount(size), in: segment.0.duration))
        }
    }
}
