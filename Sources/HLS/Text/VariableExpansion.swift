/// Replaces variable references by their values in one pass (rfc8216bis §4.3): in URI lines, quoted-strings and
/// hexadecimal-sequences. A reference to an undefined variable stays, as in libavformat; hls.js refuses the text. A line whose
/// values would change its structure becomes empty, unless it is a key; the number of lines does not change.
struct VariableExpansion {
    private let text: PlaylistText
    private var table: VariableTable
    private var output: [UInt8] = []
    private var lines: [PlaylistText.Line] = []
    private var mends: [PlaylistError] = []
    /// Names without a value that are reported already, at their EXT-X-DEFINE or their first reference.
    private var reported: Set<String> = []

    /// Returns the text with its references replaced, and its variables.
    static func expanded(
        _ text: PlaylistText, _ sources: VariableSources, isMultivariant: Bool
    ) throws(PlaylistError) -> (text: PlaylistText, variables: [String: String]) {
        guard usesVariables(text) else { return (text, [:]) }
        var expansion = VariableExpansion(text: text, table: VariableTable(sources, isMultivariant: isMultivariant))
        try expansion.run()
        let expanded = PlaylistText(text, bytes: expansion.output, lines: expansion.lines, mends: expansion.mends)
        return (expanded, expansion.table.values)
    }

    private init(text: PlaylistText, table: VariableTable) {
        self.text = text
        self.table = table
        output.reserveCapacity(text.bytes.count)
        lines.reserveCapacity(text.lines.count)
    }

    private static func usesVariables(_ text: PlaylistText) -> Bool {
        text.lines.contains { $0.kind == .tag(.define) } || VariableTable.mayRefer(text.bytes, 0..<text.bytes.count)
    }

    private mutating func run() throws(PlaylistError) {
        if text.hasByteOrderMark {
            output += text.bytes[..<3]
        }
        for line in text.lines.indices {
            let start = output.count
            do {
                try appendLine(line)
            } catch  where error.code != .overLimit {
                // Without the key, the segments would be taken for clear ones. The first defect is the cause.
                if text.lines[line].kind == .tag(.key) {
                    throw mends.first ?? error
                }
                omit(line, from: start, error)
                continue
            }
            let content = text.lines[line].content
            if output.count - start > text.limits.lineBytes {
                let limit = text.limits.lineBytes
                throw text.error(
                    .overLimit, line: line, "with its variables replaced the line is longer than \(limit) bytes")
            }
            lines.append(.init(start: UInt32(start), length: UInt32(output.count - start), kind: text.lines[line].kind))
            output += text.bytes[content.upperBound..<text.extent(line).upperBound]
            if output.count > text.limits.bytes {
                let limit = text.limits.bytes
                throw text.error(
                    .overLimit, line: line, "with its variables replaced the playlist is larger than \(limit) bytes")
            }
        }
    }

    private mutating func omit(_ line: Int, from start: Int, _ error: PlaylistError) {
        output.removeSubrange(start...)
        var kind = PlaylistText.Line.Kind.blank
        if text.lines[line].kind == .uri {
            // A URI stays one: the tag that announces it has lost nothing by itself.
            kind = .uri
        }
        lines.append(.init(start: UInt32(start), length: 0, kind: kind))
        if mends.count < PlaylistText.maximumMends {
            mends.append(error)
        }
    }

    private mutating func appendLine(_ line: Int) throws(PlaylistError) {
        let content = text.lines[line].content
        switch text.lines[line].kind {
        case .tag(.define): try define(line)
        case .uri where VariableTable.mayRefer(text.bytes, content): try appendURI(line)
        case .tag(let tag) where tag.hasAttributes && VariableTable.mayRefer(text.bytes, content):
            try appendAttributes(line)
        default: output += text.bytes[content]
        }
    }

    /// VALUE may refer to variables defined before.
    private mutating func define(_ line: Int) throws(PlaylistError) {
        let start = output.count
        try appendAttributes(line)
        let value = text.value(line)
        let offset = start - text.lines[line].content.lowerBound
        let tail = text.lines[line].content.upperBound - value.upperBound
        let attributes = AttributeList(
            output, in: value.lowerBound + offset..<output.count - tail, line: line, limits: text.limits)
        for name in ["NAME", "IMPORT", "QUERYPARAM"] {
            if let name = attributes[name] {
                reported.insert(name)
            }
        }
        try table.define(try Define(attributes), attributes)
    }

    private mutating func appendURI(_ line: Int) throws(PlaylistError) {
        let content = text.bytes.trimmed(text.lines[line].content)
        let start = output.count
        append(content, line)
        let isURI = output.count > start && !output[start].isBlank && output[start] != UInt8(ascii: "#")
        guard isURI else {
            throw text.error(.badValue, line: line, "with its variables replaced the line is not a URI")
        }
    }

    private mutating func appendAttributes(_ line: Int) throws(PlaylistError) {
        var position = text.lines[line].content.lowerBound
        for attribute in text.attributes(line).attributes {
            guard VariableTable.mayRefer(text.bytes, attribute.value) else { continue }
            output += text.bytes[position..<attribute.value.lowerBound]
            let start = output.count
            append(attribute.value, line)
            position = attribute.value.upperBound
            // Without quotes, a value could add another attribute.
            let isSafe = attribute.isQuoted || output.isHexadecimalSequence(start..<output.count)
            guard isSafe || output[start...].elementsEqual(text.bytes[attribute.value]) else {
                throw text.error(
                    .badValue, line: line, "with its variables replaced a value is not a hexadecimal sequence")
            }
        }
        output += text.bytes[position..<text.lines[line].content.upperBound]
    }

    private mutating func append(_ range: Range<Int>, _ line: Int) {
        for name in table.append(range, of: text.bytes, to: &output) where reported.insert(name).inserted {
            guard mends.count < PlaylistText.maximumMends else { return }
            mends.append(text.error(.missingVariable, line: line, "no EXT-X-DEFINE before this line defines \(name)"))
        }
    }
}

extension [UInt8] {
    /// True if the range is `0x` or `0X` with at least one digit (RFC 8216 §4.2).
    fileprivate func isHexadecimalSequence(_ range: Range<Int>) -> Bool {
        range.count > 2 && self[range.lowerBound] == 0x30 && self[range.lowerBound + 1] | 0x20 == 0x78
            && self[range.lowerBound + 2..<range.upperBound].allSatisfy { $0.hexadecimalValue != nil }
    }
}
