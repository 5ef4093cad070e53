/// Reports that bytes are not a valid initialization section or media segment, or that two of them cannot be spliced.
public struct SegmentFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. The raw values are stable, so programs may rely on them.
    public enum Code: String, Sendable, CaseIterable {
        /// A box, a table or a packet ends before its announced length.
        case truncated
        /// A box's size is less than its header, or more than its container holds.
        case badSize
        case missingBox, duplicateBox
        /// A value is out of range, or contradicts another.
        case badValue
        case overLimit, unreadable
        /// Each input is valid, but they cannot be spliced.
        case cannotJoin
    }

    /// The kind of fault.
    public let code: Code
    /// The faulty box's type, or `PAT`, `PMT`, `PES`, `ID3`, `ADTS`; nil if the fault concerns the whole file.
    public let box: String?
    /// File offset of the fault in bytes; nil if it has no single position.
    public let offset: Int?
    /// Human-readable reason, without a full stop.
    public let reason: String

    init(_ code: Code, in box: String? = nil, at offset: Int? = nil, _ reason: String) {
        self.code = code
        self.box = box
        self.offset = offset
        self.reason = reason
    }

    init(_ code: Code, of box: FourCC, at offset: Int, _ reason: String) {
        self.init(code, in: box.description, at: offset, reason)
    }

    /// Box, offset and reason, as far as known: `moov at byte 8: its header is cut off`.
    public var description: String {
        switch (box, offset) {
        case (let box?, let offset?): "\(box) at byte \(offset): \(reason)"
        case (let box?, nil): "\(box): \(reason)"
        case (nil, let offset?): "byte \(offset): \(reason)"
        case (nil, nil): reason
        }
    }
}

/// Limits on untrusted input: far above any real file, and small enough to hold in memory.
enum SegmentFormatLimits {
    /// Bytes of an initialization section, or of all `moof` boxes of a media segment together.
    static let sectionBytes = 16 << 20
    /// Tracks per section, sample entries per track, and boxes per sample entry.
    static let listed = 256
    /// Top-level boxes per media segment.
    static let topLevelBoxes = 1 << 16
    /// Movie fragments per media segment. Low-latency streams have ten to twenty per second.
    static let fragments = 4096
    /// Samples per `trun`. A box of 24 bytes can announce 2^32 samples.
    static let samplesPerRun = 1 << 20
    /// Samples per media segment, over all runs.
    static let samplesPerSegment = 1 << 22
    /// ID3 tags at the start of packed audio.
    static let tags = 16
    /// Bytes per ID3 tag. A tag may hold a picture.
    static let tagBytes = 1 << 20
}
