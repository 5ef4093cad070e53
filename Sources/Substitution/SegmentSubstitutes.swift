public import Assets
public import EventLoop
public import Fetching
import HLS
public import SegmentFormat
import Store

/// A stored piece of another rendition that is sent in place of a hole.
public struct Substitute {
    /// The rendition of the piece.
    public let rendition: Rendition
    /// The piece's name in the rendition's folder.
    public let file: String
    /// The open piece. The receiver owns the descriptor.
    public let descriptor: Int32
    /// The changes to the piece when sent; nil for none. After one the next segment needs one, too: see `SplicePair`.
    public let splice: Splice?
}

/// A quality of a segment: the rendition's own, or that of a better rendition that may substitute it.
public struct Quality {
    /// The rendition of the segment.
    public let rendition: Rendition
    /// The segment in that rendition.
    public let segment: Resource
    /// The initialization section of the segment; nil if there is none, or it is stored.
    public let section: Resource?
    /// Duration of the segment, in seconds.
    public let duration: Double
    /// Size of the segment in bytes, known or estimated from its bit rate.
    public let bytes: Int64
    /// True if the segment is stored.
    public let isStored: Bool
}

/// Finds substitutes for segments of one rendition: pieces of other renditions with the same content.
@LoopActor public final class SegmentSubstitutes {
    let own: Rendition
    /// The expected bit rate.
    private let rate: BitRate
    /// Better qualities first; within better and lower qualities the nearest first.
    let alignments: [Alignment]
    private var splicePairs: [Int: SplicePair] = [:]
    private let isEncrypted: Bool
    /// True if the multivariant playlist or its own says that each segment can be decoded by itself.
    private let isIndependent: Bool

    init(of own: Candidate, among others: [Candidate], isIndependent: Bool) {
        self.own = own.rendition
        rate = own.traits.rate
        isEncrypted = own.rendition.isEncrypted
        self.isIndependent = isIndependent || own.rendition.source?.playlist.hasIndependentSegments ?? false
        let rank = own.traits.bandwidth
        let better = others.filter { $0.traits.bandwidth > rank }.sorted { $0.traits.bandwidth < $1.traits.bandwidth }
        let rest = others.filter { $0.traits.bandwidth <= rank }.sorted { $0.traits.bandwidth > $1.traits.bandwidth }
        alignments = (better.sample(Self.mostCompared) + rest.sample(Self.mostCompared)).map {
            Alignment(of: $0, behind: own, isIndependent: isIndependent)
        }
    }

    /// So many better, and so many other renditions are compared: a playlist may have 10,000.
    private static let mostCompared = 256

    /// Marks the segments, by index, that a stored piece can substitute.
    /// - Parameter holes: true for each segment that is sought; those that are found become false.
    package func cover(_ holes: inout [Bool], _ slice: inout LoopSlice) async {
        var left = holes.count { $0 }
        for alignment in alignments where left > 0 {
            for index in alignment.storedCounterparts where holes.indices.contains(index) && holes[index] {
                if alignment.covers(index) {
                    holes[index] = false
                    left = left - 1
                }
                await slice.giveWay()
                guard slice.mayGoOn else { return }
            }
            await slice.giveWay()
        }
    }

    /// True if another rendition has the same content in better quality.
    func isBelow(_ other: Rendition) -> Bool {
        alignments.contains { $0.other === other && $0.isBetter && $0.refusal == nil }
    }

    /// The better renditions of which pieces may be usable as substitutes, by ascending bit rate.
    func likelyBetter(_ slice: inout LoopSlice) async -> [Rendition] {
        var found: [Rendition] = []
        for alignment in alignments where alignment.isBetter && slice.mayGoOn {
            if alignment.isLikely {
                found.append(alignment.other)
            }
            await slice.giveWay()
        }
        return found
    }

    /// True if pieces of a lower rendition may be usable as substitutes.
    var hasLikelyLower: Bool { alignments.contains { !$0.isBetter && $0.isLikely } }

    /// The reasons why other renditions, by id, cannot supply substitutes: sentences without a full stop.
    public var refusals: [(rendition: String, reason: String)] {
        alignments.compactMap { alignment in
            guard let reason = alignment.checkedRefusal else { return nil }
            return (alignment.other.name.id, reason)
        }
    }

    /// Opens the best substitute of a segment; nil if there is none, or the name is no segment's.
    /// - Parameters:
    ///   - isAfterSplice: true if the player's decoder got its parameters in-band.
    ///   - rendition: the only acceptable rendition; nil for any.
    public func open(_ name: PieceName, isAfterSplice: Bool, of rendition: String? = nil) -> Substitute? {
        guard let index = index(of: name) else { return nil }
        for alignment in alignments(with: rendition) {
            if let substitute = alignment.open(index, isAfterSplice: isAfterSplice) {
                return substitute
            }
        }
        return nil
    }

    /// True if `open` finds a substitute.
    public func has(_ name: PieceName, of rendition: String? = nil) -> Bool {
        guard let index = index(of: name) else { return false }
        return alignments(with: rendition).contains { $0.covers(index) }
    }

    private func alignments(with rendition: String?) -> [Alignment] {
        guard let rendition else { return alignments }
        return alignments.filter { $0.other.name.id == rendition }
    }

    /// The qualities of a segment by ascending bit rate, its own among them. Empty if the name is no segment's. Includes qualities
    /// that cannot be verified yet because too few pieces are stored.
    public func qualities(of name: PieceName) -> [Quality] {
        guard let index = index(of: name), let segment = own.source?.playlist.segments[index],
            let quality = own.quality(of: segment, rate: rate)
        else { return [] }
        let lower = alignments.filter { !$0.isBetter }.reversed().compactMap { Self.quality(of: index, by: $0) }
        let better = alignments.filter(\.isBetter).compactMap { Self.quality(of: index, by: $0) }
        return lower + [quality] + better
    }

    private static func quality(of index: Int, by alignment: Alignment) -> Quality? {
        guard let segment = alignment.likelyCounterpart(of: index),
            let quality = alignment.other.quality(of: segment, rate: alignment.rate)
        else { return nil }
        if quality.isStored, !alignment.covers(index) {
            return nil
        }
        return quality
    }

    // MARK: Splicing

    /// True if segments must be complete before they can be spliced: fragmented MP4 requires it.
    public var needsCompleteSegments: Bool { !isEncrypted && own.container == .fragments }
    /// True if a player may have received spliced pieces of other renditions, judging by the stored pieces.
    public var mayHaveSpliced: Bool { alignments.contains(where: \.needsAnySplice) }

    /// True if any substitute of a segment needs a splice: then the next segment needs one, too.
    public func needsSplice(_ name: PieceName) -> Bool {
        guard let index = index(of: name) else { return false }
        return alignments.contains { $0.covers(index) && $0.needsSplice(index) }
    }

    /// The splice of a segment of the rendition itself among substitutes; nil if it is sent unchanged because no splice
    /// is possible: it is encrypted, or its initialization section is not stored.
    /// - Parameter descriptor: its file; the caller keeps the ownership.
    /// - Throws: the defect of the segment, which must then be sent unchanged.
    public func ownSplice(_ name: PieceName, _ descriptor: Int32) throws(SegmentFormatError) -> Splice? {
        guard let index = index(of: name), let segment = own.source?.playlist.segments[index], !isEncrypted,
            let source = ByteSource(descriptor: descriptor)
        else { return nil }
        switch own.container {
        case .transportStream:
            let stream = try TransportStream(source)
            if isIndependent {
                try stream.checkBeginning()
            }
            return stream.splice()
        case .fragments: return try segment.map.flatMap { splicePair($0) }?.splice(source)
        case .packedAudio, .other: return nil
        }
    }

    private func splicePair(_ map: Map) -> SplicePair? {
        if let known = splicePairs[map.index] {
            return known
        }
        guard let section = own.section(map) else { return nil }
        let splicePair = SplicePair(of: section, behind: section)
        splicePairs[map.index] = splicePair
        return splicePair
    }

    func index(of name: PieceName) -> Int? {
        guard case .segment(let number) = name.role, let segment = own.source?.segment(number), !segment.isGap,
            own.name(of: segment) == name
        else { return nil }
        return segment.index
    }
}

extension Array {
    /// At most so many elements, evenly spaced, with the first and the last one.
    func sample(_ most: Int) -> [Element] {
        guard count > most else { return self }
        return (0..<most).map { self[$0 * (count - 1) / (most - 1)] }
    }
}

extension Rendition {
    /// - Parameter rate: the expected bit rate.
    func quality(of segment: Segment, rate: BitRate) -> Quality? {
        guard let resource = resource(of: segment) else { return nil }
        let size = folder.sizes[file(of: segment)]
        var section: Resource?
        if let map = segment.map, let found = self.resource(of: map), !folder.contains(found.name.description) {
            section = found
        }
        let known = size ?? resource.exactLength
        return Quality(
            rendition: self, segment: resource, section: section, duration: segment.duration.seconds,
            bytes: known ?? Int64(rate.bytes(in: segment.duration)), isStored: size != nil)
    }
}
