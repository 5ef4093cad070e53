/// Writes a segment of subtitles in fragmented MP4 that shows nothing, in place of one that is not to be had. It has one sample, as long
/// as the segment, in the form in which its format says that there is no cue (ISO/IEC 14496-30).
///
/// hls.js takes a segment without bytes for a failure.
public struct CuelessFragment {
    private let track: Track
    private let sample: [UInt8]
    private let section: InitializationSection

    /// Creates a fragment that belongs to an initialization section; nil if that has no track of cues in a known format.
    public init?(_ section: InitializationSection) {
        for track in section.tracks {
            if let sample = Self.emptySample(of: track) {
                self.track = track
                self.sample = sample
                self.section = section
                return
            }
        }
        return nil
    }

    private static func emptySample(of track: Track) -> [UInt8]? {
        let index = Int(track.defaults.descriptionIndex) - 1
        guard track.sampleEntries.indices.contains(index) else { return nil }
        switch track.sampleEntries[index].type {
        case "wvtt": return Box.header("vtte", size: 8)
        case "stpp": return Array(#"<tt xmlns="http://www.w3.org/ns/ttml" xml:lang=""></tt>"#.utf8)
        // The length of a text of no letters (3GPP TS 26.245 §5.17).
        case "tx3g": return [0, 0]
        default: return nil
        }
    }

    /// Another segment of the same section, by which a segment is timed.
    public struct Neighbour {
        let segment: MediaSegment
        /// The start in the playlist, in seconds.
        let start: Double

        /// Creates a neighbour from a segment and its start in the playlist, in seconds.
        public init(_ segment: MediaSegment, start: Double) {
            self.segment = segment
            self.start = start
        }
    }

    /// Writes the segment.
    /// - Parameters:
    ///   - start: the start in the playlist, in seconds.
    ///   - duration: in seconds.
    ///   - number: counts the fragments; players do not depend on it.
    ///   - neighbour: nil if there is none: then the track begins with the playlist.
    public func segment(start: Double, duration: Double, number: Int, timedAs neighbour: Neighbour?) -> [UInt8] {
        var begin = ticks(start)
        if let neighbour, let known = neighbour.segment.times(of: section).first(where: { $0.trackID == track.id }) {
            begin = Int64(clamping: Int128(known.decodeStart.ticks) + Int128(ticks(start - neighbour.start)))
        }
        let time = UInt64(min(max(begin, 0), Self.most))
        let length = UInt32(clamping: max(ticks(duration), 1))

        var head = fullBox("mfhd", version: 0, flags: 0, [UInt32(truncatingIfNeeded: number)])
        head += Box.header("traf", size: 8 + 16 + 20 + 28)
        // The offset of the data is relative to the fragment.
        head += fullBox("tfhd", version: 0, flags: 0x02_0000, [track.id])
        head += fullBox("tfdt", version: 1, flags: 0, [UInt32(time >> 32), UInt32(truncatingIfNeeded: time)])
        let size = 8 + head.count + 28
        // One sample: the offset of its data, its duration and its length.
        head += fullBox("trun", version: 0, flags: 0x301, [1, UInt32(size + 8), length, UInt32(sample.count)])
        return Box.header("moof", size: size) + head + Box.header("mdat", size: 8 + sample.count) + sample
    }

    private func ticks(_ seconds: Double) -> Int64 {
        let ticks = (seconds * Double(track.timescale)).rounded()
        guard ticks.isFinite else { return 0 }
        return Int64(max(-Double(Self.most), min(ticks, Double(Self.most))))
    }

    /// Ticks beyond any media, which a fragment may state.
    private static let most = Int64.max / 4

    private func fullBox(_ type: FourCC, version: UInt32, flags: UInt32, _ fields: [UInt32]) -> [UInt8] {
        var bytes = Box.header(type, size: 12 + 4 * fields.count)
        bytes.append(integer: version << 24 | flags)
        for field in fields {
            bytes.append(integer: field)
        }
        return bytes
    }
}
