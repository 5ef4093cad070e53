import Fetching
import Playlist

/// Which segments play without the origin.
extension Rendition {
    /// The segments in time, and which of them can be played from the store: the piece is there, or one that stands in
    /// for it; its keys, and its initialization section with the keys of that. Nil where the playlist has not ended, or
    /// no piece is there, or where a key may not be used any more.
    ///
    /// What EXT-X-GAP marks counts as absent: what plays with it is cut there, too.
    func storedTrack(with substitutes: Substitutes?) -> CommonCut.Track? {
        guard let source, source.isDurable, !folder.sizes.isEmpty, lapsedKeys.isEmpty else { return nil }
        let playlist = source.playlist
        let absentKeys = Set(playlist.keys.filter { !isStored($0) }.map(\.index))
        let absentMaps = Set(
            playlist.maps.filter { map in
                !folder.contains(name(of: map).description) || map.keys.contains { absentKeys.contains($0.index) }
            }.map(\.index))
        let isThere = playlist.segments.map { segment in
            !segment.isGap && !(segment.map.map { absentMaps.contains($0.index) } ?? false)
                && (absentKeys.isEmpty || !segment.keys.contains { absentKeys.contains($0.index) })
                && (folder.contains(file(of: segment)) || substitutes?.covers(segment.index) ?? false)
        }
        return CommonCut.Track(durations: playlist.segments.map(\.duration), isThere: isThere)
    }

    /// Whether it has initialization sections, as fragmented MP4 does.
    var hasSections: Bool { source.map { !$0.playlist.maps.isEmpty } ?? false }

    /// A key that nobody can fetch is none that could be missing.
    private func isStored(_ key: Key) -> Bool {
        number(of: key).map { keys.folder.contains(KeyRing.name($0).description) } ?? true
    }
}
