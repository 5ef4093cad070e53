/// The addresses of names as they were last found. Pure.
///
/// An old answer is used while the name is looked up again, so that a slow resolver delays only the first request; and it
/// is used if the resolver does not answer. Once a connection to its addresses has failed, the name is looked up first:
/// an origin that moves changes its addresses.
struct NameCache {
    /// The result of a lookup.
    enum Answer: Equatable, Sendable {
        /// With the port 0, in the system's order. Empty if only libcurl can use them: addresses with a zone.
        case addresses([SocketAddress])
        /// The name has no address, in words for the user.
        case none(String)
        /// The resolver did not answer, in words for the user.
        case failed(String)
    }

    /// The next step for a request.
    enum Finding: Equatable {
        /// Use the answer.
        case known(Answer)
        /// Use the answer, and look the name up again.
        case old(Answer)
        /// Wait for a lookup.
        case unknown
    }

    private struct Entry {
        var answer: Answer
        var time: ContinuousClock.Instant
        /// True if a connection failed since.
        var isDoubted = false
    }

    /// How long addresses are used without a new lookup.
    static let freshLife = Duration.seconds(60)
    /// How long addresses are used while the name is looked up again.
    static let oldLife = Duration.seconds(3600)
    /// How long it is remembered that a name has no address.
    static let failureLife = Duration.seconds(1)
    /// The time after a lookup in which a failed connection does not cause another one.
    static let doubtPause = Duration.seconds(5)
    /// The time for a lookup of a name whose former addresses are known; then these are used.
    static let renewalLimit = Duration.seconds(1)
    private static let maximumCount = 1000
    private var entries: [String: Entry] = [:]

    func find(_ name: String, now: ContinuousClock.Instant) -> Finding {
        guard let entry = entries[name] else { return .unknown }
        let age = now - entry.time
        guard case .addresses = entry.answer else {
            guard age < Self.failureLife else { return .unknown }
            return .known(entry.answer)
        }
        if entry.isDoubted || age >= Self.oldLife {
            return .unknown
        }
        guard age < Self.freshLife else { return .old(entry.answer) }
        return .known(entry.answer)
    }

    /// The addresses that were found last, however old; nil if there are none.
    func formerAddresses(of name: String) -> [SocketAddress]? {
        if case .addresses(let addresses)? = entries[name]?.answer {
            addresses
        } else {
            nil
        }
    }

    /// Records the result of a lookup, and returns the answer for those that wait for it.
    mutating func record(_ answer: Answer, for name: String, now: ContinuousClock.Instant) -> Answer {
        var answer = answer
        if case .failed = answer, let known = entries[name], case .addresses = known.answer {
            answer = known.answer
        }
        if entries.count >= Self.maximumCount {
            entries = entries.filter { now - $0.value.time < Self.freshLife }
            if entries.count >= Self.maximumCount {
                entries = [:]
            }
        }
        entries[name] = Entry(answer: answer, time: now)
        return answer
    }

    /// Records that a connection to the name's addresses failed.
    mutating func recordFailure(of name: String, now: ContinuousClock.Instant) {
        guard let entry = entries[name], now - entry.time >= Self.doubtPause else { return }
        entries[name]?.isDoubted = true
    }
}
