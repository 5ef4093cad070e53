import EventLoop
import Fetching
import Playlist
import SegmentFormat

/// Decides if pieces of one rendition can stand in another's playlist: for which segments, and with which changes.
///
/// The playlists are checked against the media once a piece of each is stored. Until then the answer is no.
@LoopActor final class Alignment {
    /// The rendition whose playlist the player has.
    let own: Rendition
    /// The rendition that supplies substitutes.
    let other: Rendition
    /// True if the other rendition has the better quality.
    let isBetter: Bool
    /// The other's expected bit rate, in bits per second.
    let rate: Int
    /// The duration of a frame; times may differ by half of it.
    let frame: MediaTime
    /// True if the multivariant playlist says that each segment can be decoded by itself.
    let isIndependent: Bool
    /// The segment format of both.
    let container: Rendition.Container
    /// True if the media cannot be inspected because it is encrypted.
    let isSealed: Bool
    private var standing = Standing.open
    /// The counts of changes of both folders when `standing` was last judged as open.
    private var judged: Changes?
    /// True if the substitute of a segment fits, by the index of the own segment.
    private var verdicts: [Int: Bool] = [:]
    private var splicePairs: [MapPair: SplicePair] = [:]
    /// A transport stream of the own rendition.
    var sample: TransportStream?
    /// Packed audio of the own rendition.
    var audioSample: PackedAudio?

    /// The numbers of initialization sections: a folder with more files contains segments to compare.
    let sections: (own: Int, other: Int)

    private struct Changes: Equatable {
        let own: Int
        let other: Int
    }

    /// The result of the comparison.
    enum Standing {
        /// No contradiction, but not enough pieces for certainty.
        case open
        /// The renditions fit together, segment by segment.
        case aligned(SegmentMatch)
        /// No piece of the other can be used: the reason, as a sentence without a full stop.
        case refused(String)
    }

    /// Two initialization sections, by their indexes in the two playlists.
    struct MapPair: Hashable {
        let own: Int
        let other: Int
    }

    /// - Parameter isIndependent: true if the multivariant playlist says that each segment can be decoded by itself.
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

    /// A rendition with its attributes from the multivariant playlist.
    struct Candidate {
        let rendition: Rendition
        let traits: RenditionTraits
    }

    private static func frame(_ own: RenditionTraits, _ other: RenditionTraits) -> MediaTime {
        if case .variant(hasPictures: true, _) = own.kind {
            return MediaTime(ticks: Int64(90_000 / max(own.frameRate, other.frameRate)), timescale: 90_000)
        }
        // The length of an AAC frame; shorter frames are rare.
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

    /// The reason why no piece of the other can be used; nil if a piece can, or may.
    var refusal: String? {
        if case .refused(let reason) = standing { reason } else { nil }
    }

    /// Like `refusal`, after a check of the stored pieces.
    var judgedRefusal: String? {
        _ = match
        return refusal
    }

    /// The pairs of segments that cover the same time; nil until they are known.
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

    /// The pairs of segments that cover the same time, according to the playlists only.
    private lazy var supposed: SegmentMatch? = {
        guard let mine = own.source?.playlist, let its = other.source?.playlist else { return nil }
        return SegmentMatch.shifts(mine, its).lazy
            .map { SegmentMatch(mine, its, shift: $0, tolerance: max(0.001, self.frame.seconds / 2)) }
            .first { $0.count > 0 }
    }()

    /// True if pieces of the other may be usable, stored or not.
    var isLikely: Bool {
        let known = match
        return refusal == nil && (known ?? supposed) != nil
    }

    /// The other's segment for the time of an own one, stored or not, if nothing speaks against it. It must be possible
    /// to check it once it is stored; for that an own one must be stored, too.
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

    /// True if a stored piece of the other can substitute an own segment, by index.
    func covers(_ place: Int) -> Bool {
        guard let segment = counterpart(of: place) else { return false }
        if let known = verdicts[place] { return known }
        verdicts[place] = isFit(segment, at: place)
        return verdicts[place] ?? false
    }

    /// True if any substitute here needs a splice.
    var joinsAnything: Bool {
        guard match != nil, !isSealed else { return false }
        return container == .transportStream || splicePairs.values.contains { $0.verdict == .needsInBandParameterSets }
    }

    /// True if the substitute of an own segment needs a splice.
    func joins(_ place: Int) -> Bool {
        guard !isSealed, container != .transportStream else { return !isSealed }
        return counterpart(of: place).flatMap { splicePair(place, $0) }?.verdict == .needsInBandParameterSets
    }

    /// Opens the substitute of an own segment.
    ///
    /// - Parameter isJoined: true if the decoder got its parameters in-band: then it needs them again.
    func open(_ place: Int, isJoined: Bool) -> Substitute? {
        guard covers(place), let segment = counterpart(of: place) else { return nil }
        let file = other.file(of: segment)
        guard let descriptor = other.folder.open(file) else { return nil }
        let piece = OpenPiece(descriptor)
        guard let manner = manner(of: piece, segment, at: place, isJoined: isJoined) else { return nil }
        return Substitute(rendition: other, descriptor: piece.release(), splice: manner.splice, joins: manner.joins)
    }

    /// The other's segment for an own one, if it is stored and can be decrypted in its place.
    private func counterpart(of place: Int) -> Segment? {
        guard let match, let mine = own.source?.playlist, let its = other.source?.playlist, let found = match[place],
            other.folder.contains(other.file(of: its.segments[found]))
        else { return nil }
        let segment = its.segments[found]
        return own.isDecrypted(mine.segments[place], like: segment, of: other) ? segment : nil
    }

    // MARK: Splicing

    /// True if the other's segment fits; nil if that cannot be decided yet.
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

    /// Returns the splice of the other's segment for the initialization section of an own one.
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
