import EventLoop
import Fetching
import Playlist

/// What of an asset is there.
extension Asset {
    /// The places in `renditionURIs` of the renditions that are stored whole.
    public var wholeRenditions: Set<Int> { Set(renditions.indices.filter { renditions[$0].isWhole }) }

    /// Whether anything of it plays without the origin.
    public var isPlayableOffline: Bool {
        guard let multivariant else { return renditions.first?.isWhole ?? false }
        return !multivariant.completeVariants(renditions: wholeRenditions).isEmpty
    }

    /// Whether everything that players load of it is there; trick-play lists aside, which none of them does.
    public var isEverythingWhole: Bool {
        entry != nil && renditions.allSatisfy { $0.name.isIFramesOnly || $0.isWhole }
    }

    /// Whether it is known to be live.
    public var isLive: Bool { renditions.contains(where: \.isLive) }

    /// The sum of its pieces' lengths.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.bytes } }

    /// The sum of the lengths of its cached pieces, in bytes; `bytes` includes it.
    public var cachedBytes: Int64 {
        folders.reduce(0) { sum, folder in
            _ = folder.sizes  // The play cache sorts the pieces of a folder when it is read.
            return sum + folder.cachedBytes
        }
    }

    /// True if its origin did not answer when it was last asked.
    package var isOriginAbsent: Bool { checked.map { !$0.isPresent } ?? false }

    /// The media's length in seconds, of the first playlist that is known; nil for live streams.
    public var duration: Double? { renditions.lazy.compactMap { $0.source }.first { $0.isDurable }?.playlist.duration }
}
