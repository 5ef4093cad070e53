import EventLoop
public import Fetching
import Playlist

/// A quality in which a segment may be had: the rendition's own, or that of a better one which may stand in.
public struct Quality {
    /// Whose segment it is.
    public let rendition: Rendition
    /// The segment there.
    public let segment: Resource
    /// The initialization section that belongs to it; nil where there is none, or it is stored.
    public let section: Resource?
    /// How long the segment plays, in seconds.
    public let duration: Double
    /// How long it is, known or by its bit rate, in bytes.
    public let bytes: Int64
    /// Whether it is stored.
    public let isStored: Bool
}

extension Substitutes {
    /// The qualities in which a segment may be had, its own first, then the better ones with the lowest bit rate first;
    /// empty for what is no segment. Those count, too, of which too little is stored to be sure.
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

    /// Whether pieces of a better rendition may be able to stand in.
    func mayTake(_ other: Rendition) -> Bool {
        alignments.contains { $0.other === other && $0.isBetter && $0.isLikely }
    }
}

extension Rendition {
    /// - Parameter rate: what is to be expected of it, in bits a second.
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
