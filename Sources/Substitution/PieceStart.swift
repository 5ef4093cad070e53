import SegmentFormat

/// The start times of the streams in a piece, by its own clock.
struct PieceStart {
    /// One stream: a track, or the packets with one identifier.
    struct Stream: Equatable {
        let id: UInt32
        let isVideo: Bool
        let start: MediaTime
        /// The ticks after which its clock wraps around; 0 for never.
        let wrap: Int64

        func isAfter(_ other: Stream, by seconds: Double, frame: MediaTime) -> Bool {
            guard start.timescale == other.start.timescale, abs(seconds) < 1e9 else { return false }
            let distance = Int64((seconds * Double(start.timescale)).rounded())
            var difference = start.ticks &- other.start.ticks &- distance
            if wrap > 0 {
                difference %= wrap
                if difference > wrap / 2 {
                    difference -= wrap
                }
                if difference < -wrap / 2 {
                    difference += wrap
                }
            }
            return MediaTime(ticks: difference, timescale: start.timescale)
                .agrees(with: MediaTime(ticks: 0, timescale: start.timescale), frame: frame)
        }
    }

    let streams: [Stream]

    init(_ streams: [Stream]) { self.streams = streams }

    init(_ transport: TransportStream) {
        streams = transport.streams.compactMap { stream in
            stream.firstTime.map {
                Stream(
                    id: UInt32(stream.pid), isVideo: stream.isVideo,
                    start: MediaTime(ticks: Int64($0), timescale: 90_000), wrap: 1 << 33)
            }
        }
    }

    init(_ audio: PackedAudio) {
        let start = MediaTime(ticks: Int64(audio.firstTime), timescale: 90_000)
        streams = [Stream(id: 0, isVideo: false, start: start, wrap: 1 << 33)]
    }

    init(_ segment: MediaSegment, section: InitializationSection) {
        streams = segment.times(of: section).map { times in
            let isVideo = section.track(times.trackID)?.handler == "vide"
            return Stream(id: times.trackID, isVideo: isVideo, start: times.start, wrap: 0)
        }
    }

    /// Maximum duration of common audio frames: audio beside video is divided at its own frames.
    private static let audioFrame = MediaTime(ticks: 100, timescale: 1000)

    /// True if the piece starts `seconds` after another one, to within half a frame; nil if that cannot be decided.
    /// Between different segments only video is compared, if there is any.
    func isAfter(_ other: PieceStart, by seconds: Double, frame: MediaTime) -> Bool? {
        let hasVideo = streams.contains(where: \.isVideo)
        let compared = streams.filter { seconds == 0 || !hasVideo || $0.isVideo }
        var found: Bool?
        for stream in compared {
            guard let match = other.streams.first(where: { $0.id == stream.id }) else { continue }
            let frame = hasVideo && !stream.isVideo ? Self.audioFrame : frame
            guard stream.isAfter(match, by: seconds, frame: frame) else { return false }
            found = true
        }
        return found
    }
}
