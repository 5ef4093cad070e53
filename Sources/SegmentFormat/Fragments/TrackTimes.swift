/// Decode and presentation times of one track of a segment.
public struct TrackTimes: Hashable, Sendable {
    /// Id of the track.
    public let trackID: UInt32
    /// Decode time of the first sample (`tfdt`).
    public let decodeStart: MediaTime
    /// Start of the first sample's presentation, with the edit list applied.
    public let start: MediaTime
    /// End of the last sample's presentation.
    public let end: MediaTime
    /// Duration of the shortest sample; at a constant rate, of each frame.
    public let frame: MediaTime
    let count: Int
}

extension MediaSegment {
    /// The times of each track that has samples, in the order of the initialization section.
    ///
    /// Omits a track whose first fragment has no `tfdt`: its times depend on all previous segments.
    public func times(of section: InitializationSection) -> [TrackTimes] {
        section.tracks.compactMap { track in
            var clock: SampleClock?
            for fragment in fragments {
                for part in fragment.tracks where part.header.trackID == track.id {
                    if let time = part.decodeTime {
                        clock = clock ?? SampleClock(time)
                        clock?.now = Int64(time)
                    }
                    let defaults = part.header.defaults(after: track.defaults)
                    for run in part.runs {
                        clock?.add(run, duration: defaults.duration)
                    }
                }
            }
            return clock?.times(of: track)
        }
    }
}

private struct SampleClock {
    private let first: UInt64
    var now: Int64
    private var start = Int64.max
    private var end = Int64.min
    private var frame = UInt32.max
    private var count = 0

    init(_ time: UInt64) {
        first = time
        now = Int64(time)
    }

    mutating func add(_ run: TrackRun, duration standing: UInt32) {
        for sample in 0..<run.count {
            let duration = run.value(.duration, of: sample) ?? standing
            let shown = now + run.compositionOffset(of: sample)
            start = min(start, shown)
            end = max(end, shown + Int64(duration))
            frame = min(frame, duration)
            now += Int64(duration)
        }
        count += run.count
    }

    func times(of track: Track) -> TrackTimes? {
        guard count > 0 else { return nil }
        let edit = track.edit.ticks(timescale: track.timescale)
        func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timescale: track.timescale) }
        return TrackTimes(
            trackID: track.id, decodeStart: time(Int64(first)), start: time(Self.sum(start, edit)),
            end: time(Self.sum(end, edit)), frame: time(Int64(frame)), count: count)
    }

    /// Adds without overflow: edit lists are untrusted.
    private static func sum(_ time: Int64, _ edit: Int64) -> Int64 { Int64(clamping: Int128(time) + Int128(edit)) }
}

/// A timestamp or a duration in ticks of a timescale. Times of different timescales are compared exactly.
public struct MediaTime: Hashable, Sendable, CustomStringConvertible {
    /// Number of ticks; may be negative.
    public var ticks: Int64
    /// Ticks per second, at least 1.
    public let timescale: UInt32

    /// Creates a time; a timescale of 0 becomes 1.
    public init(ticks: Int64, timescale: UInt32) {
        self.ticks = ticks
        self.timescale = max(1, timescale)
    }

    /// Rounded value for logs. Do not base decisions on it.
    public var seconds: Double { Double(ticks) / Double(timescale) }
    /// Ticks and timescale, as in `1024/10240 s`.
    public var description: String { "\(ticks)/\(timescale) s" }

    /// True if two timestamps differ by at most half a frame, the tolerance between segments of one timeline.
    public func agrees(with other: MediaTime, frame: MediaTime) -> Bool {
        // Compared over the product of the three timescales, which fits 128 bits.
        let mine = Int128(timescale)
        let its = Int128(other.timescale)
        let frames = Int128(frame.timescale)
        let difference = (Int128(ticks) * its - Int128(other.ticks) * mine).magnitude
        let (whole, overflow) = difference.multipliedReportingOverflow(by: UInt128(2 * frames))
        guard !overflow, frame.ticks >= 0 else { return false }
        return whole <= UInt128(frame.ticks) * UInt128(mine * its)
    }
}
