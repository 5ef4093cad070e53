import Assets
import EventLoop
import Fetching
import Glibc
import HLS
import SegmentFormat
import Store

/// Decides which pieces of one rendition can stand in for which segments of another, and with which changes. The
/// playlists are checked against the media once a piece of each is stored. Until then no piece is used.
@LoopActor final class Alignment {
    private enum State {
        /// No contradiction, but not enough pieces for certainty.
        case undecided
        case aligned(SegmentMatch)
        /// No piece of the other can be used: the reason, as a sentence without a full stop.
        case refused(String)
    }

    /// The rendition whose playlist the player has.
    let own: Rendition
    /// The rendition that supplies substitutes.
    let other: Rendition
    private let candidates: (own: Candidate, other: Candidate)
    let isBetter: Bool
    /// The other's expected bit rate, in bits per second.
    let rate: BitRate
    /// The duration of a frame; times may differ by half of it.
    private let frame: MediaTime
    /// True if the multivariant playlist says that each segment can be decoded by itself.
    private let isIndependent: Bool
    private let container: Container
    /// True if one of them is encrypted, so that the media cannot be inspected.
    private let isEncrypted: Bool
    private var state = State.undecided
    /// The counts of changes of both folders at the latest comparison.
    private var compared: [Int] = []
    /// True if the substitute of a segment fits, by the index of the own segment.
    private var fits: [Int: Bool] = [:]
    /// By the indexes of the own and the other initialization section.
    private var splicePairs: [[Int]: SplicePair] = [:]
    /// A piece of the own rendition, with which others are compared.
    private var ownStream: TransportStream?
    private var ownAudio: PackedAudio?

    init(of other: Candidate, behind own: Candidate, isIndependent: Bool) {
        self.own = own.rendition
        self.other = other.rendition
        candidates = (own, other)
        self.isIndependent = isIndependent
        container = own.rendition.container
        isEncrypted = own.rendition.isEncrypted || other.rendition.isEncrypted
        isBetter = other.traits.bandwidth > own.traits.bandwidth
        rate = other.traits.rate
        if case .variant(hasVideo: true, _) = own.traits.kind {
            let frameRate = max(own.traits.frameRate, other.traits.frameRate)
            frame = MediaTime(ticks: Int64(90_000 / frameRate), timescale: 90_000)
        } else {
            // The length of an AAC frame; shorter frames are rare.
            frame = MediaTime(ticks: 1024, timescale: 48_000)
        }
        if let reason = own.traits.mismatch(to: other.traits) ?? mismatch {
            state = .refused(reason)
        }
    }

    /// The reason in the playlists why no piece of the other can be used.
    private var mismatch: String? {
        guard let source = own.source, source.isDurable, let foreign = other.source, foreign.isDurable else {
            return "it is live"
        }
        if container != other.container {
            return "its segments are \(other.container.rawValue), not \(container.rawValue)"
        }
        switch container {
        case .other: return "its segments are neither MPEG-TS, fragmented MP4 nor packed AAC"
        case .packedAudio where isEncrypted:
            return "it is encrypted, and nothing says that its frames are of one kind with these"
        case .transportStream, .fragments, .packedAudio: return nil
        }
    }

    private typealias Playlists = (own: MediaPlaylist, other: MediaPlaylist)

    private var playlists: Playlists { (candidates.own.timed.playlist, candidates.other.timed.playlist) }

    // MARK: Segments

    /// The reason why no piece of the other can be used; nil if a piece can, or may.
    var refusal: String? {
        guard case .refused(let reason) = state else { return nil }
        return reason
    }

    /// Like `refusal`, after a comparison of the stored pieces.
    var checkedRefusal: String? {
        _ = match
        return refusal
    }

    /// The pairs of segments that cover the same time; nil until they are known.
    private var match: SegmentMatch? {
        if case .undecided = state {
            let changes = [own.folder.changes, other.folder.changes]
            if compared != changes {
                compared = changes
                state = compare()
            }
        }
        if case .aligned(let match) = state {
            return match
        }
        return nil
    }

    /// The pairs of segments that cover the same time, according to the playlists only.
    private lazy var expectedMatch: SegmentMatch? = matches.first

    /// The possible pairs of segments, the likeliest first; those without a pair are left out.
    private lazy var matches: [SegmentMatch] = {
        let tolerance = max(0.001, frame.seconds / 2)
        let own = candidates.own.timed
        let other = candidates.other.timed
        return SegmentMatch.shifts(own, other).map { SegmentMatch(own, other, shift: $0, tolerance: tolerance) }
            .filter { !$0.isEmpty }
    }()

    /// True if pieces of the other may be usable, stored or not.
    var isLikely: Bool {
        let known = match
        return refusal == nil && (known ?? expectedMatch) != nil
    }

    /// The other's segment for the time of an own one, stored or not, if nothing speaks against it. It must be possible
    /// to check it once it is stored; for that an own one must be stored, too.
    func likelyCounterpart(of index: Int) -> Segment? {
        let known = match
        guard refusal == nil, fits[index] ?? true, known != nil || hasOwnSegment else { return nil }
        return segment(at: index, by: known ?? expectedMatch)
    }

    /// True if stored pieces show which segments cover the same time.
    var isProven: Bool { match != nil }

    /// The other's segment for the time of an own one, judging by the playlists alone as long as nothing stored can be compared.
    func expectedCounterpart(of index: Int) -> Segment? {
        let known = match
        guard refusal == nil, fits[index] ?? true else { return nil }
        return segment(at: index, by: known ?? expectedMatch)
    }

    private var hasOwnSegment: Bool {
        !candidates.own.storedIndices.isEmpty
    }

    /// The other's segment for an own one, if it is stored and can be decrypted instead.
    private func counterpart(of index: Int) -> Segment? {
        guard let segment = segment(at: index, by: match), other.folder.contains(other.file(of: segment)) else {
            return nil
        }
        return segment
    }

    private func segment(at index: Int, by match: SegmentMatch?) -> Segment? {
        guard let found = match?[index] else { return nil }
        let playlists = playlists
        let compared = playlists.other.segments[found]
        // The URLs may have been renewed since the comparison; numbers and names stay.
        let present = other.source?.playlist.segments
        var segment = compared
        if let present, present.indices.contains(found),
            present[found].mediaSequenceNumber == compared.mediaSequenceNumber
        {
            segment = present[found]
        }
        guard own.decrypts(segment, of: other, inPlaceOf: playlists.own.segments[index]) else { return nil }
        return segment
    }

    /// True if a stored piece of the other can substitute an own segment, by index.
    func covers(_ index: Int) -> Bool {
        guard let segment = counterpart(of: index) else { return false }
        if let known = fits[index] {
            return known
        }
        fits[index] = isFit(segment, at: index)
        return fits[index] ?? false
    }

    /// True if the other's stored segment fits; nil if that cannot be decided yet.
    private func isFit(_ segment: Segment, at index: Int) -> Bool? {
        let file = other.file(of: segment)
        switch container {
        case .transportStream where isEncrypted: return true
        case .transportStream:
            guard let ownStream else { return nil }
            return other.folder.reading(file) { source in
                guard let stream = try? TransportStream(source) else { return false }
                return stream.mismatch(inPlaceOf: ownStream) == nil
            }
        case .packedAudio:
            guard let ownAudio else { return nil }
            return other.folder.reading(file) { source in
                guard let audio = try? PackedAudio(source) else { return false }
                return audio.mismatch(inPlaceOf: ownAudio) == nil
            }
        case .fragments, .other:
            guard let splicePair = splicePair(index, segment) else { return nil }
            if isEncrypted {
                return splicePair.verdict == .equivalent
            }
            return other.folder.reading(file) { (try? splicePair.splice($0)) != nil }
        }
    }

    // MARK: Splicing

    /// True if any substitute here needs a splice.
    var needsAnySplice: Bool {
        guard match != nil, !isEncrypted else { return false }
        return container == .transportStream || splicePairs.values.contains { $0.verdict == .needsInBandParameterSets }
    }

    /// True if the substitute of an own segment needs a splice.
    func needsSplice(_ index: Int) -> Bool {
        guard let segment = counterpart(of: index) else { return false }
        return needsSplice(segment, at: index, isAfterSplice: false)
    }

    private func needsSplice(_ segment: Segment, at index: Int, isAfterSplice: Bool) -> Bool {
        if isEncrypted {
            return false
        }
        return switch container {
        case .transportStream: true
        case .fragments: isAfterSplice || splicePair(index, segment)?.verdict != .equivalent
        case .packedAudio, .other: false
        }
    }

    /// Opens the substitute of an own segment.
    /// - Parameter isAfterSplice: true if the decoder got its parameters in-band: then it needs them again.
    func open(_ index: Int, isAfterSplice: Bool) -> Substitute? {
        guard covers(index), let segment = counterpart(of: index),
            let descriptor = other.folder.open(other.file(of: segment))
        else { return nil }
        var splice: Splice?
        if needsSplice(segment, at: index, isAfterSplice: isAfterSplice) {
            splice = ByteSource(descriptor: descriptor).flatMap { self.splice($0, segment, at: index) }
            if splice == nil {
                close(descriptor)
                return nil
            }
        }
        return Substitute(rendition: other, file: other.file(of: segment), descriptor: descriptor, splice: splice)
    }

    private func splice(_ source: ByteSource, _ segment: Segment, at index: Int) -> Splice? {
        if container == .transportStream {
            return try? TransportStream(source).splice()
        }
        return try? splicePair(index, segment)?.splice(source)
    }

    private func splicePair(_ index: Int, _ segment: Segment) -> SplicePair? {
        guard let map = playlists.own.segments[index].map, let otherMap = segment.map else { return nil }
        let pair = [map.index, otherMap.index]
        if let known = splicePairs[pair] {
            return known
        }
        guard let section = own.section(map), let source = other.section(otherMap) else { return nil }
        let splicePair = SplicePair(of: source, behind: section)
        splicePairs[pair] = splicePair
        return splicePair
    }

    // MARK: Comparison

    /// Compares the playlists and the stored pieces.
    private func compare() -> State {
        // A folder with more files than initialization sections contains segments.
        let playlists = playlists
        guard !candidates.own.storedIndices.isEmpty || !candidates.other.storedIndices.isEmpty,
            own.folder.sizes.count > playlists.own.maps.count, other.folder.sizes.count > playlists.other.maps.count
        else { return .undecided }
        if isEncrypted {
            guard isIndependent || playlists.own.hasIndependentSegments && playlists.other.hasIndependentSegments else {
                return .refused("it is encrypted, and nothing says that its segments can be decoded by themselves")
            }
            // Encoders begin a frame or two apart, and encrypted media cannot be inspected.
            guard SegmentMatch.areDated(candidates.own.timed, candidates.other.timed) else {
                return .refused("it is encrypted, and no dates say that its segments begin when these do")
            }
        }
        var isUndecided = false
        for match in matches {
            if isEncrypted {
                return .aligned(match)
            }
            switch compareStarts(match, playlists) {
            case .equal: return .aligned(match)
            case .different: break
            case .unknown: isUndecided = true
            case .unsuitable(let reason): return .refused(reason)
            }
        }
        guard !isUndecided else { return .undecided }
        return .refused("its segments do not begin and end when these do")
    }

    private enum Comparison {
        case equal, different, unknown
        /// The pieces cannot be spliced: the reason.
        case unsuitable(String)
    }

    /// Two stored segments, by their indexes in the own playlist; `other` is a counterpart's.
    private typealias StoredPair = (own: Int, other: Int)

    /// Compares the first pair that gives an answer. A piece that contradicts its own playlist says nothing of others.
    private func compareStarts(_ match: SegmentMatch, _ playlists: Playlists) -> Comparison {
        for pair in storedPairs(match, playlists) {
            let seconds = candidates.own.timed.times[pair.other] - candidates.own.timed.times[pair.own]
            let foreign = playlists.other.segments[match[pair.other] ?? 0]
            // Only fragments have initialization sections.
            let sections = container == .fragments ? splicePair(pair.other, foreign) : nil
            let result = compareStarts(
                of: playlists.own.segments[pair.own], and: foreign, sections, expected: seconds)
            if case .unknown = result {
                continue
            }
            return result
        }
        return .unknown
    }

    /// - Parameter seconds: the expected time from the start of the first to the start of the second.
    private func compareStarts(
        of segment: Segment, and foreign: Segment, _ splicePair: SplicePair?, expected seconds: Double
    ) -> Comparison {
        let starts: (own: PieceStart, other: PieceStart)
        switch container {
        case .transportStream:
            guard let (stream, other) = read(segment, and: foreign, { try TransportStream($0) }),
                // Otherwise the segment cannot be decoded by itself.
                [stream, other].allSatisfy({ stream in
                    stream.beginsWithTables && !stream.streams.contains { $0.beginsAtKeyFrame == false }
                })
            else { return .unknown }
            if let reason = other.mismatch(inPlaceOf: stream) {
                return .unsuitable(reason)
            }
            ownStream = stream
            starts = (PieceStart(stream), PieceStart(other))
        case .packedAudio:
            guard let (audio, other) = read(segment, and: foreign, { try PackedAudio($0) }) else { return .unknown }
            if let reason = other.mismatch(inPlaceOf: audio) {
                return .unsuitable(reason)
            }
            ownAudio = audio
            starts = (PieceStart(audio), PieceStart(other))
        case .fragments:
            guard let splicePair, let section = segment.map.flatMap({ own.section($0) }) else { return .unknown }
            if case .cannotBeJoined(let reason) = splicePair.verdict {
                return .unsuitable(reason)
            }
            guard let (media, other) = read(segment, and: foreign, { try MediaSegment($0) }) else { return .unknown }
            starts = (PieceStart(media, section: section), PieceStart(other, section: splicePair.source))
        case .other: return .unknown
        }
        guard let isAfter = starts.other.isAfter(starts.own, by: seconds, frame: frame) else { return .unknown }
        return isAfter ? .equal : .different
    }

    /// Reads a stored segment of each rendition; nil if one of them is invalid.
    private func read<T>(_ segment: Segment, and foreign: Segment, _ parse: (ByteSource) throws -> T) -> (T, T)? {
        guard let mine = own.folder.reading(own.file(of: segment), { try? parse($0) }),
            let its = other.folder.reading(other.file(of: foreign), { try? parse($0) })
        else { return nil }
        return (mine, its)
    }

    /// Pairs of stored segments: those that match if there are any, otherwise two close to each other without a
    /// discontinuity in between. Only a few pairs: if these give no answer, more do not either.
    private func storedPairs(_ match: SegmentMatch, _ playlists: Playlists) -> [StoredPair] {
        var (lastOwn, lastOther): (Int?, Int?)
        var matching: [StoredPair] = []
        var close: [StoredPair] = []
        var last = -1
        for (index, hasOwn, hasOther) in storedIndices(match) where matching.count < Self.pairLimit {
            if last >= 0, playlists.own.discontinuities(upTo: index) != playlists.own.discontinuities(upTo: last) {
                lastOwn = nil
                lastOther = nil
            }
            last = index
            if hasOwn {
                lastOwn = index
            }
            if hasOther {
                lastOther = index
            }
            guard let lastOwn, let lastOther else { continue }
            if hasOwn, hasOther {
                matching.append((index, index))
            } else if close.count < Self.pairLimit {
                close.append((lastOwn, lastOther))
            }
        }
        return matching + close
    }

    private static let pairLimit = 4

    /// The own segments of which a piece, or the piece of the other's segment for their time, is stored; in order.
    private func storedIndices(_ match: SegmentMatch) -> [(index: Int, hasOwn: Bool, hasOther: Bool)] {
        let reversed = match.reversed
        let own = candidates.own.storedIndices
        let other = candidates.other.storedIndices.compactMap { reversed[$0] }
        var indices: [(index: Int, hasOwn: Bool, hasOther: Bool)] = []
        var next: Int = 0
        for index in own {
            while next < other.count, other[next] < index {
                indices.append((other[next], false, true))
                next += 1
            }
            let isBoth = next < other.count && other[next] == index
            if isBoth {
                next += 1
            }
            indices.append((index, true, isBoth))
        }
        return indices + other[next...].map { ($0, false, true) }
    }

    /// The own segments that stored pieces of the other may substitute, in order. `covers` has the last word.
    var storedCounterparts: [Int] {
        guard let match else { return [] }
        let reversed = match.reversed
        return candidates.other.storedIndices.compactMap { reversed[$0] }
    }
}
