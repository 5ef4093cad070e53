import SafeText
import WeirAPI

/// Formats numbers for users.
enum Format {
    /// A size in powers of 1024 with at least two digits: `151 MB`.
    static func bytes(_ count: Int) -> String { Quantity.bytes(count) }

    /// An estimated size: `about 240 MB`.
    static func estimate(_ count: Int) -> String { "about \(bytes(count))" }

    /// A transfer rate: `5.1 MB/s`.
    static func rate(_ bytesPerSecond: Int) -> String { bytes(bytesPerSecond) + "/s" }

    /// A bandwidth in powers of 1000, as usual for networks: `2.1 Mb/s`.
    static func bandwidth(_ bitsPerSecond: Int) -> String { Quantity.bandwidth(bitsPerSecond) }

    /// A duration: `9:19` or `1:02:03`; fractions of a second are cut off.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite else { return clock(0) }
        let all = Int(min(max(0, seconds + 0.0005), 1e9))
        let hours = all / 3600
        let minutes = all / 60 % 60
        let rest = twoDigits(all % 60)
        guard hours > 0 else { return "\(minutes):\(rest)" }
        return "\(hours):\(twoDigits(minutes)):\(rest)"
    }

    /// A number of hours, minutes, days or months: `07`.
    static func twoDigits(_ number: Int) -> String {
        guard number < 10 else { return "\(number)" }
        return "0\(number)"
    }

    /// Ranges of media time, as `--range` accepts each: `0:00-0:10, 5:00-6:00`.
    static func ranges(_ ranges: [API.Download.TimeRange], separator: String = ", ") -> String {
        ranges.map { "\(clock($0.start))-\(clock($0.end))" }.joined(separator: separator)
    }

    /// A rounded percentage: `63%`; 100 only if nothing is missing.
    static func percent(_ fraction: Double) -> String {
        if fraction >= 1 {
            return "100%"
        }
        let rounded = Int((max(0, fraction) * 100).rounded())
        return "\(min(99, rounded))%"
    }

    /// A number with its noun: `3 keys`.
    static func count(_ number: Int, _ noun: String) -> String {
        guard number != 1 else { return "1 \(noun)" }
        return "\(number) \(noun)s"
    }
}

extension String {
    /// The text, or its beginning with an ellipsis, in at most so many characters.
    func cut(to width: Int) -> String {
        guard count > width else { return self }
        return prefix(max(0, width - 1)) + "…"
    }

    /// Pads the text on the right to a width in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Pads the text on the left to a width in characters.
    func rightAligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

/// Text in columns, separated by two blanks, each as wide as its widest cell.
struct TextTable {
    /// The cells of each row; the first row is the heading.
    var rows: [[String]]

    /// The table without as many of its columns as needed to fit a width, in the order of these headings. The last column may be
    /// cut, and counts with its first characters only.
    func fitting(_ width: Int, dropping headings: [String]) -> TextTable {
        var dropped: Set<Int> = []
        let order = headings.compactMap { rows.first?.firstIndex(of: $0) }
        let columns = rows.map(\.count).max() ?? 0
        let measured = cutting(column: columns - 1, to: Self.leastLast)
        for column in order {
            if measured.without(dropped).lines.allSatisfy({ $0.count <= width }) {
                break
            }
            dropped.insert(column)
        }
        return without(dropped)
    }

    private static let leastLast = 12

    /// The table with the cells of its last column cut so that the lines fit a width; as it is without that heading.
    func cutting(_ heading: String, to width: Int) -> TextTable {
        guard let column = rows.first?.firstIndex(of: heading) else { return self }
        let others = (0..<column).reduce(0) { sum, index in sum + 2 + self.width(ofColumn: index) }
        return cutting(column: column, to: max(Self.leastLast, width - others))
    }

    private func cutting(column: Int, to width: Int) -> TextTable {
        var table = self
        for index in rows.indices where rows[index].indices.contains(column) {
            table.rows[index][column] = rows[index][column].cut(to: width)
        }
        return table
    }

    /// The width of the widest cell of a column.
    private func width(ofColumn column: Int) -> Int {
        var widest = 0
        for row in rows where column < row.count {
            widest = max(widest, row[column].count)
        }
        return widest
    }

    private func without(_ columns: Set<Int>) -> TextTable {
        TextTable(rows: rows.map { row in row.enumerated().filter { !columns.contains($0.offset) }.map(\.element) })
    }

    /// The lines, without trailing blanks.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { width(ofColumn: $0) }
        return rows.map { row in
            var line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            while line.last == " " {
                line.removeLast()
            }
            return line
        }
    }
}
