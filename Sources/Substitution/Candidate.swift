import Assets
import EventLoop
import Fetching
import HLS
import Store

/// A rendition whose pieces are compared with those of others: its playlist, which has ended, with what is stored of it.
///
/// Valid until the playlist is replaced. All comparisons of the asset share it.
@LoopActor final class Candidate {
    let rendition: Rendition
    let traits: RenditionTraits
    let timed: TimedPlaylist
    private var known: (changes: Int, indices: [Int])?

    /// Nil without a playlist that has ended.
    init?(_ rendition: Rendition, _ traits: RenditionTraits) {
        guard let source = rendition.source, source.isDurable, let times = rendition.segmentTimes else { return nil }
        self.rendition = rendition
        self.traits = traits
        timed = TimedPlaylist(source.playlist, times: times)
    }

    /// The indices of the stored segments, sorted. Found by the names of the files: few pieces of a long playlist are stored.
    var storedIndices: [Int] {
        let folder = rendition.folder
        let sizes = folder.sizes
        if let known, known.changes == folder.changes {
            return known.indices
        }
        var indices: [Int] = []
        if let source = rendition.source, timed.count == source.playlist.segments.count {
            for file in sizes.keys {
                guard case .segment(let number)? = PieceName(file)?.role, let segment = source.segment(number),
                    !segment.isGap, rendition.file(of: segment) == file
                else { continue }
                indices.append(segment.index)
            }
        }
        indices.sort()
        known = (folder.changes, indices)
        return indices
    }
}
