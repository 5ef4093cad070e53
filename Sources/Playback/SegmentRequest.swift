import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Playheads

/// A folder of pieces as a session's URLs name it. One object holds everything that serving its pieces needs.
@LoopActor final class SessionFolder {
    let asset: Asset
    let session: Session
    let folder: PieceFolder
    /// Reports requests to the playhead tracker; nil for content without a playhead.
    let cursor: RenditionCursor?
    /// The session's record, for the logs.
    let record: SessionRecord
    /// The substitutions that the session has received in the rendition; nil if the folder is not a rendition's.
    let composition: Composition?

    init(asset: Asset, session: Session, folder: PieceFolder, cursor: RenditionCursor?, record: SessionRecord) {
        (self.asset, self.session, self.folder, self.cursor, self.record) = (asset, session, folder, cursor, record)
        composition = asset.rendition(folder.id).map { rendition in
            record.composition(of: folder.id, among: asset.substitutes(of: rendition))
        }
    }
}

/// A player's request for a piece, with all that decides its answer.
///
/// A value: a fetch that fails adds a fact to its copy, and the choice is made again (`SegmentSource`).
@LoopActor struct SegmentRequest {
    /// A segment that other renditions may substitute.
    struct Segment {
        let name: PieceName
        let substitutes: SegmentSubstitutes
        let composition: Composition
    }

    /// The state of an adaptive choice over all attempts for one request.
    struct Adaptation {
        /// Start of the first attempt.
        let since = ContinuousClock.now
        /// The rendition that was abandoned because it would have arrived too late; nil if none was.
        var abandoned: String?
        /// True if qualities that are not stored may be chosen.
        var mayFetch = true
        /// The chosen quality, and the rendition's own; nil if that is the chosen one.
        var choice: (quality: Quality, own: Quality)?
    }

    let exchange: Exchange
    let place: SessionFolder
    /// The file name in the URL.
    let file: String
    /// True if the player sent data about itself (CMCD) with the request.
    let hasClientData: Bool
    /// True if the request is for a range that does not begin at the first byte.
    let isAmid: Bool
    var facts = SegmentFacts()
    var adaptation: Adaptation?
    /// The origin's failure, or the reason for not asking it; nil if there is none.
    private(set) var error: LibraryError?
    /// Cache-Status of the fetch that answers the request; nil if there is none.
    var fetchStatus: CacheStatus?

    init(_ exchange: Exchange, _ place: SessionFolder, _ file: String, hasClientData: Bool) {
        (self.exchange, self.place, self.file, self.hasClientData) = (exchange, place, file, hasClientData)
        isAmid = exchange.isAmid
        guard let composition = place.composition, composition.joining != .apart else { return }
        facts.joining = composition.joining
        if isAmid { facts.continued = composition.source(of: file) }
    }

    /// The cursor to report to; nil for a HEAD request, which does not count as a segment request.
    var cursor: RenditionCursor? { exchange.head.method == .get ? place.cursor : nil }

    /// Nil if the file is no segment or has no possible substitute.
    var segment: Segment? {
        guard let name = PieceName(file), case .segment = name.role, let composition = place.composition,
            let rendition = place.asset.rendition(place.folder.id),
            let substitutes = place.asset.substitutes(of: rendition)
        else { return nil }
        return Segment(name: name, substitutes: substitutes, composition: composition)
    }

    /// The resource at the origin; nil if the asset names none.
    var resource: Resource? { PieceName(file).flatMap { place.asset.resource($0, in: place.folder) } }

    var subject: Subject {
        Subject(place.session, place.asset, resource?.url.replacingQuery(nil).text ?? exchange.head.path)
    }

    /// Records that the origin is not asked, because it did not answer a moment ago.
    mutating func presumeAbsent(_ error: LibraryError) {
        self.error = error
        facts.missing?.isPresumedAbsent = true
    }

    /// Records that the origin did not deliver. A substitute may have been stored since the fetch began.
    mutating func recordFailure(_ error: LibraryError) {
        self.error = error
        let hasSubstitute = segment.map { $0.substitutes.has($0.name) } ?? false
        facts.missing?.hasFailed = true
        facts.missing?.hasSubstitute = hasSubstitute
    }
}

extension Exchange {
    /// True if the request asks for a range that does not begin at the first byte.
    fileprivate var isAmid: Bool {
        guard let range = head.onlyValue(of: .range).flatMap({ ByteRange($0) }) else { return false }
        switch range {
        case .from(0), .bounded(first: 0, last: _): return false
        case .from, .bounded, .suffix: return true
        }
    }
}
