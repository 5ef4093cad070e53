package import EventLoop
import Fetching
import HTTPMessage
package import Playlist
import Store

/// Writes the playlists and `asset.json` of a bundle. They list the complete renditions by relative names: the
/// folder is then plain HLS, which any player and any static server can use without Weir.
@LoopActor package struct BundlePlaylists {
    /// A multivariant playlist and the files that it names.
    package struct Master {
        /// The text of the playlist.
        package let text: [UInt8]
        /// The places in `Asset.renditions` of the listed renditions.
        package var renditions: Set<Int> = []
        /// The paths of session keys and session data that it names.
        package var files: Set<String> = []
    }

    private let asset: Asset

    package init(_ asset: Asset) { self.asset = asset }

    /// Writes all files. Each write is atomic: a reader sees the old text or the new one.
    func write() throws {
        for rendition in asset.renditions + asset.additions.sorted where rendition.isComplete {
            guard let playlist = rendition.source?.playlist else { continue }
            try rendition.folder.write(media(playlist, of: rendition), as: "media.m3u8")
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
    package func media(_ playlist: MediaPlaylist, of rendition: Rendition) throws -> [UInt8] {
        try names(in: playlist, of: rendition).media(playlist)
    }

    /// The names in the stored playlist of a rendition.
    package func names(in playlist: MediaPlaylist, of rendition: Rendition) -> BundleNames {
        var names = BundleNames(
            segments: rendition.segmentFiles, rule: rendition.segmentNames(),
            sections: playlist.maps.map { rendition.name(of: $0).description },
            keys: playlist.keys.map { rendition.number(of: $0) })
        for range in playlist.dateRanges where range.isInterstitial {
            names.presentations[range.index] = stored(range.assetURI, .presentation, of: rendition)
            names.lists[range.index] = stored(range.assetList, .list, of: rendition)
        }
        return names
    }

    /// The path of an interstitial's file; nil if it is not stored.
    private func stored(_ uri: String?, _ kind: Interstitials.Kind, of rendition: Rendition) -> String? {
        guard let url = uri.flatMap({ uri in rendition.source.flatMap { try? $0.base.resolving(uri) } }) else {
            return nil
        }
        let name = asset.interstitials.name(url, kind)
        return asset.hasStored(name) ? "../\(Interstitials.folder)/\(name)" : nil
    }

    /// The multivariant playlist of the complete renditions; nil if nothing plays.
    package func master() throws -> Master? { try master(of: asset.completeRenditions) }

    /// The multivariant playlist of the renditions at these places; nil if nothing plays.
    package func master(of whole: Set<Int>) throws -> Master? {
        guard let multivariant = asset.multivariant else {
            guard let rendition = asset.renditions.first, whole.contains(0) else { return nil }
            let text = rendition.masterText(uri: "\(rendition.name.id)/media.m3u8")
            return Master(text: try asset.addedTracks.added(to: text) { $0 }, renditions: [0])
        }
        var (renditions, files): (Set<Int>, Set<String>) = ([], [])
        let text = try multivariant.stored(.bundle, renditions: whole) { reference in
            if let index = reference.renditionIndex {
                renditions.insert(index)
                return "\(asset.renditions[index].name.id)/media.m3u8"
            }
            let file = asset.storedFile(of: reference)
            if let file { files.insert(file) }
            return file
        }
        return try text.map {
            Master(text: try asset.addedTracks.added(to: $0) { $0 }, renditions: renditions, files: files)
        }
    }

    /// The text of `asset.json`.
    package func identity() throws -> [UInt8] {
        var identity = BundleIdentity(id: asset.id, name: asset.name, title: asset.title, created: asset.created)
        (identity.note, identity.artwork) = (asset.note, asset.artworkKind?.fileName)
        identity.origin = asset.origin.isPlaceholder ? nil : asset.origin.redacted
        let (policy, ring) = (asset.life.policy, asset.keys)
        if policy != StoragePolicy() { identity.policy = policy }
        if policy.afterFirstPlay != nil { identity.firstPlayed = asset.life.firstPlayed }
        let (attachments, interstitials) = (asset.additions.attachments, asset.additions.interstitials)
        identity.attachments = attachments.isEmpty ? nil : attachments
        identity.interstitials = asset.additions.keepsInterstitials ? interstitials : nil
        if ring.isLimited { identity.keys = ring.allNumbers.map { BundleIdentity.Key($0, ring.life(of: $0)) } }
        return try identity.text()
    }
}

/// The names in the stored playlist of a rendition that has ended. Writes it on any thread.
package struct BundleNames: Sendable {
    /// File names, by index in the playlist; none unless it has ended.
    let segments: [String]
    /// Names the segments of a playlist that has not ended.
    let rule: Rendition.SegmentNames
    let sections: [String]
    /// The numbers of the keys, by index; nil for keys that cannot be fetched.
    let keys: [Int?]
    /// The paths of stored interstitials, by index of the EXT-X-DATERANGE.
    var presentations: [Int: String] = [:]
    var lists: [Int: String] = [:]

    init(segments: [String], rule: Rendition.SegmentNames, sections: [String], keys: [Int?]) {
        self.segments = segments
        self.rule = rule
        self.sections = sections
        self.keys = keys
    }

    /// The playlist with these names.
    package func media(_ playlist: MediaPlaylist) throws(PlaylistError) -> [UInt8] {
        try playlist.rendered(.bundle) { reference in
            switch reference {
            case .segment(let segment): file(of: segment)
            case .map(let map): sections[map.index]
            case .key(let key): number(of: key).map { "../keys/\(KeyRing.name($0))" }
            case .assetURI(let range): presentations[range.index]
            case .assetList(let range): lists[range.index]
            case .part, .preloadHint, .renditionReport: nil
            }
        }
    }

    private func number(of key: Key) -> Int? { keys.indices.contains(key.index) ? keys[key.index] : nil }

    private func file(of segment: Segment) -> String {
        segments.indices.contains(segment.index) ? segments[segment.index] : rule.file(of: segment)
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
        return segments.reduce(BitRate(1)) { peak, segment in
            guard let size = folder.sizes[name(of: segment).description] else { return peak }
            return max(peak, BitRate(of: ByteCount(size), in: segment.duration))
        }
    }
}
