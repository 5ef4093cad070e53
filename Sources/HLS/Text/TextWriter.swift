/// Copies a text byte for byte, and replaces some ranges, which must come in text order and must not overlap.
struct TextWriter {
    private let text: PlaylistText
    private(set) var output: [UInt8] = []
    private var position: Int
    private let end: Int
    /// Offsets in the output of a number known only at the end. `line` is the beginning of a line to insert, if any.
    private var deferred: [(offset: Int, line: String?)] = []

    /// Starts after the byte order mark, which views omit.
    init(_ text: PlaylistText) {
        let start = text.hasByteOrderMark ? 3 : 0
        self.init(text, from: start..<text.bytes.count)
        output.reserveCapacity(text.bytes.count)
    }

    init(_ text: PlaylistText, from range: Range<Int>) {
        self.text = text
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func replace(_ range: Range<Int>, with replacement: String) {
        output.append(contentsOf: text.bytes[position..<range.lowerBound])
        output.append(contentsOf: replacement.utf8)
        position = range.upperBound
    }

    mutating func replace(_ range: Range<Int>, with replacement: [UInt8]) {
        replace(range, with: "")
        output.append(contentsOf: replacement)
    }

    mutating func drop(line: Int) { replace(text.extent(line), with: "") }

    /// Replaces the whole content of a URI line, including blanks around the URI.
    mutating func replaceURI(line: Int, with name: String) throws(PlaylistError) {
        replace(text.lines[line].content, with: try Self.checked(name))
    }

    /// Inserts lines that end with the terminator of the playlist's first line.
    mutating func insert(_ lines: [String], beforeLine line: Int) {
        var position = text.bytes.count
        if line < text.lines.count {
            position = text.extent(line).lowerBound
        }
        replace(position..<position, with: "")
        for line in lines {
            if let last = output.last, last != 0x0A {
                output.append(contentsOf: terminator)
            }
            output.append(contentsOf: line.utf8)
            output.append(contentsOf: terminator)
        }
    }

    mutating func replaceDeferred(_ range: Range<Int>) {
        replace(range, with: "")
        deferred.append((output.count, nil))
    }

    /// Inserts a line made of a prefix and the number passed to `finished(deferred:)`, unless that number is 1.
    mutating func insertDeferred(_ start: String, beforeLine line: Int) {
        insert([], beforeLine: line)
        deferred.append((output.count, start))
    }

    /// Copies the rest and returns the output, with `number` at the deferred offsets.
    consuming func finished(deferred number: Int = 1) -> [UInt8] {
        output.append(contentsOf: text.bytes[position..<end])
        for (offset, line) in deferred.reversed() {
            guard let line else {
                output.replaceSubrange(offset..<offset, with: String(number).utf8)
                continue
            }
            guard number > 1 else { continue }
            output.replaceSubrange(offset..<offset, with: Array("\(line)\(number)".utf8) + terminator)
        }
        return output
    }

    private var terminator: ArraySlice<UInt8> {
        let first = text.bytes[text.lines[0].content.upperBound..<text.extent(0).upperBound]
        guard !first.isEmpty else { return [0x0A] }
        return first
    }

    /// Returns a name if it is safe on a URI line and in quotes: not empty, no quote, control character or Unicode line
    /// separator, no space at its ends, and no leading `#`.
    static func checked(_ name: String) throws(PlaylistError) -> String {
        let first = name.utf8.first
        let last = name.utf8.last
        if !isSafe(name) || first == nil || first == UInt8(ascii: "#") || first == 0x20 || last == 0x20 {
            let excerpt = PlaylistError.excerpt(of: name)
            throw PlaylistError(.unsafeName, "the name is not allowed in a playlist", excerpt: excerpt)
        }
        return name
    }

    /// Fast path for ASCII names; only other names are split into scalars.
    private static func isSafe(_ name: String) -> Bool {
        let isPlain = name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 &- 0x20 < 0x5F && $0 != UInt8(ascii: "\"") }
        }
        return isPlain == true || name.unicodeScalars.allSatisfy(\.isSafeInPlaylist)
    }

    /// Returns a name if it is a relative path: no scheme, no host, no leading slash.
    static func checkedRelative(_ name: String) throws(PlaylistError) -> String {
        let first = name.utf8.prefix { $0 != UInt8(ascii: "/") }
        if first.isEmpty || first.contains(UInt8(ascii: ":")) {
            throw PlaylistError(.unsafeName, "the name is not relative", excerpt: PlaylistError.excerpt(of: name))
        }
        return name
    }
}

/// Changes that a view makes to one attribute list.
struct AttributeEdits {
    enum Change {
        /// A new quoted-string; checked when written.
        case quoted(String)
        /// A new value without quotes; not checked.
        case enumerated(String)
        /// Removes the attribute and the comma that joins it to the list.
        case removed
    }

    private var changes: [(name: String, change: Change)] = []
    /// Adds a change. An attribute that the list lacks is appended; removing an absent one does nothing.
    mutating func set(_ name: String, _ change: Change) { changes.append((name, change)) }

    mutating func set(_ name: String, quoted value: String?) {
        if let value {
            set(name, .quoted(value))
        }
    }

    func apply(to list: AttributeList, _ writer: inout TextWriter) throws(PlaylistError) {
        var keptEnd: Int?
        for (index, attribute) in list.attributes.enumerated() {
            switch change(list, attribute) {
            case .removed?:
                let start = keptEnd ?? attribute.name.lowerBound
                var end = attribute.value.upperBound
                if keptEnd == nil, index + 1 < list.attributes.count {
                    // At the list's beginning the comma after the attribute is removed, elsewhere the one before it.
                    end = list.attributes[index + 1].name.lowerBound
                }
                writer.replace(start..<end, with: "")
                if keptEnd != nil {
                    keptEnd = end
                }
                continue
            case .some(let change): writer.replace(attribute.value, with: try Self.text(change))
            case nil: break
            }
            keptEnd = attribute.value.upperBound
        }
        try append(to: list, after: keptEnd, &writer)
    }

    private func append(to list: AttributeList, after end: Int?, _ writer: inout TextWriter) throws(PlaylistError) {
        guard let end = end ?? list.attributes.last?.value.upperBound else { return }
        for (name, change) in changes where list.find(name) == nil {
            if case .removed = change {
                continue
            }
            writer.replace(end..<end, with: ",\(name)=\(try Self.text(change))")
        }
    }

    private func change(_ list: AttributeList, _ attribute: AttributeList.Attribute) -> Change? {
        changes.first { list.bytes.matches(attribute.name, $0.name) }?.change
    }

    private static func text(_ change: Change) throws(PlaylistError) -> String {
        switch change {
        case .quoted(let value): "\"\(try TextWriter.checked(value))\""
        case .enumerated(let value): value
        case .removed: ""
        }
    }
}
