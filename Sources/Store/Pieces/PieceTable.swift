/// Values of the pieces of a folder, by file name. Pure.
///
/// A large table is divided into parts: a folder may have a million pieces, and a dictionary that grows, or that another thread reads
/// while it changes, is moved as a whole. Here each step moves one part at most. Other rooms compile its code for their own values: the
/// general form, which asks for the type of a value at each step, took 100 ms and more to divide a table.
public struct PieceTable<Value> {
    /// The number of pieces above which the table has several parts.
    @usableFromInline static var smallCount: Int { 8192 }
    @usableFromInline static var partCount: Int { 128 }
    /// None in an empty table: most folders of an asset with thousands of tracks have no piece.
    @usableFromInline var parts: [[String: Value]] = []
    /// The number of pieces.
    @inlinable public var count: Int { storedCount }
    @usableFromInline var storedCount = 0

    /// Makes an empty table.
    @inlinable public init() {}

    /// True if the table has no piece.
    @inlinable public var isEmpty: Bool { storedCount == 0 }
    /// The most values that the next step may move.
    package var largestPart: Int { parts.map(\.count).max() ?? 0 }
    /// The files' names, in no order.
    @inlinable public var keys: some Sequence<String> { parts.joined().lazy.map { $0.key } }
    /// The values, in no order.
    @inlinable public var values: some Sequence<Value> { parts.joined().lazy.map { $0.value } }

    /// The value of a piece; nil if the table does not have it.
    @inlinable public subscript(file: String) -> Value? {
        get {
            guard !parts.isEmpty else { return nil }
            return parts[index(of: file)][file]
        }
        set {
            if let newValue {
                if parts.isEmpty {
                    parts = [[:]]
                }
                let index = index(of: file)
                let former = parts[index].updateValue(newValue, forKey: file)
                guard former == nil else { return }
                storedCount += 1
                divideIfLarge()
            } else {
                removeValue(forKey: file)
            }
        }
    }

    /// The value of a piece, or another one if the table does not have it.
    @inlinable public subscript(file: String, default value: Value) -> Value { self[file] ?? value }

    /// Removes a piece, and returns its value.
    @inlinable @discardableResult public mutating func removeValue(forKey file: String) -> Value? {
        guard !parts.isEmpty, let value = parts[index(of: file)].removeValue(forKey: file) else { return nil }
        storedCount -= 1
        return value
    }

    @inlinable func index(of file: String) -> Int {
        guard parts.count > 1 else { return 0 }
        return Int(UInt(bitPattern: file.hashValue) % UInt(parts.count))
    }

    @inlinable mutating func divideIfLarge() {
        guard storedCount > Self.smallCount, parts.count == 1 else { return }
        let whole = parts[0]
        parts = [[String: Value]](repeating: [:], count: Self.partCount)
        for (file, value) in whole {
            parts[index(of: file)][file] = value
        }
    }
}

extension PieceTable: Sendable where Value: Sendable {}

extension PieceTable: Equatable where Value: Equatable {
    /// True if both have the same pieces with the same values.
    @inlinable public static func == (left: PieceTable, right: PieceTable) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }
}

extension PieceTable: Sequence {
    /// Iterates over files and values, in no order.
    @inlinable public func makeIterator() -> FlattenSequence<[[String: Value]]>.Iterator {
        parts.joined().makeIterator()
    }
}

extension PieceTable: ExpressibleByDictionaryLiteral {
    /// Makes a table of these files and values.
    @inlinable public init(dictionaryLiteral elements: (String, Value)...) {
        self.init()
        for (file, value) in elements {
            self[file] = value
        }
    }
}
