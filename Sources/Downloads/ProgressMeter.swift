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

    private struct Key: Hashable {
        let rendition: String
        let wanted: WantedTime
    }

    private var known: [Key: Known] = [:]
    private var running: Set<Key> = []
    private var whole: [Key: (state: State, isComplete: Bool)] = [:]
    /// A playlist of at most this many segments is measured at once.
    private static let small = 10_000

    func measure(of rendition: Rendition, _ wanted: WantedTime, bitRate: AnnouncedRate) -> Measure {
        let key = Key(rendition: rendition.name.id, wanted: wanted)
        let state = state(of: rendition)
        if let known = known[key], known.state == state {
            return known.measure
        }
        guard let input = Measure.Input(rendition, wanted, bitRate: bitRate) else {
            return Measure(unknown: rendition.name.id, kind: rendition.kind)
        }
        guard input.files.count > Self.small else {
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

    /// Measures a long playlist on a worker, and returns then.
    func prepare(_ rendition: Rendition, _ wanted: WantedTime, bitRate: AnnouncedRate) async {
        let state = state(of: rendition)
        guard known[Key(rendition: rendition.name.id, wanted: wanted)]?.state != state,
            let input = Measure.Input(rendition, wanted, bitRate: bitRate), input.files.count > Self.small
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

    /// True if `isComplete` is, which is computed once for each change.
    func isComplete(_ rendition: Rendition, _ wanted: WantedTime, _ isComplete: () -> Bool) -> Bool {
        let key = Key(rendition: rendition.name.id, wanted: wanted)
        let state = state(of: rendition)
        if let known = whole[key], known.state == state {
            return known.isComplete
        }
        let result = isComplete()
        whole[key] = (state, result)
        return result
    }

    private func state(of rendition: Rendition) -> State {
        State(playlists: rendition.edition, pieces: rendition.folder.changes &+ rendition.keys.changes)
    }
}
