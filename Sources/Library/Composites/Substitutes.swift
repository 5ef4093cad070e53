public import EventLoop
public import Fetching
import Glibc
import Playlist
public import SegmentFormat

/// A stored piece of another rendition, which a segment that is not there is answered with.
public struct Substitute {
    /// Whose piece it is.
    public let rendition: Rendition
    /// The piece, open; owned by who gets this.
    public let descriptor: Int32
    /// How it is to be sent; nil for as it is.
    public let splice: Splice?
    /// Whether what comes after it must be spliced too: see `SplicePair`.
    public let joins: Bool
}

/// What can stand in for the segments of one rendition: the pieces of others that carry the same.
@LoopActor public final class Substitutes {
    let own: Rendition
    /// What is to be expected of it, in bits a second.
    let rate: Int
    /// Those of better quality first, and of each kind the nearest first.
    let alignments: [Alignment]
    private var splicePairs: [Int: SplicePair] = [:]
    private let isEncrypted: Bool
    /// Whether its playlists say that all segments can be decoded by themselves.
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

    /// Whether a stored piece can stand in for the segment at a place in the playlist.
    func covers(_ place: Int) -> Bool { alignments.contains { $0.covers(place) } }

    /// Whether another rendition, the better one of the two, carries the same.
    func isBelow(_ other: Rendition) -> Bool {
        alignments.contains { $0.other === other && $0.isBetter && $0.refusal == nil }
    }

    /// Why nothing of other renditions can stand in, by their ids, as far as playlists and stored pieces tell: sentences
    /// without a full stop.
    public var refusals: [(rendition: String, reason: String)] {
        alignments.compactMap { alignment in alignment.judgedRefusal.map { (alignment.other.name.id, $0) } }
    }

    /// The best piece that can stand in for a segment; nil where there is none, and for what is no segment.
    ///
    /// - Parameters:
    ///   - isJoined: whether the player's decoder was told in-band what is to come.
    ///   - rendition: the only one that is wanted; nil for any.
    public func open(_ name: PieceName, isJoined: Bool, of rendition: String? = nil) -> Substitute? {
        guard let place = place(of: name) else { return nil }
        for alignment in alignments where rendition == nil || alignment.other.name.id == rendition {
            if let substitute = alignment.open(place, isJoined: isJoined) { return substitute }
        }
        return nil
    }

    /// Whether there is a piece that can stand in for a segment.
    ///
    /// - Parameter rendition: as for `open`.
    public func has(_ name: PieceName, of rendition: String? = nil) -> Bool {
        guard let place = place(of: name) else { return false }
        return alignments.contains { alignment in
            (rendition == nil || alignment.other.name.id == rendition) && alignment.covers(place)
        }
    }

    /// Whether segments must be there to their ends before they can be spliced: the boxes of fragmented MP4 must.
    public var needsWholes: Bool { !isEncrypted && own.container == .fragments }

    /// Whether a player may have been sent pieces of others that had to be spliced, as far as can be told by what is
    /// stored.
    public var mayHaveJoined: Bool { alignments.contains(where: \.joinsAnything) }

    /// Whether any of them would have to be spliced for a segment: what follows must then be, too.
    public func joins(_ name: PieceName) -> Bool {
        guard let place = place(of: name) else { return false }
        return alignments.contains { $0.covers(place) && $0.joins(place) }
    }

    /// How a segment of the rendition itself is sent where pieces of others stand among them; nil where it is sent as it
    /// is, since nothing can be done to it: it is encrypted, or what belongs to it is not there.
    ///
    /// - Parameter descriptor: its file, which stays the caller's.
    /// - Throws: what is wrong with it, so that it has to be sent as it is.
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

    /// The place in the playlist of the segment with a name.
    func place(of name: PieceName) -> Int? {
        guard case .segment(let number) = name.role, let segment = own.source?.segment(number), !segment.isGap,
            own.name(of: segment) == name
        else { return nil }
        return segment.index
    }
}

/// A descriptor that is closed unless it is given away.
final class OpenPiece {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The bytes, as long as this lives.
    var source: ByteSource? {
        PieceFolder.size(of: descriptor).map { ByteSource(descriptor: descriptor, count: $0) }
    }

    func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}
