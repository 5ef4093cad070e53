import Playlist

/// What a text from elsewhere, or of another time, is to the one that is known.
extension Rendition {
    /// Whether a text from a mirror goes on with what the known one began, as far as can be seen.
    func stands(_ source: Source) -> Bool {
        guard let known = self.source else { return true }
        switch source.playlist.relation(to: known.playlist) {
        case .same: return !known.isDurable || isAgain(source)
        case .grown, .slid, .stale: return true
        case .changed: return false
        }
    }

    /// Whether a text is that of the known one, which has ended, but for URLs: each name leads to the same as before.
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
