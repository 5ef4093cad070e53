import Glibc

@testable import Playback

/// Weir's own rule, called in the same order as by `SessionLink` and `AdaptiveFetch`.
struct OwnTracedRule: TracedRule {
    private let film: TracedFilm
    private let playerTimeout: Double
    private var estimate = ThroughputEstimate()
    private var current: Int?
    /// The counted bytes of the current transfer, and the time of the count.
    private var counted: (bytes: Double, at: Double) = (0, 0)
    /// The time spent on abandoned transfers of the current segment.
    private var waited = 0.0

    /// - Parameter playerTimeout: the player's timeout for the first byte, in seconds.
    init(for film: TracedFilm, playerTimeout: Double) { (self.film, self.playerTimeout) = (film, playerTimeout) }

    mutating func choose(buffer: Double) -> Int {
        waited = 0
        return choose(buffer: buffer, below: film.sizes.count)
    }

    private mutating func choose(buffer: Double, below ceiling: Int) -> Int {
        counted = (0, 0)
        let moment = AdaptationRule.Moment(
            duration: film.duration, buffer: buffer, playerTimeout: max(0, playerTimeout - waited),
            throughput: estimate.rate,
            current: current)
        let options = film.sizes.prefix(ceiling).map { AdaptationRule.Option(bytes: $0, isStored: false) }
        return AdaptationRule.choice(of: options, at: moment)
    }

    mutating func instead(of transfer: TracedTransfer, buffer: Double) -> Int? {
        guard Int((transfer.elapsed * 10).rounded()).isMultiple(of: 5) else { return nil }
        count(transfer)
        guard transfer.place > 0, transfer.elapsed >= film.duration / 2 else { return nil }
        let throughput = max(1, transfer.bytes) / transfer.elapsed
        let isHopeless = AdaptationRule.isHopeless(
            remaining: Int64(transfer.size - transfer.bytes), instead: film.sizes[0],
            buffer: min(buffer, max(0, playerTimeout - waited - transfer.elapsed)),
            throughput: min(throughput, estimate.recentRate ?? throughput))
        guard isHopeless else { return nil }
        waited += transfer.elapsed
        return choose(buffer: buffer, below: transfer.place)
    }

    mutating func took(_ transfer: TracedTransfer) {
        count(transfer)
        current = transfer.place
    }

    private mutating func count(_ transfer: TracedTransfer) {
        let bytes = Int64(transfer.bytes - counted.bytes)
        guard bytes > 0 else { return }
        estimate.add(bytes, over: transfer.elapsed - counted.at)
        counted = (transfer.bytes, transfer.elapsed)
    }
}

/// The rule of hls.js 1.6 with its defaults: AbrController with its abandon rule, and EwmaBandWidthEstimator.
///
/// It chooses the best level whose fetch takes less time than the buffer lasts. It uses 95 % of the estimate for the
/// current level and lower ones, and 70 % for higher ones. If the buffer allows no level, it accepts up to 4 s of
/// starvation. With less than two segments ahead, a transfer that will come too late is abandoned after half its time.
struct HLSJSTracedRule: TracedRule {
    private struct Average {
        let halfLife: Double
        private var sum = 0.0
        private var weight = 0.0

        init(halfLife: Double) { self.halfLife = halfLife }

        mutating func add(_ value: Double, weighing more: Double) {
            let old = pow(0.5, more / halfLife)
            sum = value * (1 - old) + sum * old
            weight = weight + more
        }

        var value: Double? { weight > 0 ? sum / (1 - pow(0.5, weight / halfLife)) : nil }
    }

    private let film: TracedFilm
    private var fast = Average(halfLife: 3)
    private var slow = Average(halfLife: 9)
    private var answers = Average(halfLife: 9)
    private var last = 0

    init(for film: TracedFilm) { self.film = film }

    private var rate: Double { min(fast.value ?? 62_500, slow.value ?? 62_500) }
    private var answer: Double { answers.value ?? 0.1 }

    mutating func choose(buffer: Double) -> Int {
        guard fast.value != nil else { return 0 }
        return best(within: buffer) ?? best(within: buffer + min(film.duration, 4)) ?? 0
    }

    private func best(within limit: Double) -> Int? {
        film.sizes.indices.last { place in
            let rate = rate * (place <= last ? 0.95 : 0.7)
            let size = Double(film.sizes[place])
            return size / film.duration <= rate && answer + size / rate < limit
        }
    }

    mutating func instead(of transfer: TracedTransfer, buffer: Double) -> Int? {
        guard transfer.place > 0, transfer.elapsed > max(answer, film.duration / 2), buffer < 2 * film.duration else {
            return nil
        }
        var streaming = transfer.elapsed - transfer.answer
        if transfer.bytes > 0, streaming < 1 {
            streaming = min(transfer.elapsed, transfer.bytes / rate)
        }
        let measured = transfer.bytes > 0 ? transfer.bytes / streaming : nil
        let left = measured.map { (transfer.size - transfer.bytes) / $0 } ?? (transfer.size / rate + answer)
        guard left > buffer else { return nil }
        func time(_ place: Int) -> Double { answer + Double(film.sizes[place]) / (measured ?? rate) }
        let other = (0..<transfer.place).last { time($0) < min(buffer, film.duration + answer) } ?? 0
        guard time(other) < left, time(other) <= 10 * film.duration else { return nil }
        if measured == nil {
            answered(transfer.elapsed)
        } else {
            sample(transfer)
        }
        last = other
        return other
    }

    mutating func took(_ transfer: TracedTransfer) {
        answered(transfer.answer)
        sample(transfer)
        last = transfer.place
    }

    private mutating func sample(_ transfer: TracedTransfer) {
        let seconds = max(0.05, transfer.elapsed - min(answer, transfer.answer))
        fast.add(transfer.bytes / seconds, weighing: seconds)
        slow.add(transfer.bytes / seconds, weighing: seconds)
    }

    private mutating func answered(_ seconds: Double) {
        answers.add(max(seconds, 0.005), weighing: sqrt(2) * exp(-seconds * seconds / 2))
    }
}
