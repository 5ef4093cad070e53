/// A part of a body that is put together of memory and one file.
public enum ReplyPart: Sendable, Hashable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// These bytes of the body's file.
    case file(Range<Int64>)

    /// The number of its bytes.
    public var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let range): Int64(range.count)
        }
    }

    /// Some of it; the range counts from its first byte, and must lie within it.
    fileprivate func part(_ range: Range<Int64>) -> ReplyPart {
        switch self {
        case .bytes(let bytes):
            range.count == bytes.count ? self : .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let whole): .file((whole.lowerBound + range.lowerBound)..<(whole.lowerBound + range.upperBound))
        }
    }
}

extension [ReplyPart] {
    /// The number of bytes of all of them.
    var length: Int64 { reduce(0) { $0 + $1.count } }

    /// The parts that make up these bytes of the body.
    func parts(in range: Range<Int64>) -> [ReplyPart] {
        var start: Int64 = 0
        return compactMap { part in
            defer { start += part.count }
            let common = range.clamped(to: start..<(start + part.count))
            return common.isEmpty ? nil : part.part((common.lowerBound - start)..<(common.upperBound - start))
        }
    }
}

/// What is left to be sent of a body in parts, and the file that some of them lie in, closed with the last use of it.
final class PartedBody {
    private let file: OwnedDescriptor
    private let parts: [ReplyPart]
    /// The part that comes next, and how much of it has gone.
    private var (place, sent): (Int, Int64) = (0, 0)
    /// So much memory is given to the system at one time.
    private static let step: Int64 = 64 * 1024

    init(_ file: consuming OwnedDescriptor, _ parts: [ReplyPart]) {
        self.file = file
        self.parts = parts
    }

    /// The file.
    var descriptor: Int32 { file.rawValue }

    /// Whether nothing more comes.
    var isAtEnd: Bool { place == parts.count }

    /// Takes off what is to be sent next; nil at the end.
    func next() -> ReplyPart? {
        guard place < parts.count else { return nil }
        let part = parts[place]
        var end = part.count
        if case .bytes = part { end = min(end, sent + Self.step) }
        defer { (place, sent) = end < part.count ? (place, end) : (place + 1, 0) }
        return part.part(sent..<end)
    }
}
