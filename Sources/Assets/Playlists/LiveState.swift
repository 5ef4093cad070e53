package import EventLoop
import Fetching
package import HLS
import HTTPMessage

/// The state of a live playlist beside the playlist itself. On the heap, because most renditions were never live and have none.
@LoopActor package final class LiveState {
    /// The names of the resources that are no segments, and of recently removed segments.
    var names = LiveNames()
    private var numbering = LiveNumbering()
    /// The delta update after the latest full playlist, which is incomplete by itself and never stored.
    var update: Rendition.Source?
    /// The responses to requests with delivery directives.
    var directed = DirectedResponses()
    /// True if the latest reload failed.
    var isOverdue = false
    /// True if the latest load brought an older playlist, which was not shown.
    var hasSeenOlder = false
    /// The segments that players of the live stream do not see.
    package var omissions = LiveOmissions()
    /// The latest live playlist of which players see a segment, where that is not the present one.
    package var shown: (source: Rendition.Source, cut: MediaPlaylistCut?)?
    /// The last minutes for players; nil if nobody watches, or none are to be kept.
    package var timeShift: TimeShift?
    /// The recordings that take their playlists from this one. One that has ended is among them until another begins: players are
    /// behind it.
    var copies: [(rendition: Rendition, recording: any RenditionRecording)] {
        known.compactMap { copy in
            guard let rendition = copy.rendition, let recording = rendition.recording ?? copy.recording else {
                return nil
            }
            return (rendition, recording)
        }
    }
    private var known: [Copy] = []
    /// True if a recording may take its playlists from this one.
    var hasCopies: Bool { !known.isEmpty }

    private struct Copy {
        weak var rendition: Rendition?
        var recording: (any RenditionRecording)?
    }

    nonisolated init() {}

    /// Gives a live playlist the numbers for its names: after a restart of the origin's numbers a name does not stand for
    /// another segment than before.
    /// - Parameters:
    ///   - known: the present playlist.
    ///   - replaces: true if that is out of date, so that none is older.
    func numbered(
        _ source: Rendition.Source, after known: Rendition.Source?, replaces: Bool
    ) -> (source: Rendition.Source, order: Rendition.LiveOrder) {
        var source = source
        let before = numbering.shift
        var isElsewhere = false
        if let known {
            isElsewhere = known.base.replacingQuery(nil) != source.base.replacingQuery(nil)
        }
        if replaces {
            numbering.replace(with: source.playlist, isElsewhere: isElsewhere)
        } else {
            _ = numbering.accept(source.playlist, isElsewhere: isElsewhere)
        }
        source.shift = numbering.shift
        if numbering.shift != before {
            names.restart()
            return (source, .restarted)
        }
        if numbering.isOlder, !source.playlist.isDeltaUpdate {
            return (source, .older)
        }
        return (source, .newer)
    }

    /// Records that the rendition of a recording takes its playlists from this one.
    func add(_ copy: Rendition) {
        if let index = known.firstIndex(where: { $0.rendition === copy }) {
            known[index].recording = copy.recording ?? known[index].recording
            return
        }
        known.removeAll { $0.rendition?.recording == nil }
        known.append(Copy(rendition: copy, recording: copy.recording))
    }

    /// Forgets the playlists; the names stay valid for a while.
    func forgetPlaylists() {
        update = nil
        shown = nil
        timeShift?.clear()
    }
}
