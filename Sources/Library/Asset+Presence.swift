import EventLoop
import Fetching
import Playlist

/// Counts the stored parts of an asset.
extension Asset {
    /// The places in `renditionURIs` of the complete renditions.
    public var wholeRenditions: Set<Int> { Set(renditions.indices.filter { renditions[$0].isWhole }) }

    /// True if any part of the asset plays without the origin.
    public var isPlayableOffline: Bool {
        guard let multivariant else { return renditions.first?.isWhole ?? false }
        return !multivariant.completeVariants(renditions: wholeRenditions).isEmpty
    }

    /// True if every rendition that players load is complete. Trick-play playlists do not count: no player loads them.
    public var isEverythingWhole: Bool {
        entry != nil && renditions.allSatisfy { $0.name.isIFramesOnly || $0.isWhole }
    }

    /// True if the asset is known to be live.
    public var isLive: Bool { renditions.contains(where: \.isLive) }

    /// Total size of its pieces, in bytes.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.bytes } }

    /// Total size of its cached pieces, in bytes; `bytes` includes it.
    public var cachedBytes: Int64 {
        folders.reduce(0) { sum, folder in
            _ = folder.sizes  // The play cache counts the pieces of a folder when the folder is read.
            return sum + folder.cachedBytes
        }
    }

    /// True if its origin did not answer the latest request.
    package var isOriginAbsent: Bool { checked.map { !$0.isPresent } ?? false }

    /// The duration in seconds, from the first known playlist; nil for live streams.
    public var duration: Double? { renditions.lazy.compactMap { $0.source }.first { $0.isDurable }?.playlist.duration }
}
