/// A film of segments of one duration, in qualities of constant bit rate.
struct TracedFilm: Sendable {
    /// Duration of a segment in seconds.
    let duration: Double
    /// Bytes of a segment in each quality, the lowest quality first.
    let sizes: [Int64]
    let count: Int
}

/// A segment that is being fetched.
struct TracedTransfer {
    var place: Int
    /// Seconds since the request, and from the request to the first byte.
    var elapsed = 0.0
    var answer: Double
    /// Received and expected bytes.
    var bytes = 0.0
    var size: Double
}

/// Chooses the variants of a traced playback.
protocol TracedRule {
    /// The index of the quality for the next segment, with `buffer` seconds of media ahead.
    mutating func choose(buffer: Double) -> Int
    /// The index of the quality that replaces the current transfer; nil to continue. Called ten times a second.
    mutating func instead(of transfer: TracedTransfer, buffer: Double) -> Int?
    /// Called when a segment has arrived.
    mutating func took(_ transfer: TracedTransfer)
}

/// The result of a playback.
struct TracedPlayback {
    var stalls = 0
    /// Seconds.
    var stalled = 0.0
    /// The indices of the chosen qualities.
    var choices: [Int] = []
    var givenUp = 0

    /// Total bytes of the played segments.
    func bytes(of film: TracedFilm) -> Double { choices.reduce(0) { $0 + Double(film.sizes[$1]) } }

    /// Plays one segment after the other, with at most `ahead` seconds of media ahead. Playback starts when the first
    /// segment has arrived.
    init(of film: TracedFilm, over trace: LinkTrace, ahead: Double, by rule: inout some TracedRule) {
        var time = 0.0
        var begun = Double?.none
        for index in 0..<film.count {
            let front = Double(index) * film.duration
            func buffer(_ now: Double) -> Double { begun.map { max(0, front - (now - $0 - stalled)) } ?? 0 }
            time += max(0, buffer(time) - ahead)
            var place = rule.choose(buffer: buffer(time))
            while let other = Self.transfer(of: film, place, over: trace, at: &time, &rule, buffer) {
                place = other
                givenUp += 1
            }
            choices.append(place)
            if let begun, time - begun - stalled > front + 0.001 {
                stalls += 1
                stalled = time - begun - front
            }
            begun = begun ?? time
        }
    }

    /// Fetches a segment. Returns the index of another quality if the rule abandons the transfer for it.
    private static func transfer(
        of film: TracedFilm, _ place: Int, over trace: LinkTrace, at time: inout Double, _ rule: inout some TracedRule,
        _ buffer: (Double) -> Double
    ) -> Int? {
        let asked = time
        let size = Double(film.sizes[place])
        let first = trace.answer(to: asked)
        let end = trace.end(of: size, askedAt: asked)
        var transfer = TracedTransfer(place: place, answer: first - asked, size: size)
        for tick in 1... {
            time = asked + Double(tick) / 10
            guard time < end else { break }
            transfer.elapsed = time - asked
            transfer.bytes = time > first ? min(size, trace.bytes(from: first, until: time)) : 0
            if let other = rule.instead(of: transfer, buffer: buffer(time)) {
                return other
            }
        }
        time = end
        transfer.elapsed = end - asked
        transfer.bytes = size
        rule.took(transfer)
        return nil
    }
}

extension TracedPlayback {
    /// The maximum of bytes that can be played without a stall if the trace is known in advance; nil if every choice
    /// stalls.
    static func most(of film: TracedFilm, over trace: LinkTrace, ahead: Double) -> Double? {
        film.sizes.compactMap { first in
            let begun = trace.end(of: Double(first), askedAt: 0)
            // The Pareto-optimal ways to reach this segment: a later end must bring more bytes.
            var ways = [(end: begun, bytes: first)]
            for index in 1..<film.count {
                let due = begun + Double(index) * film.duration
                let next = ways.flatMap { way in
                    film.sizes.map { size in
                        let end = trace.end(of: Double(size), askedAt: max(way.end, due - ahead))
                        return (end: end, bytes: way.bytes + size)
                    }
                }
                ways = []
                for way in next.filter({ $0.end <= due }).sorted(by: { ($0.end, -$0.bytes) < ($1.end, -$1.bytes) })
                where way.bytes > ways.last?.bytes ?? 0 { ways.append(way) }
            }
            return ways.last.map { Double($0.bytes) }
        }.max()
    }
}
