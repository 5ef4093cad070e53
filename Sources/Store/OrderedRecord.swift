import GRDB

/// A record of which there is one for each asset, or several: all are read at the start, by the places of their columns,
/// which takes a third of the time that names take.
protocol OrderedRecord: TableRecord {
    /// The names of the columns that `init(ordered:)` reads, in its order.
    static var columns: [String] { get }

    /// Reads a row of these columns.
    ///
    /// - Throws: an error for what no Weir has written.
    init(ordered row: Row) throws
}

extension OrderedRecord {
    /// All rows. A column that the table lacks, which what cannot be written may, is NULL.
    ///
    /// - Parameter order: columns, as SQL; empty for no order.
    static func all(_ database: Database, order: String = "") throws -> [Self] {
        let present = Set(try database.columns(in: databaseTableName).map(\.name))
        let list = columns.map { present.contains($0) ? $0 : "NULL" }.joined(separator: ", ")
        let end = order.isEmpty ? "" : " ORDER BY \(order)"
        let rows = try Row.fetchCursor(database, sql: "SELECT \(list) FROM \(databaseTableName)\(end)")
        var records: [Self] = []
        while let row = try rows.next() { records.append(try Self(ordered: row)) }
        return records
    }
}
