import EventLoop
public import Fetching
import Playlist

/// The resources that must be stored before a segment plays: keys and initialization sections.
extension Rendition {
    /// All keys and initialization sections.
    public var preliminaries: [(folder: PieceFolder, resource: Resource)] {
        guard let playlist = source?.playlist else { return [] }
        let numbers = playlist.keys.compactMap { number(of: $0) }
        return numbers.compactMap { number in keys.resource(number).map { (keys.folder, $0) } }
            + playlist.maps.compactMap { map in resource(of: map).map { (folder, $0) } }
    }

    /// The names of the keys and sections that some of the segments need; nil for all.
    ///
    /// - Parameter isWanted: receives the start and end of a segment, in seconds from the start of the playlist.
    public func preliminaries(
        forSegments isWanted: (_ start: Double, _ end: Double) -> Bool
    ) -> Set<PieceName>? {
        guard let playlist = source?.playlist else { return nil }
        var names: Set<PieceName> = []
        var isEverything = true
        var time = 0.0
        for segment in playlist.segments {
            defer { time += segment.duration }
            guard isWanted(time, time + segment.duration) else {
                isEverything = false
                continue
            }
            if let map = segment.map {
                if names.insert(name(of: map)).inserted { insert(map.keys, into: &names) }
            }
            insert(segment.keys, into: &names)
        }
        return isEverything ? nil : names
    }

    private func insert(_ keys: [Key], into names: inout Set<PieceName>) {
        for key in keys {
            if let number = number(of: key) { names.insert(KeyRing.name(number)) }
        }
    }
}
