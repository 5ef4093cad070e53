import EventLoop
import Fetching
import Playlist
import SegmentFormat

/// Two renditions, and whether pieces of one can stand in a playlist of the other's: over which segments they do, and
/// what must be done to them.
///
/// What the playlists say is checked against the media once a piece of each is there; what cannot be told yet is no.
@LoopActor final class Alignment {
    /// The rendition whose playlist the player has.
    let own: Rendition
    /// The one whose pieces stand in.
    let other: Rendition
    /// Whether the other is the better one.
    let isBetter: Bool
    /// What is to be expected of the other, in bits a second.
    let rate: Int
    /// A frame, of which times may differ by half.
    let frame: MediaTime
    /// Whether the multivariant playlist says that all segments can be decoded by themselves.
    let isIndependent: Bool
    /// What the segments of both are.
    let container: Rendition.Container
    /// Whether nothing can be seen of the media.
    let isSealed: Bool
    private var standing = Standing.open
    /// The counts of changes of both folders when `standing` was last found to be open.
    private var judged: Changes?
    /// Whether the piece that stands in for a segment of one's own, by its place, was found to be fit.
    private var verdicts: [Int: Bool] = [:]
    private var splicePairs: [MapPair: SplicePair] = [:]
    /// A transport stream of the own rendition.
    var sample: TransportStream?
    /// Packed audio of the own rendition.
    var audioSample: PackedAudio?

    /// The numbers of initialization sections: a folder with more files has something to compare.
    let sections: (own: Int, other: Int)

    private struct Changes: Equatable {
        let own: Int
        let other: Int
    }

    /// What is known of two renditions.
    enum Standing {
        /// Nothing against it, and not enough to be sure.
        case open
        /// They go together, segment by segment.
        case aligned(SegmentMatch)
        /// Nothing of the other can stand here: a sentence without a full stop.
        case refused(String)
    }

    /// Initialization sections, by their places in the two playlists.
    struct MapPair: Hashable {
        let own: Int
        let other: Int
    }

    /// - Parameter isIndependent: whether the multivariant playlist says that all segments can be decoded by
    ///   themselves.
    init(of other: Candidate, behind own: Candidate, isIndependent: Bool) {
        (self.own, self.other) = (own.rendition, other.rendition)
        self.isIndependent = isIndependent
        container = own.rendition.container
        sections = (
            own.rendition.source?.playlist.maps.count ?? 0, other.rendition.source?.playlist.maps.count ?? 0
        )
        isSealed = own.rendition.isEncrypted || other.rendition.isEncrypted
        isBetter = other.traits.bandwidth > own.traits.bandwidth
        rate = other.traits.rate
        frame = Self.frame(own.traits, other.traits)
        if let reason = own.traits.obstacle(to: other.traits) ?? Self.obstacle(own.rendition, other.rendition) {
            standing = .refused(reason)
        }
    }

    /// A rendition with what the multivariant playlist says of it.
    struct Candidate {
        let rendition: Rendition
        let traits: RenditionTraits
    }

    private static func frame(_ own: RenditionTraits, _ other: RenditionTraits) -> MediaTime {
        if case .variant(hasPictures: true, _) = own.kind {
            return MediaTime(ticks: Int64(90_000 / max(own.frameRate, other.frameRate)), timescale: 90_000)
        }
        // AAC: what is shorter is rarer.
        return MediaTime(ticks: 1024, timescale: 48_000)
    }

    private static func obstacle(_ own: Rendition, _ other: Rendition) -> String? {
        guard own.source?.isDurable ?? false, other.source?.isDurable ?? false else { return "it is live" }
        let (container, its) = (own.container, other.container)
        if container != its { return "its segments are \(its.rawValue), not \(container.rawValue)" }
        switch container {
        case .other: return "its segments are neither MPEG-TS, fragmented MP4 nor packed AAC"
        case .packedAudio where own.isEncrypted || other.isEncrypted:
            return "it is encrypted, and nothing says that its frames are of one kind with these"
        case .transportStream, .fragments, .packedAudio: return nil
        }
    }

    // MARK: Segments

    /// Why nothing of the other stands here; nil when something does, or may.
    var refusal: String? {
        if case .refused(let reason) = standing { reason } else { nil }
    }

    /// The same, after a look at what is stored.
    var judgedRefusal: String? {
        _ = match
        return refusal
    }

    /// The segments that lie over each other; nil while they are not known to do so.
    private var match: SegmentMatch? {
        if case .open = standing {
            let state = Changes(own: own.folder.changes, other: other.folder.changes)
            if judged != state {
                judged = state
                standing = judge()
            }
        }
        if case .aligned(let match) = standing { return match }
        return nil
    }

    /// The segments that lie over each other by what the playlists say alone.
    private lazy var supposed: SegmentMatch? = {
        guard let mine = own.source?.playlist, let its = other.source?.playlist else { return nil }
        return SegmentMatch.shifts(mine, its).lazy
            .map { SegmentMatch(mine, its, shift: $0, tolerance: max(0.001, self.frame.seconds / 2)) }
            .first { $0.count > 0 }
    }()

    /// Whether pieces of the other may be able to stand in, stored or not.
    var isLikely: Bool {
        let known = match
        return refusal == nil && (known ?? supposed) != nil
    }

    /// The other's segment over the own one at a place, stored or not, as far as nothing speaks against it yet, and it
    /// can be told as soon as it is there: an own one must be, too.
    func likelyCounterpart(of place: Int) -> Segment? {
        let known = match
        guard refusal == nil, verdicts[place] ?? true, known != nil || hasOwnSegment, let mine = own.source?.playlist,
            let its = other.source?.playlist, let found = (known ?? supposed)?[place]
        else { return nil }
        let segment = its.segments[found]
        return own.isDecrypted(mine.segments[place], like: segment, of: other) ? segment : nil
    }

    private var hasOwnSegment: Bool {
        own.source?.playlist.segments.contains { own.folder.contains(own.file(of: $0)) } ?? false
    }

    /// Whether a stored piece of the other can stand in for the own segment at a place.
    func covers(_ place: Int) -> Bool {
        guard let segment = counterpart(of: place) else { return false }
        if let known = verdicts[place] { return known }
        verdicts[place] = isFit(segment, at: place)
        return verdicts[place] ?? false
    }

    /// Whether there are segments here for which others have to be spliced.
    var joinsAnything: Bool {
        guard match != nil, !isSealed else { return false }
        return container == .transportStream || splicePairs.values.contains { $0.verdict == .needsInBandParameterSets }
    }

    /// Whether what stands in for the own segment at a place has to be spliced.
    func joins(_ place: Int) -> Bool {
        guard !isSealed, container != .transportStream else { return !isSealed }
        return counterpart(of: place).flatMap { splicePair(place, $0) }?.verdict == .needsInBandParameterSets
    }

    /// What can stand in for the own segment at a place, opened.
    ///
    /// - Parameter isJoined: whether the decoder was told in-band what is to come: it must be told again then.
    func open(_ place: Int, isJoined: Bool) -> Substitute? {
        guard covers(place), let segment = counterpart(of: place) else { return nil }
        let file = other.file(of: segment)
        guard let descriptor = other.folder.open(file) else { return nil }
        let piece = OpenPiece(descriptor)
        guard let manner = manner(of: piece, segment, at: place, isJoined: isJoined) else { return nil }
        return Substitute(rendition: other, descriptor: piece.release(), splice: manner.splice, joins: manner.joins)
    }

    /// The other's segment over an own one, if it is stored and can be decrypted in its place.
    private func counterpart(of place: Int) -> Segment? {
        guard let match, let mine = own.source?.playlist, let its = other.source?.playlist, let found = match[place],
            other.folder.contains(other.file(of: its.segments[found]))
        else { return nil }
        let segment = its.segments[found]
        return own.isDecrypted(mine.segments[place], like: segment, of: other) ? segment : nil
    }

    // MARK: Joining

    /// Whether the other's segment can be put there; nil while that cannot be told.
    private func isFit(_ segment: Segment, at place: Int) -> Bool? {
        if container == .transportStream {
            return isSealed ? true : other.folder.reading(other.file(of: segment)) { fits(transport: $0) }
        }
        if container == .packedAudio { return other.folder.reading(other.file(of: segment)) { fits(audio: $0) } }
        guard let splicePair = splicePair(place, segment) else { return nil }
        if isSealed { return splicePair.verdict == .equivalent }
        return other.folder.reading(other.file(of: segment)) { (try? splicePair.splice($0)) != nil }
    }

    private func fits(transport source: ByteSource) -> Bool? {
        guard let sample else { return nil }
        return (try? TransportStream(source)).map { $0.obstacle(inPlaceOf: sample) == nil } ?? false
    }

    private func fits(audio source: ByteSource) -> Bool? {
        guard let audioSample else { return nil }
        return (try? PackedAudio(source)).map { $0.obstacle(inPlaceOf: audioSample) == nil } ?? false
    }

    private func manner(
        of piece: OpenPiece, _ segment: Segment, at place: Int, isJoined: Bool
    ) -> (splice: Splice?, joins: Bool)? {
        if isSealed || container == .packedAudio { return (nil, false) }
        guard let source = piece.source else { return nil }
        if container == .transportStream { return (try? TransportStream(source)).map { ($0.splice(), true) } }
        guard let splicePair = splicePair(place, segment) else { return nil }
        if splicePair.verdict == .equivalent, !isJoined { return (nil, false) }
        return (try? splicePair.splice(source)).map { ($0, true) }
    }

    /// How the other's segment comes behind the section that is in force for an own one.
    func splicePair(_ place: Int, _ segment: Segment) -> SplicePair? {
        guard let map = own.source?.playlist.segments[place].map, let its = segment.map else { return nil }
        let pair = MapPair(own: map.index, other: its.index)
        if let known = splicePairs[pair] { return known }
        guard let playlist = own.section(map), let source = other.section(its) else { return nil }
        let splicePair = SplicePair(of: source, behind: playlist)
        splicePairs[pair] = splicePair
        return splicePair
    }
}
