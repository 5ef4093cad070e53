/// Columns of text, two blanks between them, each as wide as its widest cell.
struct TextTable {
    /// The cells of each row; the first row is the heading.
    var rows: [[String]]

    /// The lines, without blanks at their ends.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
