import Glibc

/// The removal of an asset whose events are still in the log files.
///
/// Removing an asset notes this in a file, which is fast. The events are not shown any more from then on, and their bytes are
/// rewritten a little later, those of all removals together.
struct LogErasure: Codable, Equatable, Sendable {
    /// The asset's name, and its id, by which its URLs are known.
    let name, id: String
    /// The lengths of the files at the removal, in bytes: a later event of this name is another asset's.
    let ends: [String: Int]

    /// The texts of which each of its events has one, as `LogFiles` encodes them.
    var marks: [[UInt8]] { [Self.mark(name), Array("/a/\(id)/".utf8)] }

    /// The text in each event of an asset's name.
    static func mark(_ name: String) -> [UInt8] { Array(#""asset":\#(quoted(name))"#.utf8) }

    /// A name as `JSONEncoder` writes it. Names have no character that it escapes, except in files of other programs.
    private static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// The events of a log file as text: a `#Remark:` line with the event as JSON, and the line of the format. Pure.
///
/// Events are found by searching for bytes, without decoding any: files of 127 MB took 23 s to decode.
struct LogText {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static let remark = "#Remark: "
    private static let lineFeed = UInt8(ascii: "\n")

    /// The events that contain a mark and begin before `end`, as ranges of bytes in their order.
    func events(with mark: [UInt8], before end: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = 0
        let end = min(end, bytes.count)
        let mark = Mark(mark)
        while let match = first(mark, from: position), match < end {
            let start = lineStart(before: match)
            guard hasRemark(at: start) else {
                position = lineEnd(after: match)
                continue
            }
            let next = eventEnd(after: match)
            found.append(start..<next)
            position = next
        }
        return found
    }

    /// The bytes without these ranges, which may overlap.
    func without(_ ranges: [Range<Int>]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var position = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > position {
                kept += bytes[position..<range.lowerBound]
            }
            position = max(position, range.upperBound)
        }
        if position < bytes.count {
            kept += bytes[position...]
        }
        return kept
    }

    /// The bytes with another text in place of a mark; nil without the mark.
    func replacing(_ mark: [UInt8], by text: [UInt8]) -> [UInt8]? {
        let search = Mark(mark)
        var replaced: [UInt8] = []
        var position = 0
        while let match = first(search, from: position) {
            replaced += bytes[position..<match]
            replaced += text
            position = match + mark.count
        }
        guard position > 0 else { return nil }
        return replaced + bytes[position...]
    }

    /// Finds a mark from a position on, by Horspool's method: it looks at few of the bytes.
    private func first(_ mark: Mark, from position: Int) -> Int? {
        let length = mark.bytes.count
        guard length > 0 else { return nil }
        var position = position
        while position + length <= bytes.count {
            let last = bytes[position + length - 1]
            if last == mark.bytes[length - 1], bytes[position..<position + length].elementsEqual(mark.bytes) {
                return position
            }
            position += mark.steps[Int(last)]
        }
        return nil
    }

    /// A text to search for.
    private struct Mark {
        let bytes: [UInt8]
        /// By the byte under the mark's last one: the distance to the next position where the mark may be.
        let steps: [Int]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var steps = [Int](repeating: max(1, bytes.count), count: 256)
            for (index, byte) in bytes.dropLast().enumerated() {
                steps[Int(byte)] = bytes.count - 1 - index
            }
            self.steps = steps
        }
    }

    private func lineStart(before position: Int) -> Int {
        var start = position
        while start > 0, bytes[start - 1] != Self.lineFeed {
            start -= 1
        }
        return start
    }

    /// The beginning of the next line.
    private func lineEnd(after position: Int) -> Int {
        guard let base = bytes.baseAddress, position < bytes.count,
            let found = memchr(base + position, Int32(Self.lineFeed), bytes.count - position)
        else { return bytes.count }
        return UnsafeRawPointer(found) - base + 1
    }

    /// The beginning of the next event or directive: the line of the format follows the event as JSON.
    private func eventEnd(after position: Int) -> Int {
        var end = lineEnd(after: position)
        while end < bytes.count, bytes[end] != UInt8(ascii: "#") {
            end = lineEnd(after: end)
        }
        return end
    }

    private func hasRemark(at start: Int) -> Bool { bytes[start...].starts(with: Self.remark.utf8) }
}
