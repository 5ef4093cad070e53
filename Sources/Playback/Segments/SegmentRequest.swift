import Assets
import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Playheads
import Sessions
import Substitution

/// A player's request for a piece, with all that decides its answer. A value: a fetch that fails adds a fact to its
/// copy, and the choice is made again (`SegmentSource`).
@LoopActor struct SegmentRequest {
    /// A segment that other renditions may substitute.
    struct Segment {
        let name: PieceName
        let substitutes: SegmentSubstitutes
        let splicing: SplicingState

        /// True if another rendition's segment is stored that can stand in.
        @LoopActor var hasSubstitute: Bool { substitutes.has(name) }
    }

    /// The state of an adaptive choice over all attempts for one request.
    struct Adaptation {
        let since = ContinuousClock.now
        /// The rendition that was abandoned because it would have arrived too late; nil if none was.
        var abandoned: String?
        var mayFetch = true
        /// True if the player has jumped to the segment.
        var isJump = false
        /// The chosen quality, and the lowest one; nil if the rendition's own is chosen.
        var choice: (quality: Quality, lowest: Quality)?
    }

    let exchange: Exchange
    let sessionFolder: SessionFolder
    let file: String
    /// Nil if no piece has such a name.
    let name: PieceName?
    let hasClientData: Bool
    let isAmid: Bool
    /// The segment's number in the playlist; nil if it is no segment, or can have one form only.
    let number: Int?
    var facts = SegmentFacts()
    /// The resource at the origin, found once the piece is known to be missing; nil if the asset names none.
    private(set) var resource: Resource?
    var adaptation: Adaptation?
    /// The other rendition's segment that is fetched if this one's host is dead; nil if there is none.
    var standIn: Quality?
    /// The origin's failure, or the reason for not asking it; nil if there is none.
    private(set) var error: LibraryError?
    /// Number of verifications that this request has waited for.
    private var verifications = 0
    /// Cache-Status of the fetch that answers the request; nil if there is none.
    var fetchStatus: CacheStatus?

    init(_ exchange: Exchange, in sessionFolder: SessionFolder, file: String, hasClientData: Bool) {
        self.exchange = exchange
        self.sessionFolder = sessionFolder
        self.file = file
        self.hasClientData = hasClientData
        isAmid = exchange.isAmid
        name = PieceName(file)
        number = Self.number(sessionFolder, name)
        readForm()
    }

    mutating func countVerification() { verifications += 1 }
    /// False if its piece changes after each verification: then it is no piece.
    var mayVerify: Bool { verifications <= 4 }

    /// The request as it was before any choice, with the failed attempts and the time of the first one.
    var afresh: SegmentRequest {
        var request = SegmentRequest(exchange, in: sessionFolder, file: file, hasClientData: false)
        request.adaptation = adaptation
        return request
    }

    private static func number(_ sessionFolder: SessionFolder, _ name: PieceName?) -> Int? {
        guard sessionFolder.rendition?.isLive == false, case .segment(let number)? = name?.role else { return nil }
        return number
    }

    /// True if it asks for all bytes, whatever they are.
    var isForWhole: Bool {
        let head = exchange.head
        guard !head.contains(.ifNoneMatch), !head.contains(.ifModifiedSince), !head.contains(.ifRange) else {
            return false
        }
        guard head.contains(.range) else { return true }
        return head.onlyValue(of: .range).flatMap { ByteRange($0) } == .from(0)
    }

    /// The form in which the segment was sent; nil if it was not.
    private var form: SegmentForm? { number.flatMap { sessionFolder.splicing?.form(of: $0) } }

    private mutating func readForm() {
        facts.splicing = sessionFolder.splicing?.stage ?? .unspliced
        facts.recorded = form
        facts.isRecordedAvailable = true
    }

    /// Begins the choice again if another request was answered since in a form that this one did not know.
    mutating func refreshForm() {
        guard form != facts.recorded else { return }
        facts = SegmentFacts()
        readForm()
    }

    /// The bytes for which the URL stood before a form was recorded.
    enum FormerBytes {
        /// Equal bytes, or none.
        case same
        /// Other bytes: a range of those cannot be sent.
        case other
        /// Another request was answered since in another form: this one must be answered in that form, too.
        case superseding
    }

    /// Records the form in which the segment is about to be sent, unless another one supersedes it.
    func record(_ form: SegmentForm) -> FormerBytes {
        guard let number, let splicing = sessionFolder.splicing else { return .same }
        let known = self.form
        if known == form {
            return .same
        }
        guard known == facts.recorded else { return .superseding }
        splicing.record(form, of: number)
        return known == nil ? .same : .other
    }

    /// The cursor to report to; nil for a HEAD request, which does not count as a segment request.
    var cursor: RenditionCursor? {
        guard exchange.head.method == .get else { return nil }
        return sessionFolder.cursor
    }

    /// Nil if the file is no segment or has no possible substitute.
    var segment: Segment? {
        guard let name, case .segment = name.role, let splicing = sessionFolder.splicing,
            let rendition = sessionFolder.asset.rendition(sessionFolder.folder.id),
            let substitutes = sessionFolder.substitutions.substitutes(of: rendition, in: sessionFolder.asset)
        else { return nil }
        return Segment(name: name, substitutes: substitutes, splicing: splicing)
    }

    /// Records that the player waits for a fetch of the segment, in whatever quality.
    func awaits(_ fetch: Fetch) {
        if case .segment(let number)? = name?.role {
            sessionFolder.served.awaited.add(fetch, number, in: sessionFolder.folder)
        }
    }

    mutating func findResource() {
        resource = nil
        if let name {
            resource = sessionFolder.asset.resource(name, in: sessionFolder.folder)
        }
    }

    var subject: RequestSubject { RequestSubject(sessionFolder, name, path: exchange.head.path) }

    /// Records that the origin is not asked, because it did not answer a moment ago.
    mutating func presumeAbsent(_ error: LibraryError) {
        self.error = error
        facts.missing?.isPresumedAbsent = true
    }

    /// Records that the origin did not deliver. A substitute may have been stored since the fetch began.
    mutating func recordFailure(_ error: LibraryError) {
        self.error = error
        let hasSubstitute = segment?.hasSubstitute ?? false
        facts.missing?.hasFailed = true
        facts.missing?.hasSubstitute = hasSubstitute
    }
}

/// The source of the bytes that answer a request for a piece. Pure.
enum SegmentSource: Equatable {
    case piece
    /// The stored piece, spliced because substitutes were, or may have been, sent before.
    case splicedPiece
    /// A stored piece of another rendition; nil for the best one.
    case substitute(of: String?)
    /// A fetch of the quality that was chosen for a player that cannot adapt.
    case otherQuality
    /// A fetch of another rendition's segment, because the host of this one is dead, or does not have it.
    case standIn
    /// A fetch of the resource, which a substitute may replace up to the given point. If `isSentComplete`, no byte is
    /// sent before the last one has arrived.
    case fetch(Fetch.Fallback, isSentComplete: Bool)
    /// A file without cues, in place of a segment of subtitles that is not to be had.
    case noCues
    case refuse(Refusal)

    enum Refusal: Equatable {
        case keyExpired, unlisted, notStored
        /// The origin was asked and did not deliver.
        case failed
    }

    /// Chooses the source by what is known so far. If it turns out to be unavailable, exclude it and choose again.
    init(_ facts: SegmentFacts) {
        if let quality = facts.quality {
            if quality.isStored {
                self = .substitute(of: quality.rendition)
            } else {
                self = .otherQuality
            }
        } else if let rendition = facts.available?.substitute {
            self = .substitute(of: rendition)
        } else if let missing = facts.missing {
            self.init(missing, facts)
        } else if facts.isOwnSpliced, facts.isSpliceable {
            self = .splicedPiece
        } else {
            self = .piece
        }
    }

    private init(_ missing: SegmentFacts.Missing, _ facts: SegmentFacts) {
        if missing.isGivenUp {
            self = .noCues
        } else if missing.isListed, missing.mayAsk, !missing.hasFailed {
            if missing.hasSubstitute, missing.isPresumedAbsent {
                self = .substitute(of: nil)
            } else if missing.hasStandIn {
                self = .standIn
            } else {
                self = Self.fetch(missing, facts)
            }
        } else if missing.hasSubstitute {
            self = .substitute(of: nil)
        } else if missing.hasFailed, missing.hasStandIn {
            self = .standIn
        } else if missing.isCueFile {
            self = .noCues
        } else if missing.hasFailed {
            self = .refuse(.failed)
        } else if missing.isExpiredKey, !missing.mayAsk {
            self = .refuse(.keyExpired)
        } else if missing.isListed {
            self = .refuse(.notStored)
        } else {
            self = .refuse(.unlisted)
        }
    }

    /// No substitution is possible once the first byte is sent. So a player that has media in its buffer gets the segment
    /// only when it is complete, which takes no longer. A segment that was sent unchanged before is continued at once.
    private static func fetch(_ missing: SegmentFacts.Missing, _ facts: SegmentFacts) -> Self {
        if facts.available == .own {
            guard missing.hasSubstitute else { return .fetch(.none, isSentComplete: false) }
            return .fetch(.untilBegun, isSentComplete: false)
        }
        let isSpliced = facts.available?.isSpliced ?? (facts.splicing == .spliced && missing.isSplicedComplete)
        guard missing.hasSubstitute else { return .fetch(.none, isSentComplete: isSpliced) }
        guard isSpliced || missing.hasBuffer else { return .fetch(.untilBegun, isSentComplete: false) }
        return .fetch(.untilComplete, isSentComplete: true)
    }
}

/// Facts about a request for a piece that decide the answer.
struct SegmentFacts: Equatable {
    struct Quality: Equatable {
        let rendition: String
        let isStored: Bool
    }

    /// The facts that matter only if the piece is not stored or must not be used.
    struct Missing: Equatable {
        var isListed = true
        var mayAsk = true
        var hasSubstitute = false
        var isPresumedAbsent = false
        var hasFailed = false
        /// True if the host is dead, or does not have the segment, and another rendition's can be fetched.
        var hasStandIn = false
        /// True if the player has media to play in the meantime.
        var hasBuffer = false
        /// True if the rendition's segments can be spliced only when they are complete.
        var isSplicedComplete = false
        var isExpiredKey = false
        /// True for a listed file of cues. An error for it would end playback in some players, and a file without cues does not.
        var isCueFile = false
        /// True for one that the origin is known not to have.
        var isGivenUp = false
    }

    /// The quality that Weir chose; nil for the rendition's own.
    var quality: Quality?
    /// The form in which the segment was sent before; nil if it was not.
    var recorded: SegmentForm?
    /// False if the recorded form turned out not to be available any more.
    var isRecordedAvailable = true
    /// Indicates that substitutes were, or may soon be, sent in this session.
    var splicing = SplicingState.Stage.unspliced
    /// False if the piece turned out not to be stored, or must be sent unchanged.
    var isSpliceable = true
    /// Nil while the piece is not known to be missing.
    var missing: Missing?

    /// The recorded form, while it may be available.
    fileprivate var available: SegmentForm? {
        guard isRecordedAvailable else { return nil }
        return recorded
    }

    /// True if the recorded form is a spliced piece of this rendition, false if it is an unspliced one; nil if neither.
    func isSpliced(from rendition: String) -> Bool? {
        guard let available, available.substitute == rendition else { return nil }
        return available.isSpliced
    }

    /// True if the rendition's own piece is spliced once it has arrived.
    var isSplicedWhenComplete: Bool { available?.isSpliced ?? (splicing == .spliced) }
    /// True if the rendition's own piece is sent spliced.
    fileprivate var isOwnSpliced: Bool { available?.isSpliced ?? (splicing != .unspliced) }

    /// Excludes an unavailable source. The caller adds the facts after a missing piece or a failed fetch.
    mutating func exclude(_ source: SegmentSource) {
        switch source {
        case .splicedPiece: isSpliceable = false
        case .otherQuality: quality = nil
        case .standIn: missing?.hasStandIn = false
        case .substitute:
            if quality != nil {
                quality = nil
            } else if available?.substitute != nil {
                isRecordedAvailable = false
            } else {
                missing?.hasSubstitute = false
            }
        case .piece, .fetch, .noCues, .refuse: break
        }
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
