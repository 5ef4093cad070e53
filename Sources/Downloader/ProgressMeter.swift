import EventLoop
import Fetching
import Library
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
        let wanted: WantedTime
    }

    private var known: [String: Known] = [:]
    private var running: Set<String> = []
    private var whole: [String: (state: State, isComplete: Bool)] = [:]
    /// A playlist of at most this many segments is measured at once.
    private static let small = 10_000

    func measure(of rendition: Rendition, _ wanted: WantedTime, bitRate: Double) -> Measure {
        let (id, state) = (rendition.name.id, state(of: rendition, wanted))
        if let known = known[id], known.state == state { return known.measure }
        guard let input = Measure.Input(rendition, wanted, bitRate: bitRate) else {
            return Measure(unknown: id, kind: rendition.kind)
        }
        guard input.files.count > Self.small else {
            let measure = Measure(input)
            known[id] = Known(state: state, measure: measure)
            return measure
        }
        if running.insert(id).inserted {
            Task { @LoopActor in
                await run(input, state, for: rendition)
                running.remove(id)
            }
        }
        return known[id]?.measure ?? Measure(unknown: id, kind: rendition.kind)
    }

    /// Measures a long playlist on a worker, and returns then.
    func prepare(_ rendition: Rendition, _ wanted: WantedTime, bitRate: Double) async {
        let state = state(of: rendition, wanted)
        guard known[rendition.name.id]?.state != state,
            let input = Measure.Input(rendition, wanted, bitRate: bitRate), input.files.count > Self.small
        else { return }
        await run(input, state, for: rendition)
    }

    private func run(_ input: Measure.Input, _ state: State, for rendition: Rendition) async {
        let measure = await PureWork.shared.run(size: 64 * input.files.count, for: rendition) { Measure(input) }
        known[input.id] = Known(state: state, measure: measure)
    }

    /// True if `isComplete` is, which is computed once for each change.
    func isComplete(_ rendition: Rendition, _ wanted: WantedTime, _ isComplete: () -> Bool) -> Bool {
        let (id, state) = (rendition.name.id, state(of: rendition, wanted))
        if let known = whole[id], known.state == state { return known.isComplete }
        let result = isComplete()
        whole[id] = (state, result)
        return result
    }

    private func state(of rendition: Rendition, _ wanted: WantedTime) -> State {
        State(
            playlists: rendition.edition, pieces: rendition.folder.changes &+ rendition.keys.changes, wanted: wanted)
    }
}
