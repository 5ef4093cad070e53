import Playlist

/// Compares a playlist from another URL or time with the known one.
extension Rendition {
    /// True if a playlist from a mirror continues the known one, as far as can be seen.
    func stands(_ source: Source) -> Bool {
        guard let known = self.source else { return true }
        switch source.playlist.relation(to: known.playlist) {
        case .same: return !known.isDurable || isAgain(source)
        case .grown, .slid, .stale: return true
        case .changed: return false
        }
    }

    /// True if a playlist equals the known one, which has ended, except for URLs: each name leads to the same resource
    /// as before.
    func isAgain(_ source: Source) -> Bool {
        guard let known = self.source, known.isDurable, !known.isRecorded, source.isDurable,
            source.playlist.relation(to: known.playlist) == .same
        else { return false }
        let (new, old) = (source.playlist, known.playlist)
        guard new.keys.map(\.isFetchable) == old.keys.map(\.isFetchable), new.maps.count == old.maps.count else {
            return false
        }
        return zip(new.segments, old.segments).allSatisfy { one, other in
            one.map?.index == other.map?.index && one.keys.map(\.index) == other.keys.map(\.index)
                && one.isGap == other.isGap && name(of: one) == name(of: other)
        }
    }
}
