/// Lists the key of the format `identity` last among those of several systems that a segment has (RFC 8216 §4.3.2.4). Pure.
///
/// The segment is encrypted once, and any of the keys decrypts it. libavformat (hls.c, `parse_playlist`) and VLC know one key of a
/// segment, the one that was listed last: after a DRM system's they play nothing. hls.js takes any that it can use.
enum KeyOrder {
    /// True if some of the keys are of a system of their own, and others are not.
    static func matters(for keys: [Key.Record], in bytes: [UInt8]) -> Bool {
        var hasIdentity = false
        var hasOther = false
        for key in keys where key.method != .none {
            if key.keyFormat.map({ Key.isIdentity(bytes, $0.range) }) ?? true {
                hasIdentity = true
            } else {
                hasOther = true
            }
        }
        return hasIdentity && hasOther
    }

    /// Changes the order of keys in the text of a media playlist. The key of `identity` is listed again where only others change.
    static func identityLast(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var group = Group()
        for line in lines(of: text) {
            let kind = Kind(line)
            if kind == .end || kind == .none {
                group.finish(into: &result)
            }
            group.add(line, kind)
        }
        group.finish(into: &result)
        return result
    }

    /// The lines from one segment, initialization section or METHOD=NONE to the next.
    private struct Group {
        private var lines: [ArraySlice<UInt8>] = []
        /// The indices of the keys in `lines`.
        private var own: [Int] = []
        private var others: [Int] = []
        /// The key of `identity` that is in force.
        private var known: ArraySlice<UInt8>?

        mutating func add(_ line: ArraySlice<UInt8>, _ kind: Kind) {
            switch kind {
            case .identity:
                own.append(lines.count)
                known = line
            case .other: others.append(lines.count)
            case .none: known = nil
            case .end, .rest: break
            }
            lines.append(line)
        }

        mutating func finish(into result: inout [UInt8]) {
            let ordered = (others + own).map { lines[$0] }
            let slots = (others + own).sorted()
            for (slot, line) in zip(slots, ordered) {
                lines[slot] = line
            }
            if own.isEmpty, let last = slots.last, let known {
                lines.insert(known, at: last + 1)
            }
            for line in lines {
                result += line
            }
            lines = []
            own = []
            others = []
        }
    }

    /// The lines, each with its line end.
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = text[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest[...end])
            rest = rest[(end + 1)...]
        }
        if !rest.isEmpty {
            lines.append(rest + [UInt8(ascii: "\n")])
        }
        return lines
    }

    private enum Kind {
        /// A key of `identity`, or of another system.
        case identity, other
        /// METHOD=NONE: no key before it counts any more.
        case none
        /// A segment, a part or an initialization section: the keys before it are for it.
        case end
        case rest

        init(_ line: ArraySlice<UInt8>) {
            guard line.first == UInt8(ascii: "#") else {
                let isBlank = line.allSatisfy { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
                self = isBlank ? .rest : .end
                return
            }
            let ends = [Tag.map, Tag.part, Tag.preloadHint].contains { line.starts(with: ($0.rawValue + ":").utf8) }
            guard !ends else {
                self = .end
                return
            }
            let tag = Tag.key.rawValue + ":"
            guard line.starts(with: tag.utf8) else {
                self = .rest
                return
            }
            let content = line.dropFirst(tag.utf8.count).prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
            let attributes = AttributeList(Array(content))
            if attributes["METHOD"] == "NONE" {
                self = .none
                return
            }
            let format = attributes["KEYFORMAT"] ?? ""
            self = format.isEmpty || format.lowercased() == "identity" ? .identity : .other
        }
    }
}
