import EventLoop
public import Fetching
import HTTPMessage
package import Playheads
public import Playlist

/// Maps names to the resources of a rendition's playlists.
extension Rendition {
    /// Returns the resource with a name that a present or recent playlist of this rendition contains.
    public func resource(named name: PieceName) -> Resource? {
        for source in [latest, source] {
            if let source, let resource = resource(named: name, in: source) { return resource }
        }
        return live.resource(name)
    }

    /// Returns the resource with a name from one playlist: the known one, or one that `stands` for it.
    func resource(named name: PieceName, in source: Source) -> Resource? {
        let found: Resource? =
            switch name.role {
            case .segment(let number): source.segment(number).flatMap { resource(of: $0, in: source) }
            case .initialization(let index):
                source.playlist.maps.first { $0.index == index }.flatMap { resource(of: $0, in: source) }
            case .key(let number): keyNumbers.firstIndex(of: number).flatMap { key($0, name, in: source) }
            case .passing, .data: nil
            }
        return found?.name == name ? found : nil
    }

    private func key(_ place: Int, _ name: PieceName, in source: Source) -> Resource? {
        let keys = source.playlist.keys
        return keys.indices.contains(place) ? resource(name, keys[place].uri, nil, in: source) : nil
    }

    /// True if the playlist, which has ended, names it: only such resources are stored.
    func isListed(_ name: PieceName) -> Bool {
        guard let source else { return false }
        guard case .segment(let number) = name.role else { return resource(named: name, in: source) != nil }
        // Called for each cache miss: names are computed once, URLs each time.
        return source.segment(number).map { !$0.isGap && file(of: $0) == name.description } ?? false
    }

    /// The segment as a resource; nil for a gap, or if the URI is no URL.
    public func resource(of segment: Segment, in source: Source? = nil) -> Resource? {
        guard !segment.isGap else { return nil }
        return resource(name(of: segment, in: source), segment.uri, segment.byteRange, in: source)
    }

    /// The initialization section as a resource.
    public func resource(of map: Map, in source: Source? = nil) -> Resource? {
        resource(name(of: map, in: source), map.uri, map.byteRange, in: source)
    }

    /// The resource at a URI of a playlist; nil if that is no URL.
    func resource(_ name: PieceName, _ uri: String, _ range: SubRange?, in source: Source?) -> Resource? {
        guard let source = source ?? self.source, !source.isRecorded, let url = try? source.base.resolving(uri) else {
            return nil
        }
        return Resource(name: name, url: url, range: range.map { Int64($0.offset)..<Int64($0.end) })
    }
}

extension Rendition {
    /// The time of a segment; nil if it is unknown, and for other pieces.
    package func span(of name: PieceName) -> SegmentSpan? {
        if case .segment(let number) = name.role { timeline?.span(of: number) } else { nil }
    }
}
