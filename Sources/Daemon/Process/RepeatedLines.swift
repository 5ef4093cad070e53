/// Counts equal lines of a log instead of writing each of them: a fault that goes on for a night says so once a minute. Pure.
struct RepeatedLines {
    private struct Known {
        let since: Double
        var repeats = 0
    }

    private var known: [String: Known] = [:]
    /// For this time, in seconds, a line that was written is only counted.
    static let span = 60.0
    /// The most lines that are compared with.
    private static let most = 64

    /// Returns what is to be written for a line at a time, in seconds: counts of earlier lines, and the line itself unless it is
    /// only counted.
    mutating func add(_ line: String, at now: Double) -> [String] {
        var written = counts { now - $0 >= Self.span || now < $0 }
        if known[line] != nil {
            known[line]?.repeats += 1
        } else {
            if known.count < Self.most {
                known[line] = Known(since: now)
            }
            written.append(line)
        }
        return written
    }

    /// Returns the counts that were not written yet, for the end of the process.
    mutating func end() -> [String] { counts { _ in true } }

    /// Forgets the lines that were written at a time that is over, and returns the counts of those that came again.
    private mutating func counts(where isOver: (Double) -> Bool) -> [String] {
        let over = known.filter { isOver($0.value.since) }
        for line in over.keys {
            known[line] = nil
        }
        return over.filter { $0.value.repeats > 0 }.map { "\($0.key) (\($0.value.repeats) more times)" }.sorted()
    }
}
