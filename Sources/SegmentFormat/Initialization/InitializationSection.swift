/// A Media Initialization Section (RFC 8216 §3.3): the parts of a fragmented file's `moov` that segments depend on.
public struct InitializationSection: Sendable {
    /// Tracks in the order of their `trak` boxes.
    let tracks: [Track]

    /// Parses an initialization section. Boxes that do not describe tracks are ignored.
    public init(_ bytes: [UInt8]) throws(SegmentFormatError) {
        guard bytes.count <= SegmentFormatLimits.sectionBytes else {
            throw SegmentFormatError(.overLimit, "the initialization section has \(bytes.count) bytes")
        }
        let source = FileBytes(bytes: bytes, origin: 0)
        var reader = BoxReader(source, in: nil, source.range)
        var movie: Box?
        while let box = try reader.box(), box.type != "moof" {
            if box.type == "moov" {
                movie = try box.once(movie)
            }
        }
        guard let movie else { throw SegmentFormatError(.missingBox, in: "moov", "there is no movie in the section") }
        tracks = try MovieParser(source).tracks(of: movie)
    }

    /// Reads and parses an initialization section.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        guard source.count <= SegmentFormatLimits.sectionBytes else {
            throw SegmentFormatError(.overLimit, "the initialization section has \(source.count) bytes")
        }
        try self.init(try source.bytes(0..<source.count).bytes)
    }

    /// The track with an id.
    public func track(_ id: UInt32) -> Track? { tracks.first { $0.id == id } }
    /// True if samples of any track are encrypted (ISO/IEC 23001-7).
    public var isEncrypted: Bool { tracks.contains { track in track.sampleEntries.contains { $0.protection != nil } } }
}

/// One track of an initialization section.
public struct Track: Sendable {
    let id, timescale: UInt32
    /// Kind of media: `vide`, `soun`, `subt` …
    public let handler: FourCC
    /// Display width and height in 16.16 fixed-point pixels; 0 for non-visual tracks.
    let size: [UInt32]
    /// Offset that the edit list adds to each time; usually 0, or minus the decoder delay.
    let edit: EditOffset
    /// Sample entries; fragments refer to them by index, from 1.
    let sampleEntries: [SampleEntry]
    /// Sample defaults, which fragments may override.
    let defaults: SampleDefaults
}

/// The values of a `trex` (ISO/IEC 14496-12 §8.8.3).
struct SampleDefaults: Hashable, Sendable {
    /// Index of the sample entry, from 1.
    var descriptionIndex: UInt32
    var duration, size, flags: UInt32
}

extension Box {
    /// Returns this box, or throws if there is another of its type: neither can be preferred.
    func once(_ other: Box?) throws(SegmentFormatError) -> Box {
        guard other == nil else {
            throw SegmentFormatError(.duplicateBox, of: type, at: range.lowerBound, "it occurs twice")
        }
        return self
    }
}

/// The time offset that an edit list gives a track whose samples are not trimmed (ISO/IEC 14496-12 §8.6.6). A leading
/// empty edit delays the track. The media time of the following edit advances it.
struct EditOffset: Hashable, Sendable {
    /// Duration of the empty edit, in ticks of the movie.
    var emptyTicks: UInt64 = 0
    /// Ticks per second of the movie.
    var movieTimescale: UInt32 = 1
    /// Media time at which the presentation starts, in ticks of the track.
    var mediaTime: Int64 = 0
    /// True if the list has other edits, or an edit at another speed: an offset cannot express them.
    var isIntricate = false

    /// The offset in ticks of a track's timescale, rounded to nearest.
    func ticks(timescale: UInt32) -> Int64 {
        let empty = (Int128(emptyTicks) * Int128(timescale) + Int128(movieTimescale) / 2) / Int128(movieTimescale)
        return Int64(clamping: empty - Int128(mediaTime))
    }

    /// The resolution of the movie's clock in ticks of a track, rounded up; 0 without an empty edit.
    func tolerance(timescale: UInt32) -> Int64 {
        guard emptyTicks != 0 else { return 0 }
        return Int64((UInt64(timescale) + UInt64(movieTimescale) - 1) / UInt64(movieTimescale))
    }
}
