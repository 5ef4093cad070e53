import Testing

@testable import SegmentFormat

/// Builds a box.
func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
    let body = parts.joined()
    return number(UInt32(8 + body.count)) + Array(type.utf8) + body
}

/// Builds a full box.
func fullBox(_ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ parts: [UInt8]...) -> [UInt8] {
    box(type, number(UInt32(version) << 24 | flags), Array(parts.joined()))
}

/// Encodes a big-endian integer.
func number(_ value: some FixedWidthInteger) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: value)
    return bytes
}

func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// A configurable initialization section with video track 1 and optional audio track 2.
struct HandMadeSection {
    var timescale: UInt32 = 1000
    var handler = "vide"
    var format = "avc1"
    var dimensions: [UInt16] = [160, 90]
    var configuration = HandMadeSection.avc([[0x67, 1, 2]], [[0x68, 3]])
    /// Additional boxes in the video's sample entry.
    var entryBoxes: [UInt8] = []
    var edits: [(duration: UInt32, time: Int32)] = []
    var defaults: [UInt32] = [1, 0, 0, 0]
    var sound: [UInt8]?

    /// An `avcC` with lengths of four bytes.
    static func avc(_ sequence: [[UInt8]], _ picture: [[UInt8]], lengthSize: UInt8 = 4) -> [UInt8] {
        func list(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { number(UInt16($0.count)) + $0 } }
        return box(
            "avcC", [1, 66, 0, 30, 0xFC | (lengthSize - 1), 0xE0 | UInt8(sequence.count)], list(sequence),
            [UInt8(picture.count)], list(picture))
    }

    /// An `mp4a` entry with these bit rates.
    static func sound(rate: UInt32, channels: UInt8 = 2) -> [UInt8] {
        let specific: [UInt8] = [5, 2, 0x11, 0x90]
        let decoder: [UInt8] = [4, 17, 0x40, 0x15, 0, 0, 0] + number(rate) + number(rate) + specific
        let stream: [UInt8] = [3, UInt8(3 + decoder.count), 0, 2, 0] + decoder
        return box(
            "mp4a", zeros(6), number(UInt16(1)), zeros(8), [0, channels, 0, 16], zeros(4), number(UInt32(48_000 << 16)),
            fullBox("esds", stream), box("btrt", zeros(8)))
    }

    var bytes: [UInt8] {
        var movie = fullBox("mvhd", zeros(8), number(UInt32(1000)), zeros(84))
        movie += track(1, handler, videoEntry, size: dimensions)
        if let sound {
            movie += track(2, "soun", sound, size: [0, 0])
        }
        var extends: [UInt8] = []
        for id in 1...(sound == nil ? 1 : 2) {
            extends += fullBox("trex", number(UInt32(id)), Array(defaults.map { number($0) }.joined()))
        }
        return box("ftyp", Array("iso6".utf8), zeros(4)) + box("moov", movie, box("mvex", extends), box("udta"))
    }

    var section: InitializationSection { get throws { try InitializationSection(bytes) } }

    private var videoEntry: [UInt8] {
        box(
            format, zeros(6), number(UInt16(1)), zeros(16), number(dimensions[0]), number(dimensions[1]), zeros(50),
            configuration, entryBoxes)
    }

    private func track(_ id: UInt32, _ handler: String, _ entry: [UInt8], size: [UInt16]) -> [UInt8] {
        let sizes = size.map { number(UInt32($0) << 16) }.joined()
        let list = edits.flatMap { number($0.duration) + number($0.time) + number(UInt32(0x1_0000)) }
        return box(
            "trak", fullBox("tkhd", zeros(8), number(id), zeros(8 + 52), Array(sizes)),
            edits.isEmpty ? [] : box("edts", fullBox("elst", number(UInt32(edits.count)), list)),
            box(
                "mdia", fullBox("mdhd", zeros(8), number(timescale), zeros(8)),
                fullBox("hdlr", zeros(4), Array(handler.utf8), zeros(12), Array("a name\0".utf8)),
                box("minf", box("stbl", fullBox("stsd", number(UInt32(1)), entry)))))
    }
}

/// A configurable segment of one fragment: `mdat` holds the samples of track 1, then those of track 2.
struct HandMadeSegment {
    /// The video's samples: NAL units with lengths of four bytes.
    var pictures: [[UInt8]] = [HandMadeSegment.unit([0x65, 1, 2, 3]), HandMadeSegment.unit([0x41, 4])]
    var sounds: [[UInt8]] = []
    /// True if data offsets are relative to the fragment; else the `tfhd` has an absolute base.
    var countsFromFragment = true
    /// The box that holds the sample sizes: `trun`, or for equal sizes `tfhd` or `trex`.
    var sizes: Sizes = .ofEach
    var hasLongMediaData = false
    var before: [UInt8] = box("styp", Array("msdh".utf8), zeros(4)) + fullBox("sidx", zeros(40))
    var inVideoFragment: [UInt8] = []

    enum Sizes { case ofEach, ofFragment, ofTrack }

    /// A NAL unit after its length field.
    static func unit(_ bytes: [UInt8]) -> [UInt8] { number(UInt32(bytes.count)) + bytes }

    var bytes: [UInt8] {
        // Offsets do not change sizes.
        let size = fragment(at: 0).count
        let head = hasLongMediaData ? 16 : 8
        let media = (pictures + sounds).joined()
        let header =
            hasLongMediaData
            ? number(UInt32(1)) + Array("mdat".utf8) + number(UInt64(16 + media.count))
            : number(UInt32(8 + media.count)) + Array("mdat".utf8)
        return before + fragment(at: size + head) + header + media
    }

    private func fragment(at data: Int) -> [UInt8] {
        var tracks = track(1, pictures, at: data, inVideoFragment)
        if !sounds.isEmpty {
            tracks += track(2, sounds, at: data + pictures.joined().count, [])
        }
        return box("moof", fullBox("mfhd", number(UInt32(1))), tracks)
    }

    private func track(_ id: UInt32, _ samples: [[UInt8]], at data: Int, _ more: [UInt8]) -> [UInt8] {
        let base = countsFromFragment ? [] : number(UInt64(before.count))
        let flags = (countsFromFragment ? 0x2_0000 : UInt32(1)) | 0x08 | (sizes == .ofFragment ? 0x10 : 0)
        let common = sizes == .ofFragment ? number(UInt32(samples[0].count)) : []
        let each = sizes == .ofEach ? samples.flatMap { number(UInt32($0.count)) } : []
        return box(
            "traf", fullBox("tfhd", flags: flags, number(id), base, number(UInt32(100)), common),
            fullBox("tfdt", version: 1, number(UInt64(5000))),
            fullBox(
                "trun", flags: sizes == .ofEach ? 0x201 : 0x001, number(UInt32(samples.count)), number(UInt32(data)),
                each),
            more)
    }
}

/// The samples of each track, located by the boxes of a segment.
func samples(of segment: [UInt8], _ section: InitializationSection) throws -> [UInt32: [[UInt8]]] {
    let read = try MediaSegment(ByteSource(segment))
    var found: [UInt32: [[UInt8]]] = [:]
    for run in try SampleLayout(of: read, tracks: section).runs {
        let part = read.fragments[run.fragment].tracks[run.track]
        let track = try #require(section.track(part.header.trackID))
        var position = run.range.lowerBound
        for sample in 0..<part.runs[run.run].count {
            let standing = part.header.defaults(after: track.defaults).size
            let size = Int(part.runs[run.run].value(.size, of: sample) ?? standing)
            found[track.id, default: []].append(Array(segment[position..<(position + size)]))
            position += size
        }
    }
    return found
}

extension Box {
    /// Parses the top-level boxes of a file in memory, in order. They cover all bytes without a gap.
    static func topLevel(of bytes: [UInt8]) throws(SegmentFormatError) -> [Box] {
        try boxes(of: bytes, in: 0..<bytes.count, file: nil)
    }

    /// Parses the child boxes, in order, after skipping some bytes of the payload (4 in a full box). `bytes` must be
    /// the file that this box was parsed from.
    func children(in bytes: [UInt8], skipping: Int = 0) throws(SegmentFormatError) -> [Box] {
        guard skipping <= payload.count else { throw error(.truncated, "it ends within its first fields") }
        return try Self.boxes(of: bytes, in: (payload.lowerBound + skipping)..<payload.upperBound, file: type)
    }

    private static func boxes(
        of bytes: [UInt8], in range: Range<Int>, file parent: FourCC?
    ) throws(SegmentFormatError) -> [Box] {
        var reader = BoxReader(FileBytes(bytes: bytes, origin: 0), in: parent, range)
        var found: [Box] = []
        while let box = try reader.box() {
            found.append(box)
        }
        return found
    }
}
