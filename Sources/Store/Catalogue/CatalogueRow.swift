import Foundation
import GRDB

/// A row of a table of the catalogue. `columns` is the only list of its columns: reading, writing and the checksum go by it.
/// Every row is read at the start. Reading by position takes a third of the time that reading by name takes.
protocol CatalogueRow: Sendable {
    static var table: String { get }
    /// All columns of the table, those of the primary key first. A missing one would be lost at the next start.
    static var columns: [RowColumn<Self>] { get }
    /// The number of columns of the primary key.
    static var keyCount: Int { get }
    static var blank: Self { get }
}

/// A row that belongs to an asset, or is one. Its table's first column is the asset's id.
protocol AssetTableRow: CatalogueRow {
    var asset: String { get }
}

/// Statements are kept for the next time, because SQLite takes longer to prepare one than to run it.
extension CatalogueRow {
    static var keyCount: Int { 1 }

    /// Reads rows. `clause` is the SQL after the table's name; empty for all rows in any order. Throws an error for a
    /// value that Weir cannot have written. GRDB's `row["asset"]` would end the process.
    static func all(_ database: Database, _ clause: String = "", arguments: StatementArguments = []) throws -> [Self] {
        let columns = columns
        let statement = try database.cachedStatement(sql: "SELECT \(names) FROM \(table) \(clause)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var records: [Self] = []
        while let row = try rows.next() {
            var record = blank
            for index in columns.indices {
                try columns[index].read(row, index, &record)
            }
            records.append(record)
        }
        return records
    }

    /// Reads the rows of an asset, whose id is in the table's first column.
    static func all(of asset: String, _ database: Database, order: String = "") throws -> [Self] {
        try all(database, "WHERE \(columns[0].name) = ? \(order)", arguments: [asset])
    }

    /// The values of the primary key.
    var key: [DatabaseValue] { Self.columns.prefix(Self.keyCount).map { $0.value(self) } }

    /// Reads the row with the same key; nil if there is none.
    private func former(_ database: Database) throws -> Self? {
        let condition = Self.columns.prefix(Self.keyCount).map { "\($0.name) = ?" }.joined(separator: " AND ")
        return try Self.all(database, "WHERE \(condition)", arguments: StatementArguments(key)).first
    }

    private static var names: String { columns.map(\.name).joined(separator: ", ") }

    /// Writes a new row.
    func insert(_ database: Database) throws { try write(Self.insertion, database) }

    /// Writes the row, over one that has its key. Throws if another row has one of its unique values.
    func upsert(_ database: Database) throws {
        let key = Self.columns.prefix(Self.keyCount).map(\.name).joined(separator: ", ")
        let changes = Self.columns.dropFirst(Self.keyCount).map { "\($0.name) = excluded.\($0.name)" }
        var resolution = "NOTHING"
        if !changes.isEmpty {
            resolution = "UPDATE SET \(changes.joined(separator: ", "))"
        }
        try write("\(Self.insertion) ON CONFLICT (\(key)) DO \(resolution)", database)
    }

    /// Writes the row as `upsert` does. Returns the row that it has replaced, if there was one.
    func replace(_ database: Database) throws -> Self? {
        let former = try former(database)
        try upsert(database)
        return former
    }

    private static var insertion: String {
        let marks = [String](repeating: "?", count: columns.count).joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(marks))"
    }

    private func write(_ sql: String, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments(Self.columns.map { $0.value(self) }))
        // The statement would hold a long text until its next use.
        statement.setUncheckedArguments([])
    }

    func add(to sum: inout RowDigest) {
        sum.begin(Self.table)
        for column in Self.columns {
            column.add(self, &sum)
        }
    }

    /// The SHA-256 of the row.
    var digest: Digest {
        var digest = RowDigest()
        add(to: &digest)
        return digest.digest()
    }
}

/// A column of a table, and the property that holds its value.
struct RowColumn<Record>: Sendable {
    let name: String
    let read: @Sendable (Row, Int, inout Record) throws -> Void
    let value: @Sendable (Record) -> DatabaseValue
    let add: @Sendable (Record, inout RowDigest) -> Void

    init<Value: ColumnValue>(_ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable) {
        self.name = name
        read = { row, index, record in record[keyPath: path] = try Value(row, at: index) }
        value = { record in record[keyPath: path].stored }
        add = { record, sum in record[keyPath: path].add(to: &sum, as: name) }
    }
}

protocol ColumnValue: SendableMetatype {
    init(_ row: Row, at index: Int) throws
    /// The value in the table.
    var stored: DatabaseValue { get }
    func add(to sum: inout RowDigest, as name: String)
}

extension ColumnValue where Self: DatabaseValueConvertible & StatementColumnConvertible {
    init(_ row: Row, at index: Int) throws { self = try row.decode(atIndex: index) }
    var stored: DatabaseValue { databaseValue }
}

extension ColumnValue where Self: CustomStringConvertible {
    func add(to sum: inout RowDigest, as name: String) { sum.add(name, description) }
}

extension String: ColumnValue {}
extension Int: ColumnValue {}
extension Int64: ColumnValue {}
extension Double: ColumnValue {}
extension Bool: ColumnValue {
    func add(to sum: inout RowDigest, as name: String) {
        let digit = self ? "1" : "0"
        sum.add(name, digit)
    }
}

extension [UInt8]: ColumnValue {
    init(_ row: Row, at index: Int) throws { self = try row.withUnsafeData(atIndex: index) { Array($0 ?? Data()) } }
    var stored: DatabaseValue { Data(self).databaseValue }
    func add(to sum: inout RowDigest, as name: String) { sum.add(name, bytes: self) }
}

/// JSON in the table. A damaged text reads as an empty dictionary: the checksum differs, and other assets stay readable.
extension [String: String]: ColumnValue {
    init(_ row: Row, at index: Int) throws {
        let text: String = try row.decode(atIndex: index)
        self = (try? JSONDecoder().decode(Self.self, from: Data(text.utf8))) ?? [:]
    }

    var stored: DatabaseValue {
        // Texts can always be encoded.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) }.databaseValue
    }

    func add(to sum: inout RowDigest, as name: String) {
        sum.add(name, "\(count)")
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            sum.add("name", key)
            sum.add("value", value)
        }
    }
}

/// NULL in the table. It adds nothing to a checksum.
extension Optional: ColumnValue where Wrapped: ColumnValue {
    init(_ row: Row, at index: Int) throws {
        if row.hasNull(atIndex: index) {
            self = nil
        } else {
            self = try Wrapped(row, at: index)
        }
    }
    var stored: DatabaseValue { self?.stored ?? .null }
    func add(to sum: inout RowDigest, as name: String) { self?.add(to: &sum, as: name) }
}

/// The SHA-256 of rows. Each field follows its name and length in bytes, so that no value passes for another field's.
struct RowDigest: ~Copyable {
    private var state = DigestState()
    private var pending: [UInt8] = []

    mutating func begin(_ table: String) {
        pending += "\n".utf8
        pending += table.utf8
        pending += "\n".utf8
    }

    /// Adds bytes; a long value is hashed without a copy.
    mutating func add(_ field: String, bytes: [UInt8]) {
        begin(field, bytes.count)
        guard bytes.count > 1024 else { return pending += bytes }
        hashPending()
        bytes.withUnsafeBytes { state.add($0) }
    }

    mutating func add(_ field: String, _ text: String) {
        begin(field, text.utf8.count)
        pending += text.utf8
    }

    private mutating func begin(_ field: String, _ count: Int) {
        pending += field.utf8
        pending += ":".utf8
        pending += "\(count)".utf8
        pending += ":".utf8
    }

    consuming func digest() -> Digest {
        hashPending()
        return state.digest
    }

    private mutating func hashPending() {
        pending.withUnsafeBytes { state.add($0) }
        pending.removeAll(keepingCapacity: true)
    }
}
