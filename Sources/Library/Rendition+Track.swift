import Fetching
import Playlist

/// Finds the segments that play without the origin.
extension Rendition {
    /// The durations of the segments, and which of them can be played from the store: the piece or a substitute is
    /// stored, with its keys and its initialization section. Nil if the playlist has not ended, no piece is stored, or
    /// a key has expired or is revoked.
    ///
    /// A segment with EXT-X-GAP counts as a hole: the other renditions are cut there, too.
    func storedTrack(with substitutes: SegmentSubstitutes?) -> CommonRanges.Track? {
        guard let source, source.isDurable, !folder.sizes.isEmpty, expiredKeys.isEmpty else { return nil }
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
        return CommonRanges.Track(durations: playlist.segments.map(\.duration), isThere: isThere)
    }

    /// True if it has initialization sections, as fragmented MP4 does.
    var hasSections: Bool { source.map { !$0.playlist.maps.isEmpty } ?? false }

    /// True if a key is stored. A key that cannot be fetched does not count as a hole.
    private func isStored(_ key: Key) -> Bool {
        number(of: key).map { keys.folder.contains(KeyRing.name($0).description) } ?? true
    }
}
