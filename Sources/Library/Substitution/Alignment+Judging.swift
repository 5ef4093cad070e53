import EventLoop
import Fetching
import Playlist
import SegmentFormat

/// Decides if pieces of two renditions fit together.
extension Alignment {
    /// Judges by the present playlists and stored pieces.
    func judge() -> Standing {
        guard let mine = own.source?.playlist, let its = other.source?.playlist, own.folder.sizes.count > sections.own,
            other.folder.sizes.count > sections.other
        else { return .open }
        if isSealed, !(isIndependent || mine.hasIndependentSegments && its.hasIndependentSegments) {
            return .refused("it is encrypted, and nothing says that its segments can be decoded by themselves")
        }
        // Encoders begin a frame or two apart, and encrypted media cannot be inspected.
        if isSealed, !SegmentMatch.areDated(mine, its) {
            return .refused("it is encrypted, and no dates say that its segments begin when these do")
        }
        var isOpen = false
        for shift in SegmentMatch.shifts(mine, its) {
            let match = SegmentMatch(mine, its, shift: shift, tolerance: max(0.001, frame.seconds / 2))
            guard match.count > 0 else { continue }
            if isSealed { return .aligned(match) }
            switch begins(match, mine, its) {
            case .success(true): return .aligned(match)
            case .success(false): break
            case .failure(.cannotJoin(let reason)): return .refused(reason)
            case .failure(.unknown): isOpen = true
            }
        }
        return isOpen ? .open : .refused("its segments do not begin and end when these do")
    }

    private enum Doubt: Error {
        case unknown
        case cannotJoin(String)
    }

    /// True if the media begin as the match predicts, in the first pair of pieces that gives an answer. A piece that
    /// contradicts its own playlist says nothing about the others.
    private func begins(_ match: SegmentMatch, _ mine: MediaPlaylist, _ its: MediaPlaylist) -> Result<Bool, Doubt> {
        for pair in storedPairs(match, mine, its) {
            switch begins(pair, match, mine, its) {
            case .failure(.unknown): continue
            case let answer: return answer
            }
        }
        return .failure(.unknown)
    }

    private func begins(
        _ pair: (own: Int, counterpart: Int), _ match: SegmentMatch, _ mine: MediaPlaylist, _ its: MediaPlaylist
    ) -> Result<Bool, Doubt> {
        let between = mine.segments[min(pair.own, pair.counterpart)..<max(pair.own, pair.counterpart)]
        let seconds = between.reduce(0) { $0 + $1.duration } * (pair.own < pair.counterpart ? 1 : -1)
        let segment = its.segments[match[pair.counterpart] ?? 0]
        switch container {
        case .transportStream: return begins(transport: pair.own, segment, seconds, mine)
        case .fragments: return begins(fragments: pair.own, segment, at: pair.counterpart, seconds, mine)
        case .packedAudio: return begins(audio: pair.own, segment, seconds, mine)
        case .other: return .failure(.unknown)
        }
    }

    private func begins(
        transport place: Int, _ segment: Segment, _ seconds: Double, _ mine: MediaPlaylist
    ) -> Result<Bool, Doubt> {
        let stream = own.folder.reading(own.file(of: mine.segments[place])) { try? TransportStream($0) }
        let foreign = other.folder.reading(other.file(of: segment)) { try? TransportStream($0) }
        guard let stream, let foreign, stream.isSound, foreign.isSound else { return .failure(.unknown) }
        if let reason = foreign.obstacle(inPlaceOf: stream) { return .failure(.cannotJoin(reason)) }
        sample = stream
        return answer(PieceBeginning(foreign).begins(seconds, after: PieceBeginning(stream), frame: frame))
    }

    private func begins(
        audio place: Int, _ segment: Segment, _ seconds: Double, _ mine: MediaPlaylist
    ) -> Result<Bool, Doubt> {
        let audio = own.folder.reading(own.file(of: mine.segments[place])) { try? PackedAudio($0) }
        let foreign = other.folder.reading(other.file(of: segment)) { try? PackedAudio($0) }
        guard let audio, let foreign else { return .failure(.unknown) }
        if let reason = foreign.obstacle(inPlaceOf: audio) { return .failure(.cannotJoin(reason)) }
        audioSample = audio
        return answer(PieceBeginning(foreign).begins(seconds, after: PieceBeginning(audio), frame: frame))
    }

    private func begins(
        fragments place: Int, _ segment: Segment, at counterpart: Int, _ seconds: Double, _ mine: MediaPlaylist
    ) -> Result<Bool, Doubt> {
        guard let splicePair = splicePair(counterpart, segment), let map = mine.segments[place].map,
            let section = own.section(map)
        else { return .failure(.unknown) }
        if case .cannotBeJoined(let reason) = splicePair.verdict { return .failure(.cannotJoin(reason)) }
        let mine = own.folder.reading(own.file(of: mine.segments[place])) { try? MediaSegment($0) }
        let its = other.folder.reading(other.file(of: segment)) { try? MediaSegment($0) }
        guard let mine, let its else { return .failure(.unknown) }
        let start = PieceBeginning(mine, section: section)
        return answer(
            PieceBeginning(its, section: splicePair.source).begins(seconds, after: start, frame: frame))
    }

    private func answer(_ isSo: Bool?) -> Result<Bool, Doubt> { isSo.map { .success($0) } ?? .failure(.unknown) }

    /// Pairs of stored segments, one of each rendition: matching segments if there are any, otherwise two close to each
    /// other without a discontinuity in between. Only a few pairs: if these give no answer, more do not either.
    private func storedPairs(
        _ match: SegmentMatch, _ mine: MediaPlaylist, _ its: MediaPlaylist
    ) -> [(own: Int, counterpart: Int)] {
        var lastOwn: Int?
        var lastTheirs: Int?
        var same: [(own: Int, counterpart: Int)] = []
        var near: [(own: Int, counterpart: Int)] = []
        for (place, segment) in mine.segments.enumerated() where same.count < Self.pairLimit {
            if segment.isDiscontinuity { (lastOwn, lastTheirs) = (nil, nil) }
            let isOwn = own.folder.contains(own.file(of: segment))
            let isTheirs = match[place].map { other.folder.contains(other.file(of: its.segments[$0])) } ?? false
            if isOwn { lastOwn = place }
            if isTheirs { lastTheirs = place }
            guard isOwn || isTheirs, let lastOwn, let lastTheirs else { continue }
            if isOwn, isTheirs {
                same.append((place, place))
            } else if near.count < Self.pairLimit {
                near.append((lastOwn, lastTheirs))
            }
        }
        return same + near
    }

    private static var pairLimit: Int { 4 }
}

extension TransportStream {
    /// True if it begins like a segment that can be decoded by itself.
    fileprivate var isSound: Bool { beginsWithTables && !streams.contains { $0.beginsAtKeyFrame == false } }
}
