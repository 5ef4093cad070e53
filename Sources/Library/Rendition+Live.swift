public import Fetching
import HTTPMessage
public import Playlist

/// The resources of a live playlist besides its segments: parts, hints, and recently removed segments.
extension Rendition {
    /// The part's file name; nil if its URI is no URL.
    public func name(of part: PartialSegment, in source: Source) -> PieceName? {
        passingName(part.uri, part.byteRange, fileExtension(part.uri, part.map), in: source)
    }

    /// The name that a hinted resource will have. Nil for a hint that is a byte range of unknown length, which has no
    /// name yet, and for a hint of unknown type.
    public func name(of hint: PreloadHint, in source: Source) -> PieceName? {
        let range = hint.length.flatMap { SubRange(offset: hint.start, length: $0) }
        guard range != nil || hint.start == 0 else { return nil }
        switch hint.kind {
        case .part where range == nil && source.playlist.parts.last?.byteRange != nil: return nil
        case .part:
            let fileExtension = fileExtension(hint.uri, source.playlist.parts.last?.map)
            return passingName(hint.uri, range, fileExtension, in: source)
        case .map: return passingName(hint.uri, range, "mp4", in: source)
        case .other: return nil
        }
    }

    private func passingName(
        _ uri: String, _ range: SubRange?, _ fileExtension: String, in source: Source
    ) -> PieceName? {
        guard let url = try? source.base.resolving(uri) else { return nil }
        return PieceName(.passing(live.number(url, range)), fileExtension: fileExtension)
    }

    /// The resources of a live playlist besides segments and keys.
    func passingResources(of source: Source) -> [Resource] {
        let playlist = source.playlist
        let maps = playlist.maps.compactMap { resource(of: $0, in: source) }
        let parts = playlist.parts.filter { !$0.isGap }.compactMap { part in
            name(of: part, in: source).flatMap { resource($0, part.uri, part.byteRange, in: source) }
        }
        let hints = playlist.preloadHints.compactMap { hint in
            let range = hint.length.flatMap { SubRange(offset: hint.start, length: $0) }
            return name(of: hint, in: source).flatMap { resource($0, hint.uri, range, in: source) }
        }
        // A delta update leaves out sections that are still in force.
        let kept = playlist.isDeltaUpdate ? self.source?.playlist.maps ?? [] : []
        return maps + parts + hints + kept.compactMap { resource(of: $0) }
    }

    /// The segments of a playlist with media sequence numbers below `end`. Players request some just after their
    /// removal.
    func resources(of source: Source, before end: Int) -> [Resource] {
        source.playlist.segments.prefix(max(0, end - source.playlist.firstSequenceNumber))
            .compactMap { resource(of: $0, in: source) }
    }
}

extension MediaPlaylist {
    /// The media sequence number of the first listed segment.
    var firstSequenceNumber: Int { mediaSequence + (skippedSegments ?? 0) }

    /// The unit of RFC 8216 §6.3.4: the target duration; two seconds if the playlist lacks it.
    var interval: Duration { .seconds(max(targetDuration ?? 2, 1)) }
}
