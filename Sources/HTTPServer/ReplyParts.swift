/// A part of a body composed of memory and one file.
public enum ReplyPart: Sendable, Hashable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// These bytes of the body's file.
    case file(Range<Int64>)

    /// Its length in bytes.
    public var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let range): Int64(range.count)
        }
    }

    /// A subrange; `range` is relative to the part's first byte and must be within it.
    fileprivate func part(_ range: Range<Int64>) -> ReplyPart {
        switch self {
        case .bytes(let bytes):
            range.count == bytes.count ? self : .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let whole): .file((whole.lowerBound + range.lowerBound)..<(whole.lowerBound + range.upperBound))
        }
    }
}

extension [ReplyPart] {
    /// The total length in bytes.
    var length: Int64 { reduce(0) { $0 + $1.count } }

    /// The parts of this range of the body.
    func parts(in range: Range<Int64>) -> [ReplyPart] {
        var start: Int64 = 0
        return compactMap { part in
            defer { start += part.count }
            let common = range.clamped(to: start..<(start + part.count))
            return common.isEmpty ? nil : part.part((common.lowerBound - start)..<(common.upperBound - start))
        }
    }
}

/// A cursor over a body in parts. Owns the file, which is closed with the last use.
final class PartsCursor {
    private let file: OwnedDescriptor
    private let parts: [ReplyPart]
    /// The index of the next part, and the bytes of it already returned.
    private var (index, sent): (Int, Int64) = (0, 0)
    /// Most bytes of memory sent at a time.
    private static let step: Int64 = 64 * 1024

    init(_ file: consuming OwnedDescriptor, _ parts: [ReplyPart]) {
        self.file = file
        self.parts = parts
    }

    var descriptor: Int32 { file.rawValue }

    var isAtEnd: Bool { index == parts.count }

    /// Returns the next part to send; nil at the end.
    func next() -> ReplyPart? {
        guard index < parts.count else { return nil }
        let part = parts[index]
        var end = part.count
        if case .bytes = part { end = min(end, sent + Self.step) }
        defer { (index, sent) = end < part.count ? (index, end) : (index + 1, 0) }
        return part.part(sent..<end)
    }
}
