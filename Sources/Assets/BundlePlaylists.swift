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
    package func write() throws {
        for rendition in asset.renditions + asset.content.additions.sorted where rendition.isComplete {
            guard let source = rendition.source else { continue }
            try rendition.folder.write(media(source, of: rendition), as: "media.m3u8")
        }
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
        guard let url = uri.flatMap({ try? source.base.resolving($0) }) else { return nil }
        let name = asset.content.interstitials.name(url, kind)
        return asset.content.additions.hasStored(name) ? "../\(Interstitials.folder)/\(name)" : nil
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
        return try text.map {
            Master(text: try asset.content.additions.tracks.added(to: $0) { $0 }, renditions: renditions, files: files)
        }
    }

    /// The text of `asset.json`.
    package func identity() throws -> [UInt8] {
        var identity = BundleIdentity(id: asset.id, name: asset.name, title: asset.title, created: asset.created)
        identity.note = asset.note
        let additions = asset.content.additions
        identity.artwork = additions.artwork?.fileName
        // A recording is nowhere else: its URL leads to what the channel shows now.
        let hasOrigin = !asset.origin.isPlaceholder && !asset.isChannelRecording
        identity.origin = hasOrigin ? asset.origin.redacted : nil
        let policy = asset.life.policy
        let ring = asset.keys
        if policy != StoragePolicy() {
            identity.policy = policy
        }
        if policy.afterFirstPlay != nil {
            identity.firstPlayed = asset.life.firstPlayed
        }
        identity.attachments = additions.attachments.isEmpty ? nil : additions.attachments
        identity.interstitials = additions.keepsInterstitials ? additions.interstitials : nil
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
        guard let segments = source?.playlist.segments else { return .zero }
        let sizes = folder.sizes
        guard !sizes.isEmpty else { return BitRate(1) }
        return segments.reduce(BitRate(1)) { peak, segment in
            guard let size = sizes[file(of: segment)] else { return peak }
            return max(peak, BitRate(of: ByteCount(size), in: segment.duration))
        }
    }
}
