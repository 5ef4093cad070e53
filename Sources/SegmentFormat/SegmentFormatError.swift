/// Reports that bytes are not a valid initialization section or media segment, or that two of them cannot be spliced.
public struct SegmentFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. The raw values are stable, so programs may rely on them.
    public enum Code: String, Sendable, CaseIterable {
        /// A box, a table or a packet ends before its announced length.
        case truncated
        /// A box's size is less than its header, or more than its container holds.
        case badSize
        /// A required box is missing.
        case missingBox
        /// A box that may occur once occurs again.
        case duplicateBox
        /// A value is out of range, or contradicts another.
        case badValue
        /// One of `SegmentFormatLimits` is exceeded.
        case overLimit
        /// Reading the bytes failed.
        case unreadable
        /// Each input is valid, but they cannot be spliced.
        case cannotJoin
    }

    /// The kind of fault.
    public let code: Code
    /// The type of the faulty box; `PAT`, `PMT` or `PES` in a transport stream, `ID3` or `ADTS` in packed audio; nil if
    /// the fault concerns the whole file.
    public let box: String?
    /// File offset of the fault in bytes; nil if it has no single place.
    public let offset: Int?
    /// Human-readable reason, without a full stop.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.init(code, in: nil, at: nil, reason)
    }

    init(_ code: Code, _ box: FourCC, at offset: Int, _ reason: String) {
        self.init(code, in: box.description, at: offset, reason)
    }

    init(_ code: Code, in box: String?, at offset: Int?, _ reason: String) {
        self.code = code
        self.box = box
        self.offset = offset
        self.reason = reason
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
