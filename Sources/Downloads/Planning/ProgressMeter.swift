import Assets
import EventLoop
import Fetching
import HLS
import Retention

/// Keeps the measured progress of a download's renditions, each computed once for each change of what is stored.
///
/// A long playlist is measured on a worker. Until that is done, the last measure stands.
@LoopActor final class ProgressMeter {
    private struct Known {
        var state: State
        var measure: Measure
    }

    private struct State: Equatable {
        let playlists, pieces: Int
    }

    /// The answer of `isComplete`.
    private struct Completeness {
        var state: State
        let isComplete: Bool
        /// The file of a segment that is not stored, if that is the reason.
        var missing: String?
    }

    struct Key: Hashable {
        let rendition: String
        let wanted: WantedTime
    }

    private var known: [Key: Known] = [:]
    private var running: Set<Key> = []
    private var whole: [Key: Completeness] = [:]

    func measure(of rendition: Rendition, _ wanted: WantedTime, bitRate: AnnouncedRate) -> Measure {
        let key = Key(rendition: rendition.name.id, wanted: wanted)
        let state = state(of: rendition)
        if let known = known[key], known.state == state {
            return known.measure
        }
        guard let input = Measure.Input(rendition, wanted, bitRate: bitRate) else {
            return Measure(unknown: rendition.name.id, kind: rendition.kind)
        }
        guard rendition.isLong else {
            let measure = Measure(input)
            known[key] = Known(state: state, measure: measure)
            return measure
        }
        if running.insert(key).inserted {
            Task { @LoopActor in
                await run(input, state, for: rendition)
                running.remove(key)
            }
        }
        return known[key]?.measure ?? Measure(unknown: rendition.name.id, kind: rendition.kind)
    }

    /// Measures a playlist, a long one on a worker, and returns then.
    func prepare(_ rendition: Rendition, _ wanted: WantedTime, bitRate: AnnouncedRate) async {
        guard rendition.isLong else {
            _ = measure(of: rendition, wanted, bitRate: bitRate)
            return
        }
        let state = state(of: rendition)
        guard known[Key(rendition: rendition.name.id, wanted: wanted)]?.state != state,
            let input = Measure.Input(rendition, wanted, bitRate: bitRate)
        else { return }
        await run(input, state, for: rendition)
    }

    private func run(_ input: Measure.Input, _ state: State, for rendition: Rendition) async {
        guard
            let measure = await PureWork.shared.run(
                size: 64 * input.files.count, for: rendition, { Measure(input) })
        else { return }
        known[Key(rendition: input.id, wanted: input.wanted)] = Known(state: state, measure: measure)
    }

    /// True if all that is wanted of a rendition is stored. Looked for once for each change, and not at all while the segment is
    /// missing that was missing before.
    func isComplete(_ rendition: Rendition, _ wanted: WantedTime) -> Bool {
        if let known = completeness(of: rendition, wanted) {
            return known
        }
        let scan = HoleScan.Input(rendition, wanted).map { HoleScan($0) }
        return record(scan, of: rendition, wanted)
    }

    /// Looks for it on a worker, if the playlist is long.
    func measureCompleteness(of rendition: Rendition, _ wanted: WantedTime) async {
        guard wanted != .all else { return await rendition.readCompleteness() }
        await rendition.folder.load()
        guard completeness(of: rendition, wanted) == nil, let input = HoleScan.Input(rendition, wanted) else { return }
        let state = state(of: rendition)
        let scan = await PureWork.shared.run(size: input.size, for: rendition) { HoleScan(input) }
        guard let scan, state == self.state(of: rendition) else { return }
        _ = record(scan, of: rendition, wanted)
    }

    private func completeness(of rendition: Rendition, _ wanted: WantedTime) -> Bool? {
        let key = Key(rendition: rendition.name.id, wanted: wanted)
        let state = state(of: rendition)
        guard let known = whole[key] else { return nil }
        if known.state == state {
            return known.isComplete
        }
        guard let missing = known.missing, known.state.playlists == state.playlists, !rendition.folder.contains(missing)
        else { return nil }
        whole[key]?.state = state
        return false
    }

    private func record(_ scan: HoleScan?, of rendition: Rendition, _ wanted: WantedTime) -> Bool {
        var missing: String?
        // While the last hole's segment is missing, the rendition cannot be complete, and needs no new scan. Not so where segments
        // are given up: that changes the answer although no piece is added.
        if case .segment(let index)? = scan?.holes.last?.item, rendition.givenUp.isEmpty {
            missing = rendition.segmentFiles[index]
        }
        let track = Plan.Track(of: rendition, scan) { _ in false }
        let isComplete = scan != nil && track.segments.isEmpty && track.preliminaries.isEmpty
        whole[Key(rendition: rendition.name.id, wanted: wanted)] = Completeness(
            state: state(of: rendition), isComplete: isComplete, missing: missing)
        return isComplete
    }

    private func state(of rendition: Rendition) -> State {
        State(playlists: rendition.edition, pieces: rendition.folder.changes &+ rendition.keys.changes)
    }
}
