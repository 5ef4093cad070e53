import Fetching
import HLS
import HTTPMessage

/// Finds resources of a live playlist in the same playlist of a mirror. Keys, parts and sections are named by their URLs,
/// which differ there: the position in the playlist identifies them.
extension Rendition {
    /// The resource in a mirror's playlist at the position that a name has in the known one; nil if it has none there.
    func counterpart(of name: PieceName, in other: Source) -> Resource? {
        guard let known = latest ?? source, !known.isDurable, !other.isDurable else { return nil }
        switch name.role {
        case .key(let number): return key(number, name, of: known, in: other)
        case .passing: return part(name, of: known, in: other) ?? section(name, of: known, in: other)
        case .segment, .initialization, .data: return nil
        }
    }

    /// True if the known live playlist names the key.
    func hasLiveKey(_ number: Int) -> Bool {
        guard let known = latest ?? source, !known.isDurable else { return false }
        return known.playlist.keys.contains { self.number(of: $0, in: known) == number }
    }

    private func key(_ number: Int, _ name: PieceName, of known: Source, in other: Source) -> Resource? {
        for segment in known.playlist.segments {
            guard let keyIndex = segment.keys.firstIndex(where: { self.number(of: $0, in: known) == number }),
                let keys = Self.segment(segment.mediaSequenceNumber, of: other)?.keys, keys.indices.contains(keyIndex),
                keys[keyIndex].method == segment.keys[keyIndex].method, keys[keyIndex].isFetchable
            else { continue }
            return resource(name, at: keys[keyIndex].uri, range: nil, in: other)
        }
        return nil
    }

    private func part(_ name: PieceName, of known: Source, in other: Source) -> Resource? {
        guard let part = known.playlist.parts.first(where: { self.name(of: $0, in: known) == name }),
            let there = other.playlist.parts.first(where: {
                $0.mediaSequenceNumber == part.mediaSequenceNumber && $0.partIndex == part.partIndex
            }), !there.isGap
        else { return nil }
        return resource(name, at: there.uri, range: there.byteRange, in: other)
    }

    private func section(_ name: PieceName, of known: Source, in other: Source) -> Resource? {
        for segment in known.playlist.segments {
            guard let map = segment.map, self.name(of: map, in: known) == name,
                let there = Self.segment(segment.mediaSequenceNumber, of: other)?.map
            else { continue }
            return resource(name, at: there.uri, range: there.byteRange, in: other)
        }
        return nil
    }

    private static func segment(_ number: SequenceNumber, of source: Source) -> Segment? {
        source.playlist.segments.first { $0.mediaSequenceNumber == number }
    }
}
