public import EventLoop
public import Library
import Playlist

/// What is still to be fetched for a download, in the order in which playback needs it.
///
/// Made anew from what is on disk: no counter is trusted. Keys and initialization sections first, then the segments of
/// all renditions by media time, so that a third of a download is a playable first third.
@LoopActor public struct Plan {
    /// One resource that is not there.
    public struct Hole {
        /// Where its piece belongs.
        public let folder: PieceFolder
        /// What to fetch.
        public let resource: Resource
        /// Where it begins in media time, in seconds; -1 for what must be there before anything plays.
        public let time: Double
    }

    /// The holes, next first.
    public let holes: [Hole]

    /// The plan for these renditions, whose playlists are known.
    public init(for renditions: [Rendition]) {
        var holes: [Hole] = []
        var seen: Set<Resource> = []
        for rendition in renditions {
            for (folder, resource) in rendition.preliminaries where !folder.contains(resource.name.description) {
                // A key may belong to several renditions, and still is one hole.
                if folder === rendition.folder || seen.insert(resource).inserted {
                    holes.append(Hole(folder: folder, resource: resource, time: -1))
                }
            }
            holes += Self.segments(of: rendition)
        }
        // Stable, so that the video comes before the sound of the same instant.
        self.holes = holes.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    private static func segments(of rendition: Rendition) -> [Hole] {
        var holes: [Hole] = []
        var time = 0.0
        guard let segments = rendition.source?.playlist.segments else { return [] }
        for segment in segments {
            defer { time += segment.duration }
            guard !segment.isGap, !rendition.folder.contains(rendition.file(of: segment)) else { continue }
            guard let resource = rendition.resource(of: segment) else { continue }
            holes.append(Hole(folder: rendition.folder, resource: resource, time: time))
        }
        return holes
    }
}
