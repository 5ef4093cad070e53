extension MediaPlaylist {
    /// What a text that was fetched again is to the one before: is it the same presentation, and what is new in it?
    public enum Relation: Hashable, Sendable {
        /// The same segments and parts, and as ended as before.
        case same
        /// The same beginning, and that many segments more; none where only parts, or the end, are new.
        case grown(added: Int)
        /// That many segments have gone from the beginning, and that many have come: all of them, where the whole
        /// window is another one.
        case slid(removed: Int, added: Int)
        /// An earlier text, as a cache may give: its window ends before the known one, and agrees with it.
        case stale
        /// Another presentation, or another revision of it: at this media sequence number something else stands now;
        /// nil where the numbering itself began anew.
        case changed(at: Int?)
    }

    /// What this text is to an earlier one from the same URL.
    ///
    /// Segments are known by their media sequence numbers (RFC 8216 §6.2.1) and compared by duration, date, byte range,
    /// discontinuity, and the kinds of their keys and sections, never by URI: hosts move, and tokens expire. A finished
    /// playlist can only be the same or have changed.
    public func relation(to earlier: MediaPlaylist) -> Relation {
        let (window, known) = (sequenceWindow, earlier.sequenceWindow)
        // What EXT-X-SKIP left out must have been there.
        if isDeltaUpdate, storage.header.firstSequenceNumber > known.upperBound { return .changed(at: nil) }
        if let number = firstDifference(from: earlier) { return .changed(at: number) }
        if window.lowerBound < known.lowerBound {
            let isOlder =
                !earlier.hasEndList && window.overlapsOrTouches(known) && window.upperBound <= known.upperBound
            return isOlder && !hasEndList ? .stale : .changed(at: nil)
        }
        if earlier.hasEndList { return window == known && hasEndList ? .same : .changed(at: nil) }
        if window.upperBound < known.upperBound {
            return hasEndList || window.lowerBound > known.lowerBound ? .changed(at: window.upperBound) : .stale
        }
        let added = window.upperBound - max(window.lowerBound, known.upperBound)
        if window.lowerBound > known.lowerBound {
            return .slid(removed: min(window.lowerBound, known.upperBound) - known.lowerBound, added: added)
        }
        let isSame = added == 0 && !hasEndList && parts.count == earlier.parts.count
        return isSame ? .same : .grown(added: added)
    }

    /// The media sequence numbers of all segments, those that EXT-X-SKIP stands for included.
    private var sequenceWindow: Range<Int> {
        mediaSequence..<storage.header.firstSequenceNumber + segments.count
    }

    /// The first number at which both list a segment and these are not alike.
    private func firstDifference(from earlier: MediaPlaylist) -> Int? {
        let (first, known) = (storage.header.firstSequenceNumber, earlier.storage.header.firstSequenceNumber)
        let start = max(first, known)
        let end = min(first + segments.count, known + earlier.segments.count)
        guard start < end else { return nil }
        return (start..<end).first { number in
            !segments[number - first].isAlike(earlier.segments[number - known], atStart: number == start)
        }
    }
}

extension Range<Int> {
    fileprivate func overlapsOrTouches(_ other: Range<Int>) -> Bool {
        lowerBound <= other.upperBound && other.lowerBound <= upperBound
    }
}

extension Segment {
    /// Whether two segments of one number may be the same; at the start of a window a discontinuity may have been
    /// counted off already.
    fileprivate func isAlike(_ other: Segment, atStart: Bool) -> Bool {
        guard abs(duration - other.duration) < 0.01, byteRange == other.byteRange else { return false }
        guard isDiscontinuity == other.isDiscontinuity || atStart else { return false }
        guard (map == nil) == (other.map == nil), keys.map(\.method) == other.keys.map(\.method) else { return false }
        guard let text = programDateTime, let otherText = other.programDateTime, text != otherText else { return true }
        guard let date = DateTime(text), let otherDate = DateTime(otherText) else { return true }
        return abs(date.milliseconds - otherDate.milliseconds) < 500
    }
}
