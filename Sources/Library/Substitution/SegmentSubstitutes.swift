public import EventLoop
public import Fetching
import Glibc
import Playlist
public import SegmentFormat

/// A stored piece of another rendition that is sent in place of a hole.
public struct Substitute {
    /// The rendition of the piece.
    public let rendition: Rendition
    /// The open piece. The receiver owns the descriptor.
    public let descriptor: Int32
    /// The changes to the piece when it is sent; nil for none.
    public let splice: Splice?
    /// True if the segment after it needs a splice too: see `SplicePair`.
    public let joins: Bool
}

/// Finds substitutes for segments of one rendition: pieces of other renditions with the same content.
@LoopActor public final class SegmentSubstitutes {
    let own: Rendition
    /// The expected bit rate, in bits per second.
    let rate: Int
    /// Better qualities first; within better and lower qualities the nearest first.
    let alignments: [Alignment]
    private var splicePairs: [Int: SplicePair] = [:]
    private let isEncrypted: Bool
    /// True if its playlists say that each segment can be decoded by itself.
    private let isIndependent: Bool

    init(of own: Alignment.Candidate, among others: [Alignment.Candidate], isIndependent: Bool) {
        self.own = own.rendition
        rate = own.traits.rate
        isEncrypted = own.rendition.isEncrypted
        self.isIndependent = isIndependent || own.rendition.source?.playlist.hasIndependentSegments ?? false
        let rank = own.traits.bandwidth
        let better = others.filter { $0.traits.bandwidth > rank }
            .sorted { $0.traits.bandwidth < $1.traits.bandwidth }
        let rest = others.filter { $0.traits.bandwidth <= rank }.sorted { $0.traits.bandwidth > $1.traits.bandwidth }
        alignments = (better + rest).map { Alignment(of: $0, behind: own, isIndependent: isIndependent) }
    }

    /// True if a stored piece can substitute the segment with this index in the playlist.
    func covers(_ place: Int) -> Bool { alignments.contains { $0.covers(place) } }

    /// True if another rendition has the same content in better quality.
    func isBelow(_ other: Rendition) -> Bool {
        alignments.contains { $0.other === other && $0.isBetter && $0.refusal == nil }
    }

    /// The reasons why other renditions cannot supply substitutes, by their ids, from playlists and stored pieces:
    /// sentences without a full stop.
    public var refusals: [(rendition: String, reason: String)] {
        alignments.compactMap { alignment in alignment.judgedRefusal.map { (alignment.other.name.id, $0) } }
    }

    /// Opens the best substitute of a segment; nil if there is none, or the name is no segment's.
    ///
    /// - Parameters:
    ///   - isJoined: true if the player's decoder got its parameters in-band.
    ///   - rendition: the only acceptable rendition; nil for any.
    public func open(_ name: PieceName, isJoined: Bool, of rendition: String? = nil) -> Substitute? {
        guard let place = place(of: name) else { return nil }
        for alignment in alignments where rendition == nil || alignment.other.name.id == rendition {
            if let substitute = alignment.open(place, isJoined: isJoined) { return substitute }
        }
        return nil
    }

    /// True if there is a substitute of a segment.
    ///
    /// - Parameter rendition: as for `open`.
    public func has(_ name: PieceName, of rendition: String? = nil) -> Bool {
        guard let place = place(of: name) else { return false }
        return alignments.contains { alignment in
            (rendition == nil || alignment.other.name.id == rendition) && alignment.covers(place)
        }
    }

    /// True if segments must be complete before they can be spliced: fragmented MP4 requires it.
    public var needsWholes: Bool { !isEncrypted && own.container == .fragments }

    /// True if a player may have received spliced pieces of other renditions, judging by the stored pieces.
    public var mayHaveJoined: Bool { alignments.contains(where: \.joinsAnything) }

    /// True if any substitute of a segment needs a splice: then the next segment needs one, too.
    public func joins(_ name: PieceName) -> Bool {
        guard let place = place(of: name) else { return false }
        return alignments.contains { $0.covers(place) && $0.joins(place) }
    }

    /// The splice of a segment of the rendition itself among substitutes; nil if it is sent unchanged because no splice
    /// is possible: it is encrypted, or its initialization section is not stored.
    ///
    /// - Parameter descriptor: its file; the caller keeps the ownership.
    /// - Throws: the defect of the segment, which must then be sent unchanged.
    public func rejoined(_ name: PieceName, _ descriptor: Int32) throws(SegmentFormatError) -> Splice? {
        guard let place = place(of: name), let segment = own.source?.playlist.segments[place], !isEncrypted,
            let count = PieceFolder.size(of: descriptor)
        else { return nil }
        let bytes = ByteSource(descriptor: descriptor, count: count)
        switch own.container {
        case .transportStream:
            let stream = try TransportStream(bytes)
            if isIndependent { try stream.checkBeginning() }
            return stream.splice()
        case .fragments: return try segment.map.flatMap { splicePair($0) }?.splice(bytes)
        case .packedAudio, .other: return nil
        }
    }

    private func splicePair(_ map: Map) -> SplicePair? {
        if let known = splicePairs[map.index] { return known }
        guard let section = own.section(map) else { return nil }
        let splicePair = SplicePair(of: section, behind: section)
        splicePairs[map.index] = splicePair
        return splicePair
    }

    /// The index in the playlist of the segment with a name.
    func place(of name: PieceName) -> Int? {
        guard case .segment(let number) = name.role, let segment = own.source?.segment(number), !segment.isGap,
            own.name(of: segment) == name
        else { return nil }
        return segment.index
    }
}

/// Owns a descriptor, and closes it unless it is released.
final class OpenPiece {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the file. Valid as long as this object.
    var source: ByteSource? {
        PieceFolder.size(of: descriptor).map { ByteSource(descriptor: descriptor, count: $0) }
    }

    func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}
