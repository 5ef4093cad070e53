import EventLoop
import FoundationEssentials
import HTTPMessage
import Playlist
import Store

/// What makes a bundle plain HLS: playlists with relative names over the renditions that are whole, and `asset.json`.
///
/// The folder then plays in any player, and from any static server, with no Weir.
@LoopActor struct BundlePlaylists {
    /// `asset.json`, format 1: what the folder is, without secrets.
    private struct Identity: Encodable {
        let format = 1
        let id: String
        let name: String
        let title: String?
        /// The image's file in this folder.
        let artwork: String?
        /// Without its query, where tokens are.
        let origin: String
        let created: Int64
        /// What the user wants, where that is anything.
        let policy: StoragePolicy?
        /// When it was played first, where a window counts from that.
        let firstPlayed: Int64?
    }

    private let asset: Asset

    init(_ asset: Asset) { self.asset = asset }

    /// Writes all of them anew, each at once: a reader sees the old text or the new one.
    func write() throws {
        for rendition in asset.renditions where rendition.isWhole {
            guard let playlist = rendition.source?.playlist else { continue }
            try rendition.folder.write(media(playlist, of: rendition), as: "media.m3u8")
        }
        let folder = try asset.bundle.directory(create: true)
        if let master = try master() {
            try folder.write(master, as: "master.m3u8")
        } else {
            try folder.remove("master.m3u8")
        }
        try folder.write(try identity(), as: "asset.json")
    }

    private func media(_ playlist: MediaPlaylist, of rendition: Rendition) throws -> [UInt8] {
        try playlist.rendered(.bundle) { reference in
            switch reference {
            case .segment(let segment): rendition.file(of: segment)
            case .map(let map): rendition.name(of: map).description
            case .key(let key): rendition.number(of: key).map { "../keys/\(KeyRing.name($0))" }
            case .part, .preloadHint, .renditionReport, .assetURI, .assetList: nil
            }
        }
    }

    private func master() throws -> [UInt8]? {
        guard let multivariant = asset.multivariant else {
            guard let rendition = asset.renditions.first, rendition.isWhole else { return nil }
            return Self.loneMaster(bandwidth: rendition.peakBitRate, path: "\(rendition.name.id)/media.m3u8")
        }
        return try multivariant.stored(.bundle, renditions: asset.wholeRenditions) { reference in
            if let index = reference.renditionIndex { return "\(asset.renditions[index].name.id)/media.m3u8" }
            return asset.storedFile(of: reference)
        }
    }

    private static func loneMaster(bandwidth: Int, path: String) -> [UInt8] {
        Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\n\(path)\n".utf8)
    }

    private func identity() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let (life, hasWindow) = (asset.life, asset.life.policy.afterFirstPlay != nil)
        let identity = Identity(
            id: asset.id, name: asset.name, title: asset.title, artwork: asset.artworkKind?.fileName,
            origin: asset.origin.redacted, created: asset.created,
            policy: life.policy == StoragePolicy() ? nil : life.policy, firstPlayed: hasWindow ? life.firstPlayed : nil)
        return Array(try encoder.encode(identity))
    }
}

extension Rendition {
    /// The largest bit rate of any segment that is here, in bits a second: RFC 8216 §4.3.4.2's BANDWIDTH.
    var peakBitRate: Int {
        guard let segments = source?.playlist.segments else { return 0 }
        return segments.reduce(1) { peak, segment in
            guard let size = folder.sizes[name(of: segment).description], segment.duration > 0 else { return peak }
            return max(peak, Int(min(Double(size) * 8 / segment.duration, 1e12)))
        }
    }
}
