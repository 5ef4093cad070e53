/// A film of segments of one duration, in qualities of constant bit rate.
struct TracedFilm: Sendable {
    /// In seconds.
    let duration: Double
    /// A segment's bytes, the lowest quality first.
    let sizes: [Int64]
    let count: Int
}

/// A segment on its way.
struct TracedTransfer {
    var place: Int
    /// Seconds since it was asked for, and from then to its first byte.
    var elapsed = 0.0
    var answer: Double
    /// Received and expected bytes.
    var bytes = 0.0
    var size: Double
}

/// Chooses the variants of a traced playback.
protocol TracedRule {
    /// The place of the quality for the next segment, with so much media ahead.
    mutating func choose(buffer: Double) -> Int
    /// The place of another quality to give this one up for; nil to go on. Asked ten times a second.
    mutating func instead(of transfer: TracedTransfer, buffer: Double) -> Int?
    /// A segment has come.
    mutating func took(_ transfer: TracedTransfer)
}

/// The result of a playback.
struct TracedPlayback {
    var stalls = 0
    /// In seconds.
    var stalled = 0.0
    /// The places of the qualities.
    var choices: [Int] = []
    var givenUp = 0

    /// Total bytes of the played segments.
    func bytes(of film: TracedFilm) -> Double { choices.reduce(0) { $0 + Double(film.sizes[$1]) } }

    /// One segment after the other, with at most so much media ahead, from the first one's end on.
    init(of film: TracedFilm, over trace: LinkTrace, ahead: Double, by rule: inout some TracedRule) {
        var (time, begun) = (0.0, Double?.none)
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

    /// Fetches a segment; or until it is given up for another quality, which is returned.
    private static func transfer(
        of film: TracedFilm, _ place: Int, over trace: LinkTrace, at time: inout Double, _ rule: inout some TracedRule,
        _ buffer: (Double) -> Double
    ) -> Int? {
        let (asked, size) = (time, Double(film.sizes[place]))
        let (first, end) = (trace.answer(to: asked), trace.end(of: size, askedAt: asked))
        var transfer = TracedTransfer(place: place, answer: first - asked, size: size)
        for tick in 1... {
            time = asked + Double(tick) / 10
            guard time < end else { break }
            transfer.elapsed = time - asked
            transfer.bytes = time > first ? min(size, trace.bytes(from: first, until: time)) : 0
            if let other = rule.instead(of: transfer, buffer: buffer(time)) { return other }
        }
        time = end
        (transfer.elapsed, transfer.bytes) = (end - asked, size)
        rule.took(transfer)
        return nil
    }
}

extension TracedPlayback {
    /// The most bytes that can be played without a stall by one who knows the trace; nil where that cannot be.
    static func most(of film: TracedFilm, over trace: LinkTrace, ahead: Double) -> Double? {
        film.sizes.compactMap { first in
            let begun = trace.end(of: Double(first), askedAt: 0)
            // Of all ways to get so far, those that are the earliest for what they bring.
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
