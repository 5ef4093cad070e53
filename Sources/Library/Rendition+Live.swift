public import Fetching
import HTTPMessage
public import Playlist

/// What a live playlist names beside its segments: parts, what is to come, and what slid out a moment ago.
extension Rendition {
    /// What the part's file is called; nil where its URI is no URL.
    public func name(of part: PartialSegment, in source: Source) -> PieceName? {
        passingName(part.uri, part.byteRange, fileExtension(part.uri, part.map), in: source)
    }

    /// What will come is called as it will be called then. Nil for what has no name yet, since it is a part of a file,
    /// and how long is not known; and for hints of no known type.
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

    /// What a live text names beside its segments and keys.
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
        // What a delta update leaves out is still in force.
        let kept = playlist.isDeltaUpdate ? self.source?.playlist.maps ?? [] : []
        return maps + parts + hints + kept.compactMap { resource(of: $0) }
    }

    /// The segments of a text with media sequence numbers below `end`: players ask for some just after they slid out.
    func resources(of source: Source, before end: Int) -> [Resource] {
        source.playlist.segments.prefix(max(0, end - source.playlist.firstSequenceNumber))
            .compactMap { resource(of: $0, in: source) }
    }
}

extension MediaPlaylist {
    /// The media sequence number of the first segment that is listed.
    var firstSequenceNumber: Int { mediaSequence + (skippedSegments ?? 0) }

    /// What RFC 8216 §6.3.4 counts in: the target duration; two seconds where the playlist lacks it.
    var interval: Duration { .seconds(max(targetDuration ?? 2, 1)) }
}
