extension MediaPlaylist {
    /// Result of comparing a refetched text with the previous one.
    public enum Relation: Hashable, Sendable {
        /// No change: equal segments, parts and EXT-X-ENDLIST.
        case same
        /// An equal beginning with `added` more segments; 0 if only parts or EXT-X-ENDLIST are new.
        case grown(added: Int)
        /// `removed` first segments are gone and `added` are new: all of them if the whole window was replaced.
        case slid(removed: Int, added: Int)
        /// An older text, as caches return: its window ends before the known one and agrees with it.
        case stale
        /// Another presentation or revision: the first number with another segment; nil if the numbering restarted.
        case changed(at: SequenceNumber?)
    }

    /// Compares this text with an earlier one from the same URL.
    ///
    /// Segments are matched by media sequence number (RFC 8216 §6.2.1) and compared by duration, date, byte range,
    /// discontinuity, and the kinds of their keys and sections. URIs are ignored, because hosts change and tokens
    /// expire. A playlist with EXT-X-ENDLIST can only be the same or have changed.
    public func relation(to earlier: MediaPlaylist) -> Relation {
        let window = sequenceWindow
        let known = earlier.sequenceWindow

        // The segments that EXT-X-SKIP omits must be in the earlier text.
        if isDeltaUpdate, storage.header.firstSequenceNumber > known.upperBound {
            return .changed(at: nil)
        }
        if let number = firstDifference(from: earlier) {
            return .changed(at: number)
        }

        if window.lowerBound < known.lowerBound {
            let isOlder =
                !earlier.hasEndList && window.overlapsOrTouches(known) && window.upperBound <= known.upperBound
            guard isOlder, !hasEndList else { return .changed(at: nil) }
            return .stale
        }

        if earlier.hasEndList {
            guard window == known, hasEndList else { return .changed(at: nil) }
            return .same
        }

        if window.upperBound < known.upperBound {
            guard hasEndList || window.lowerBound > known.lowerBound else { return .stale }
            return .changed(at: window.upperBound)
        }

        let added = window.upperBound - max(window.lowerBound, known.upperBound)
        // A playlist that had no segment yet has lost none.
        if window.lowerBound > known.lowerBound, !known.isEmpty {
            return .slid(removed: min(window.lowerBound, known.upperBound) - known.lowerBound, added: added)
        }

        let isSame = added == 0 && !hasEndList && parts.count == earlier.parts.count
        guard !isSame else { return .same }
        return .grown(added: added)
    }

    /// Media sequence numbers of all segments, including those that EXT-X-SKIP omits.
    private var sequenceWindow: Range<SequenceNumber> {
        mediaSequence..<storage.header.firstSequenceNumber + segments.count
    }

    private func firstDifference(from earlier: MediaPlaylist) -> SequenceNumber? {
        let first = storage.header.firstSequenceNumber
        let known = earlier.storage.header.firstSequenceNumber
        let start = max(first, known)
        let end = min(first + segments.count, known + earlier.segments.count)
        guard start < end else { return nil }
        let index = start - first
        let knownIndex = start - known
        let difference = (0..<end - start).first { offset in
            !segments[index + offset].isAlike(earlier.segments[knownIndex + offset], atStart: offset == 0)
        }
        return difference.map { start + $0 }
    }
}

extension Range<SequenceNumber> {
    fileprivate func overlapsOrTouches(_ other: Range<SequenceNumber>) -> Bool {
        lowerBound <= other.upperBound && other.lowerBound <= upperBound
    }
}

extension Segment {
    /// True if two segments with the same number may be the same. At the start of a window the discontinuity may
    /// already have moved into EXT-X-DISCONTINUITY-SEQUENCE.
    fileprivate func isAlike(_ other: Segment, atStart: Bool) -> Bool {
        guard duration.distance(from: other.duration) < 0.01, byteRange == other.byteRange else { return false }
        guard isDiscontinuity == other.isDiscontinuity || atStart else { return false }
        guard (map == nil) == (other.map == nil), keys.map(\.method) == other.keys.map(\.method) else { return false }
        guard let text = programDateTime, let otherText = other.programDateTime, text != otherText else { return true }
        guard let date = DateTime(text), let otherDate = DateTime(otherText) else { return true }
        return abs(date.milliseconds - otherDate.milliseconds) < 500
    }
}
