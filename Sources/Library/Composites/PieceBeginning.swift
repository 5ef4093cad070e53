import SegmentFormat

/// When the streams of a piece begin, by the clock that is in it.
struct PieceBeginning {
    /// One stream: a track, or what has a packet identifier of its own.
    struct Stream: Equatable {
        let id: UInt32
        let isVideo: Bool
        let start: MediaTime
        /// The ticks after which its clock begins anew; 0 for never.
        let wrap: Int64
    }

    /// Those that have a time.
    let streams: [Stream]

    /// Of these times.
    init(_ streams: [Stream]) { self.streams = streams }

    /// Of a transport stream.
    init(_ transport: TransportStream) {
        streams = transport.streams.compactMap { stream in
            stream.firstTime.map {
                Stream(
                    id: UInt32(stream.pid), isVideo: stream.isVideo,
                    start: MediaTime(ticks: Int64($0), timescale: 90_000), wrap: 1 << 33)
            }
        }
    }

    /// Of packed audio.
    init(_ audio: PackedAudio) {
        let start = MediaTime(ticks: Int64(audio.firstTime), timescale: 90_000)
        streams = [Stream(id: 0, isVideo: false, start: start, wrap: 1 << 33)]
    }

    /// Of a fragmented MP4.
    init(_ segment: MediaSegment, section: InitializationSection) {
        streams = segment.times(of: section).map { times in
            let isVideo = section.track(times.trackID)?.handler == "vide"
            return Stream(id: times.trackID, isVideo: isVideo, start: times.start, wrap: 0)
        }
    }

    /// Sound beside pictures is divided between frames of its own, the longest of which that are common last so long.
    private static let soundFrame = MediaTime(ticks: 100, timescale: 1000)

    /// Whether it begins when another piece does, or so much later, to half of a frame; nil where nothing tells.
    ///
    /// Between different segments only pictures are compared, where there are any.
    func begins(_ seconds: Double, after other: PieceBeginning, frame: MediaTime) -> Bool? {
        let hasVideo = streams.contains(where: \.isVideo)
        let compared = streams.filter { seconds == 0 || !hasVideo || $0.isVideo }
        var found: Bool?
        for stream in compared {
            guard let its = other.streams.first(where: { $0.id == stream.id }) else { continue }
            let frame = hasVideo && !stream.isVideo ? Self.soundFrame : frame
            guard stream.begins(seconds, after: its, frame: frame) else { return false }
            found = true
        }
        return found
    }
}

extension PieceBeginning.Stream {
    fileprivate func begins(_ seconds: Double, after other: PieceBeginning.Stream, frame: MediaTime) -> Bool {
        guard start.timescale == other.start.timescale, abs(seconds) < 1e9 else { return false }
        let distance = Int64((seconds * Double(start.timescale)).rounded())
        var difference = start.ticks &- other.start.ticks &- distance
        if wrap > 0 {
            difference %= wrap
            if difference > wrap / 2 { difference -= wrap }
            if difference < -wrap / 2 { difference += wrap }
        }
        return MediaTime(ticks: difference, timescale: start.timescale)
            .agrees(with: MediaTime(ticks: 0, timescale: start.timescale), frame: frame)
    }
}
