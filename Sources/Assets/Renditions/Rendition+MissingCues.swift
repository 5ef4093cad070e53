package import Fetching
import HLS
import Playheads
import SegmentFormat
import Store

/// Makes segments without cues, for those of subtitles that are not to be had: an error ends playback in some players.
extension Rendition {
    /// True if a segment with this name is listed, or recorded, and one without cues can be made for it.
    package func isCueFile(_ name: PieceName) -> Bool {
        guard self.name.content == .subtitles else { return false }
        guard let segment = segment(named: name) else { return isRecordedGap(name) }
        guard isCueFile(segment) else { return false }
        return segment.keys.isEmpty || secret(of: segment.keys) != nil
    }

    /// True if the origin is known not to have the segment of subtitles with this name.
    package func isWithoutCues(_ name: PieceName) -> Bool {
        segment(named: name).map(isWithoutCues) ?? isRecordedGap(name)
    }

    /// A segment without cues, timed as its neighbours, and encrypted as the segment is; nil if its key is not stored.
    package func withoutCues(_ name: PieceName) -> [UInt8]? {
        let segment = segment(named: name)
        // A recording that runs has what it lists of the window's section.
        let map = segment.map(\.map) ?? source?.playlist.maps.last
        let bytes: [UInt8]
        if let map {
            bytes = withoutCues(name, behind: map)
        } else {
            bytes = CueFile.withoutCues(timedAs: neighbour(of: name, upTo: Self.headLength)?.bytes)
        }
        guard let segment, !segment.keys.isEmpty else { return bytes }
        guard let secret = secret(of: segment.keys) else { return nil }
        return SegmentCipher.encrypted(bytes, key: secret.bytes, vector: secret.key.vector(for: segment))
    }

    /// The bytes that players read behind an initialization section. None for a section that is not stored, or of an unknown format:
    /// what an origin sends of a segment in which nobody speaks.
    private func withoutCues(_ name: PieceName, behind map: Map) -> [UInt8] {
        let bytes = clearSection(map)
        // The head of the text is in the section: behind it is an empty line.
        if MediaRecognition.isTextTrack(bytes) {
            return [UInt8(ascii: "\n")]
        }
        guard let section = try? InitializationSection(bytes), let fragment = CuelessFragment(section),
            let span = span(of: name)
        else { return [] }

        var timed: CuelessFragment.Neighbour?
        if let neighbour = neighbour(of: name, upTo: Self.longestFragment, isSuitable: { $0?.map?.index == map.index }),
            let start = self.span(of: neighbour.name)?.start,
            let media = try? MediaSegment(ByteSource(neighbour.bytes))
        {
            timed = CuelessFragment.Neighbour(media, start: start)
        }
        return fragment.segment(start: span.start, duration: span.duration, number: span.number, timedAs: timed)
    }

    /// The segment with a name that the known playlist lists, a gap too; nil if it lists none.
    private func segment(named name: PieceName) -> Segment? {
        guard case .segment(let number) = name.role, let segment = source?.segment(number),
            self.name(of: segment) == name
        else { return nil }
        return segment
    }

    /// True if the recording that runs lists the segment, which has left the origin's playlist: it is a gap, as it is not stored.
    private func isRecordedGap(_ name: PieceName) -> Bool {
        guard let recording, recording.keeps(name), case .segment = name.role else { return false }
        // Its key has left the playlist with it.
        guard source?.playlist.keys.allSatisfy({ $0.method == .none }) ?? true else { return false }
        return self.name.content == .subtitles
    }

    // MARK: Neighbours

    /// A stored segment of the rendition, in the clear.
    private struct StoredSegment {
        let name: PieceName
        let bytes: [UInt8]
    }

    /// The beginning of the stored segment that is nearest to a segment; nil if none is near.
    /// - Parameters:
    ///   - count: of a longer one as many bytes, at most.
    ///   - isSuitable: called with stored segments, nil for one that the playlist does not list.
    private func neighbour(
        of name: PieceName, upTo count: Int, isSuitable: (Segment?) -> Bool = { _ in true }
    ) -> StoredSegment? {
        guard case .segment(let number) = name.role else { return nil }
        for distance in 1...Self.farthestNeighbour {
            for candidate in [number - distance, number + distance] {
                let neighbour = PieceName(.segment(candidate), fileExtension: name.fileExtension)
                let file = neighbour.description
                guard folder.sizes[file] ?? 0 > 0, isSuitable(source?.segment(candidate)) else { continue }
                let bytes = clearBeginning(of: file, source?.segment(candidate), upTo: count)
                return bytes.map { StoredSegment(name: neighbour, bytes: $0) }
            }
        }
        return nil
    }

    private func clearBeginning(of file: String, _ segment: Segment?, upTo count: Int) -> [UInt8]? {
        let bytes = folder.beginning(of: file, count: count)
        guard let segment, !segment.keys.isEmpty else { return bytes }
        guard let secret = secret(of: segment.keys) else { return nil }
        let isWhole = bytes.count < count
        return clear(bytes, key: secret.bytes, vector: secret.key.vector(for: segment), isWhole: isWhole)
    }

    /// The stored initialization section in the clear; empty without one.
    private func clearSection(_ map: Map) -> [UInt8] {
        let bytes = folder.beginning(of: name(of: map).description, count: Self.longestSection)
        guard map.keys.contains(where: { $0.method != .none }) else { return bytes }
        // A section has no number that could be its vector (RFC 8216 §4.3.2.5).
        guard let secret = secret(of: map.keys), let vector = secret.key.initializationVector else { return [] }
        return clear(bytes, key: secret.bytes, vector: vector, isWhole: bytes.count < Self.longestSection) ?? []
    }

    /// Decrypts the beginning of a piece, or all of it, without the padding.
    private func clear(_ bytes: [UInt8], key: [UInt8], vector: [UInt8], isWhole: Bool) -> [UInt8]? {
        let whole = bytes.prefix(bytes.count / 16 * 16)
        let clear = SegmentCipher.decrypted(Array(whole), key: key, vector: vector)
        guard isWhole, let clear, let padding = clear.last, padding <= 16 else { return clear }
        return clear.dropLast(Int(padding))
    }

    /// The key of what is encrypted as a whole, with its bytes; nil if it is not stored, or may not be used.
    private func secret(of all: [Key]) -> (key: Key, bytes: [UInt8])? {
        guard let key = all.first(where: { $0.method == .aes128 }), let number = number(of: key), keys.has(number)
        else { return nil }
        let bytes = keys.folder.beginning(of: KeyRing.name(number).description, count: 16)
        guard bytes.count == 16 else { return nil }
        return (key, bytes)
    }

    /// In segments.
    private static let farthestNeighbour = 256
    /// The most bytes of a head of WebVTT, of a fragment and of an initialization section.
    private static let headLength = 1024
    private static let longestFragment = 1 << 20
    private static let longestSection = 1 << 20
}
