/// A media segment as it is to be sent: parts of the file as they lie, and bytes between them.
public struct Splice: Hashable, Sendable {
    /// A part of what is sent.
    public enum Piece: Hashable, Sendable {
        /// These bytes of the segment's file.
        case original(Range<Int>)
        /// These bytes.
        case bytes([UInt8])

        /// The number of bytes.
        public var count: Int {
            switch self {
            case .original(let range): range.count
            case .bytes(let bytes): bytes.count
            }
        }
    }

    /// In the order in which they are sent; none is empty.
    public let pieces: [Piece]
    /// The length of what is sent, in bytes.
    public let count: Int

    /// The whole, put together from the segment's bytes.
    public func joined(with segment: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for piece in pieces {
            switch piece {
            case .original(let range): result += segment[range]
            case .bytes(let bytes): result += bytes
            }
        }
        return result
    }

    /// The pieces that make up a part of what is sent, for an answer to a range request; `range` must lie within
    /// ``count``.
    public func pieces(in range: Range<Int>) -> [Piece] {
        var (start, found): (Int, [Piece]) = (0, [])
        for piece in pieces {
            let part = range.clamped(to: start..<(start + piece.count))
            if !part.isEmpty {
                let (lower, upper) = (part.lowerBound - start, part.upperBound - start)
                switch piece {
                case .original(let whole):
                    found.append(.original((whole.lowerBound + lower)..<(whole.lowerBound + upper)))
                case .bytes(let bytes): found.append(.bytes(Array(bytes[lower..<upper])))
                }
            }
            start += piece.count
        }
        return found
    }
}

extension Splice {
    /// The file with edits, which lie in order; small gaps are taken from what was read of the file anyway.
    init(_ edits: [Edit], count: Int, loaded: [FileBytes]) {
        var assembly = Assembly(loaded: loaded)
        var position = 0
        for edit in edits {
            assembly.add(position..<edit.range.lowerBound)
            assembly.add(edit.bytes)
            position = edit.range.upperBound
        }
        assembly.add(position..<count)
        pieces = assembly.finished()
        self.count = pieces.reduce(0) { $0 + $1.count }
    }

    /// Puts pieces together, and neighbours of one kind into one.
    private struct Assembly {
        let loaded: [FileBytes]
        var next = 0
        var pieces: [Piece] = []
        var bytes: [UInt8] = []

        init(loaded: [FileBytes]) {
            self.loaded = loaded
        }

        mutating func add(_ added: [UInt8]) {
            bytes += added
        }

        mutating func add(_ range: Range<Int>) {
            guard !range.isEmpty else { return }
            while next < loaded.count, loaded[next].range.upperBound < range.upperBound { next += 1 }
            if range.count <= SourceWindow.step, next < loaded.count, loaded[next].origin <= range.lowerBound {
                return add(Array(loaded[next][range]))
            }
            flush()
            pieces.append(.original(range))
        }

        mutating func finished() -> [Piece] {
            flush()
            return pieces
        }

        private mutating func flush() {
            if !bytes.isEmpty { pieces.append(.bytes(bytes)) }
            bytes = []
        }
    }
}
