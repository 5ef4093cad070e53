/// When the samples of one track of a segment are decoded and shown.
public struct TrackTimes: Hashable, Sendable {
    /// The track.
    public let trackID: UInt32
    /// The decode time of the first sample, as `tfdt` has it.
    public let decodeStart: MediaTime
    /// When the first picture or sound begins, by the edit list.
    public let start: MediaTime
    /// When the last one ends.
    public let end: MediaTime
    /// The shortest sample: a frame, where the rate is constant.
    public let frame: MediaTime
    /// The number of samples.
    public let count: Int
}

extension MediaSegment {
    /// The times of each track that has samples here, in the order of the initialization section.
    ///
    /// A track whose first fragment has no `tfdt` is left out: its times depend on all segments before.
    public func times(of section: InitializationSection) -> [TrackTimes] {
        section.tracks.compactMap { track in
            var clock: SampleClock?
            for fragment in fragments {
                for part in fragment.tracks where part.header.trackID == track.id {
                    if let time = part.decodeTime { clock = clock?.moved(to: time) ?? SampleClock(time) }
                    let defaults = part.header.defaults(after: track.defaults)
                    for run in part.runs { clock?.take(run, duration: defaults.duration) }
                }
            }
            return clock?.times(of: track)
        }
    }
}

/// Adds up the samples of a track.
private struct SampleClock {
    private let first: UInt64
    private var now: Int64
    private var (start, end, frame, count) = (Int64.max, Int64.min, UInt32.max, 0)

    init(_ time: UInt64) {
        first = time
        now = Int64(time)
    }

    /// The same at the decode time of another fragment.
    func moved(to time: UInt64) -> SampleClock {
        var clock = self
        clock.now = Int64(time)
        return clock
    }

    mutating func take(_ run: TrackRun, duration standing: UInt32) {
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

    /// An edit list may say anything.
    private static func sum(_ time: Int64, _ edit: Int64) -> Int64 {
        Int64(clamping: Int128(time) + Int128(edit))
    }
}
