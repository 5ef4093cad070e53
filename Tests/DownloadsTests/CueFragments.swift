/// Subtitles in fragmented MP4, as little of them as a test needs: a section of one track with 1,000 ticks a second, and segments of it.
enum CueFragments {
    static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let body = parts.joined()
        return number(UInt32(8 + body.count)) + Array(type.utf8) + body
    }

    static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        let bytes = value.bigEndian
        return withUnsafeBytes(of: bytes) { Array($0) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// An initialization section of a format: `wvtt` or `stpp`.
    static func section(_ format: String) -> [UInt8] {
        let entry = box(format, zeros(6), number(UInt16(1)), box("vttC", Array("WEBVTT".utf8)))
        let table = box("stbl", box("stsd", zeros(4), number(UInt32(1)), entry))
        let clock = zeros(12) + number(UInt32(1000))
        let media = box(
            "mdia", box("mdhd", clock, zeros(8)), box("hdlr", zeros(8), Array("text".utf8), zeros(13)),
            box("minf", table))
        let track = box("trak", box("tkhd", zeros(12), number(UInt32(1)), zeros(8 + 60)), media)
        let extends = box(
            "mvex", box("trex", zeros(4), number(UInt32(1)), number(UInt32(1)), zeros(12)))
        let movie = box("moov", box("mvhd", clock, zeros(84)), track, extends)
        return box("ftyp", Array("iso6".utf8), zeros(4)) + movie
    }

    /// A segment of one sample.
    /// - Parameters:
    ///   - time: the decode time, in ticks.
    ///   - duration: in ticks.
    static func segment(at time: UInt64, duration: UInt32, _ sample: [UInt8]) -> [UInt8] {
        // Offsets count from the fragment.
        let file = box("tfhd", number(UInt32(0x02_0000)), number(UInt32(1)))
        let start = box("tfdt", number(UInt32(1 << 24)), number(time))
        let fields: [UInt32] = [0x301, 1, 96 + 8, duration, UInt32(sample.count)]
        let run = box("trun", fields.flatMap { number($0) })
        let fragment = box("moof", box("mfhd", zeros(4), number(UInt32(1))), box("traf", file, start, run))
        return fragment + box("mdat", sample)
    }

    /// The bytes of a segment that shows a text.
    static func cue(_ text: String) -> [UInt8] { box("vttc", box("payl", Array(text.utf8))) }
}
