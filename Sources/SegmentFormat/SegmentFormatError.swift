/// Why bytes are not the initialization section or media segment that they should be, or why two of them cannot be
/// joined.
public struct SegmentFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of fault; the raw values are stable and may be shown to programs.
    public enum Code: String, Sendable, CaseIterable {
        /// A box, a table or a packet ends before what it announces.
        case truncated
        /// A box's size is less than its own header, or more than what holds it.
        case badSize
        /// A box without which nothing can be said is not there.
        case missingBox
        /// A box that may stand once stands again.
        case duplicateBox
        /// A value is out of its range, or contradicts another.
        case badValue
        /// One of `SegmentFormatLimits` is exceeded.
        case overLimit
        /// The bytes could not be had from where they are.
        case unreadable
        /// All is well in itself, but the pieces do not go together.
        case cannotJoin
    }

    /// What kind of fault it is.
    public let code: Code
    /// The type of the box at fault, or `PAT`, `PMT`, `PES` in a transport stream, or `ID3`, `ADTS`
    /// in packed audio; nil where the whole is.
    public let box: String?
    /// The place of the fault in the file, in bytes; nil where it is in no one place.
    public let offset: Int?
    /// The fault in words, without a full stop.
    public let reason: String

    /// Makes an error of what is in no one place.
    init(_ code: Code, _ reason: String) {
        self.init(code, in: nil, at: nil, reason)
    }

    /// Makes an error of a box.
    init(_ code: Code, _ box: FourCC, at offset: Int, _ reason: String) {
        self.init(code, in: box.description, at: offset, reason)
    }

    /// Makes an error.
    init(_ code: Code, in box: String?, at offset: Int?, _ reason: String) {
        self.code = code
        self.box = box
        self.offset = offset
        self.reason = reason
    }

    /// One sentence: box, place, reason.
    public var description: String {
        switch (box, offset) {
        case (let box?, let offset?): "\(box) at byte \(offset): \(reason)"
        case (let box?, nil): "\(box): \(reason)"
        case (nil, let offset?): "byte \(offset): \(reason)"
        case (nil, nil): reason
        }
    }
}
