import EventLoop
public import Fetching
import Playlist

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

extension SegmentSubstitutes {
    /// The qualities of a segment: its own first, then the better ones by ascending bit rate. Empty if the name is no
    /// segment's. Includes qualities that cannot be verified yet because too few pieces are stored.
    public func qualities(of name: PieceName) -> [Quality] {
        guard let place = place(of: name), let segment = own.source?.playlist.segments[place],
            let mine = own.quality(of: segment, rate: rate)
        else { return [] }
        return [mine]
            + alignments.filter(\.isBetter).compactMap { alignment in
                guard let segment = alignment.likelyCounterpart(of: place),
                    let quality = alignment.other.quality(of: segment, rate: alignment.rate)
                else { return nil }
                return quality.isStored && !alignment.covers(place) ? nil : quality
            }
    }

    /// True if pieces of a better rendition may be usable as substitutes.
    func mayTake(_ other: Rendition) -> Bool {
        alignments.contains { $0.other === other && $0.isBetter && $0.isLikely }
    }
}

extension Rendition {
    /// - Parameter rate: the expected bit rate, in bits per second.
    fileprivate func quality(of segment: Segment, rate: Int) -> Quality? {
        guard let resource = resource(of: segment) else { return nil }
        let size = folder.sizes[file(of: segment)]
        let section = segment.map.flatMap { self.resource(of: $0) }
        return Quality(
            rendition: self, segment: resource,
            section: section.flatMap { folder.contains($0.name.description) ? nil : $0 }, duration: segment.duration,
            bytes: size ?? resource.exactLength ?? Int64(segment.duration * Double(rate) / 8), isStored: size != nil)
    }
}
