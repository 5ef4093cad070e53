import API

extension API.Download {
    /// Its state in a word or a few: `waiting for space`.
    var stateWords: String { Self.words(state, need) }

    /// A state in a word or a few.
    static func words(_ state: State, _ need: Need?) -> String {
        switch state {
        case .queued: "queued"
        case .running: "downloading"
        case .paused: "paused"
        case .waiting:
            switch need {
            case .network: "waiting for the network"
            case .space: "waiting for space"
            case .key: "waiting for a key"
            case .disk: "waiting for its disk"
            case nil: "waiting"
            }
        case .failed: "failed"
        case .complete: "complete"
        case .cancelled: "cancelled"
        }
    }

    /// `only 10:00-20:04`: the time that is wanted, where that is not all.
    var rangeWords: String? {
        guard let duration, !expected.isEmpty, let wanted = expectedDuration, wanted < duration - 0.5 else {
            return nil
        }
        return "only " + expected.map { "\(Format.clock($0.start))-\(Format.clock($0.end))" }.joined(separator: ", ")
    }
}
