/// A Media Initialization Section (RFC 8216 §3.3): the `moov` of a fragmented file, read as far as segments depend on
/// it.
public struct InitializationSection: Sendable {
    /// In the order of their `trak` boxes.
    public let tracks: [Track]

    /// Reads the bytes of an initialization section; boxes that say nothing of tracks are passed over.
    public init(_ bytes: [UInt8]) throws(SegmentFormatError) {
        guard bytes.count <= SegmentFormatLimits.sectionBytes else {
            throw SegmentFormatError(.overLimit, "the initialization section has \(bytes.count) bytes")
        }
        let source = FileBytes(bytes: bytes, origin: 0)
        var reader = BoxReader(source, in: nil, source.range)
        var movie: Box?
        while let box = try reader.box(), box.type != "moof" {
            if box.type == "moov" { movie = try box.once(movie) }
        }
        guard let movie else {
            throw SegmentFormatError(.missingBox, in: "moov", at: nil, "there is no movie in the section")
        }
        tracks = try MovieParser(source).tracks(of: movie)
    }

    /// Reads an initialization section out of a file.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        guard source.count <= SegmentFormatLimits.sectionBytes else {
            throw SegmentFormatError(.overLimit, "the initialization section has \(source.count) bytes")
        }
        try self.init(try source.bytes(0..<source.count).bytes)
    }

    /// The track of an id.
    public func track(_ id: UInt32) -> Track? {
        tracks.first { $0.id == id }
    }

    /// Whether samples of any track are encrypted (ISO/IEC 23001-7).
    public var isEncrypted: Bool {
        tracks.contains { track in track.sampleEntries.contains { $0.protection != nil } }
    }
}

/// One track of an initialization section.
public struct Track: Sendable {
    /// What the track fragments of segments call it by.
    public let id: UInt32
    /// Ticks a second of its times.
    public let timescale: UInt32
    /// What it holds: `vide`, `soun`, `subt` …
    public let handler: FourCC
    /// Width and height as they are shown, in 65,536ths of a pixel; 0 of what is not seen.
    public let size: [UInt32]
    /// What an edit list adds to each time, most often nothing, or less what a decoder's delay has added.
    public let edit: EditOffset
    /// How the samples are coded; fragments name an entry by its place, from 1.
    public let sampleEntries: [SampleEntry]
    /// What holds where a fragment says nothing else.
    public let defaults: SampleDefaults
}

/// The values of a `trex` (ISO/IEC 14496-12 §8.8.3).
public struct SampleDefaults: Hashable, Sendable {
    /// The place of the sample entry, from 1.
    public var descriptionIndex: UInt32
    /// In ticks of the track.
    public var duration: UInt32
    /// In bytes.
    public var size: UInt32
    /// As in ISO/IEC 14496-12 §8.8.3.1.
    public var flags: UInt32
}

extension Box {
    /// This box, where `other` is none: of two, nobody can tell which is meant.
    func once(_ other: Box?) throws(SegmentFormatError) -> Box {
        guard other == nil else {
            throw SegmentFormatError(.duplicateBox, type, at: range.lowerBound, "it stands twice")
        }
        return self
    }
}
