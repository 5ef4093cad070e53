/// Mends one attribute list: omits what cannot be read, and writes values in the form of their type.
struct AttributeMender {
    let tag: Tag
    let list: AttributeList
    /// The list to write; nil if it is well-formed.
    private(set) var value: [UInt8]?
    /// The reasons why values were changed or omitted.
    private(set) var faults: [String] = []
    /// The reason why the tag is useless without an attribute; nil if it has all that it needs.
    private(set) var missing: String?
    private var written: [(name: String, value: [UInt8])] = []
    private var isChanged = false

    init(tag: Tag, list: AttributeList) {
        self.tag = tag
        self.list = list
    }

    mutating func run() {
        if !isWellFormed {
            mend()
        }
    }

    /// True if there is nothing to mend, found out without a copy of any value. Only for the tags of which a multivariant playlist
    /// has many; false for some well-formed lists too.
    var isWellFormed: Bool {
        guard tag == .streamInf || tag == .media || tag == .iFrameStreamInf, list.fault == nil, list.isCompact,
            let index = tag.attributeIndex
        else { return false }
        return list.attributes.allSatisfy { isWellFormed($0, index) } && hasNeededAttributes
    }

    private func isWellFormed(_ attribute: AttributeList.Attribute, _ index: AttributeIndex) -> Bool {
        guard let (name, type) = index.entry(list.bytes, attribute.name), type.fits(attribute, named: name, of: list)
        else {
            return false
        }
        // More than one form can be read.
        guard type == .resolution, let resolution = try? list.resolution(name) else { return true }
        return list.bytes.matches(attribute.value, "\(resolution)")
    }

    /// False for subtitles and closed captions too, which have rules of their own: see `checkRequired` and `isSafe`.
    private var hasNeededAttributes: Bool {
        guard tag.neededAttributes.allSatisfy({ !(list.find($0)?.content.isEmpty ?? true) }) else { return false }
        guard tag == .media else { return true }
        let kind = list.find("TYPE")?.content ?? 0..<0
        return [Media.Kind.audio, .video].contains { list.bytes.matches(kind, $0.rawValue) }
    }

    /// Reads all values, and writes them again if one of them changed.
    mutating func mend() {
        isChanged = list.fault != nil || !list.isCompact
        let types = tag.attributeTypes
        for attribute in list.attributes {
            read(attribute, types)
        }
        joinCodecs()
        checkRequired()
        guard isChanged else { return }
        value = Array(
            written.map { Array("\($0.name)=".utf8) + $0.value }.joined(separator: [UInt8(ascii: ",")]))
    }

    private mutating func read(_ attribute: AttributeList.Attribute, _ types: [String: AttributeType]?) {
        var name = list.bytes.text(attribute.name)
        if types != nil, types?[name] == nil, types?[name.uppercased()] != nil {
            name = name.uppercased()
            isChanged = true
        }
        omitEarlier(name)
        let written = Array(list.bytes[attribute.value])
        guard let type = types?[name] else { return self.written.append((name, written)) }
        guard let mended = mended(attribute, as: type, named: name) else {
            faults.append(fault(of: attribute, as: type, named: name))
            isChanged = true
            return
        }
        if mended != written {
            isChanged = true
            if !attribute.isQuoted, type != .quoted {
                faults.append("\(name) is not \(type.description)")
            }
        }
        self.written.append((name, mended))
    }

    /// Of a name that is repeated in other letters the last value counts, as of one that is repeated in the same.
    private mutating func omitEarlier(_ name: String) {
        guard let earlier = written.firstIndex(where: { $0.name == name }) else { return }
        written.remove(at: earlier)
        isChanged = true
        faults.append("\(name) is repeated")
    }
    /// The reason why a value cannot be mended.
    private func fault(of attribute: AttributeList.Attribute, as type: AttributeType, named name: String) -> String {
        if tag == .media, name == "URI", attribute.isQuoted {
            return "URI is not allowed for closed captions"
        }
        guard type == .quoted else { return "\(name) is not \(type.description)" }
        return "\(name) cannot be used"
    }
    /// Returns the value in the form of its type; nil if it cannot be read.
    private func mended(
        _ attribute: AttributeList.Attribute, as type: AttributeType, named name: String
    ) -> [UInt8]? {
        let content = list.bytes.trimmed(attribute.content)
        let value = Array(list.bytes[content])
        if !isSafe(attribute, name) {
            return nil
        }
        switch type {
        case .any: return Array(list.bytes[attribute.value])
        case .quoted:
            if attribute.isQuoted {
                return Array(list.bytes[attribute.value])
            }
            return [UInt8(ascii: "\"")] + value.filter { $0 != UInt8(ascii: "\"") } + [UInt8(ascii: "\"")]
        case .enumerated:
            let isWord = !value.contains { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard attribute.isQuoted, isWord else { return Array(list.bytes[attribute.value]) }
            return value
        case .flag:
            let word = list.bytes.text(content).uppercased()
            guard word == "YES" || word == "NO" else { return nil }
            return Array(word.utf8)
        case .integer: return integer(content)
        case .float: return float(content)
        case .signed: return signed(content)
        case .hexadecimal:
            guard (try? list.hexadecimal(name)) != nil else { return nil }
            return value
        case .resolution:
            guard let resolution = try? list.resolution(name) else { return nil }
            return Array("\(resolution)".utf8)
        }
    }

    /// False for values of attributes that the parsers would refuse although their type is right.
    private func isSafe(_ attribute: AttributeList.Attribute, _ name: String) -> Bool {
        switch (tag, name) {
        case (.map, "BYTERANGE"): return (try? list.subRange(name)) != nil
        case (.part, "BYTERANGE"):
            guard let parts = SubRange.parts(list.bytes, attribute.content) else { return false }
            return SubRange(offset: parts.offset ?? 0, length: parts.length) != nil
        case (.key, "IV"), (.sessionKey, "IV"):
            guard let vector = try? list.hexadecimal(name) else { return false }
            return vector.count <= 16
        case (.part, "DURATION"), (.partInf, "PART-TARGET"):
            guard let duration = list.bytes.decimalFloat(attribute.content) else { return false }
            return duration <= Inf.longest
        case (.preloadHint, "BYTERANGE-LENGTH"):
            guard let length = try? list.decimalInteger(name) else { return false }
            let start = try? list.decimalInteger("BYTERANGE-START")
            return SubRange(offset: start ?? 0, length: length) != nil
        case (.media, "URI"): return list["TYPE"] != Media.Kind.closedCaptions.rawValue
        default: return true
        }
    }

    private func integer(_ content: Range<Int>) -> [UInt8]? {
        // A doubled `=` is a part of the value.
        let start = list.bytes[content].firstIndex { $0 != UInt8(ascii: "=") } ?? content.upperBound
        let content = list.bytes.trimmed(start..<content.upperBound)
        if list.bytes.decimalInteger(content) != nil {
            return Array(list.bytes[content])
        }
        let largest = Double(Int.max / 2)
        guard let number = Number.leading(list.bytes, content, upTo: largest) else { return nil }
        let scales: [UInt8: Double] = [UInt8(ascii: "k"): 1e3, UInt8(ascii: "m"): 1e6]
        if let last = list.bytes[content].last, let scale = scales[last | 0x20] {
            let digits = Array(number.utf8)
            guard let value = digits.decimalFloat(0..<digits.count), value < 1e12 else { return nil }
            return Array("\(Int(value * scale))".utf8)
        }
        return Number.integer(number).map { Array($0.utf8) }
    }

    /// Reads a ratio such as `30000/1001` as its quotient.
    private func float(_ content: Range<Int>) -> [UInt8]? {
        if list.bytes.decimalFloat(content) != nil {
            return Array(list.bytes[content])
        }
        if let slash = list.bytes.firstIndex(of: UInt8(ascii: "/"), in: content),
            let first = list.bytes.decimalFloat(list.bytes.trimmed(content.lowerBound..<slash)),
            let second = list.bytes.decimalFloat(list.bytes.trimmed(slash + 1..<content.upperBound)), second > 0,
            first / second < 1e9
        {
            return Array(Number.decimal(Double(Int(first / second * 1000 + 0.5)) / 1000).utf8)
        }
        return Number.leading(list.bytes, content, upTo: 1e15).map { Array($0.utf8) }
    }

    private func signed(_ content: Range<Int>) -> [UInt8]? {
        guard let first = content.first else { return nil }
        let isNegative = list.bytes[first] == UInt8(ascii: "-")
        var start = first
        if isNegative {
            start += 1
        }
        let digits = start..<content.upperBound
        if list.bytes.decimalFloat(digits) != nil {
            return Array(list.bytes[content])
        }
        guard let number = Number.leading(list.bytes, digits, upTo: 1e9) else { return nil }
        let sign = isNegative ? "-" : ""
        return Array((sign + number).utf8)
    }

    /// Without quotes, a list of codecs ends at its first comma. The elements after it are codecs if they have no `=`.
    private mutating func joinCodecs() {
        guard tag.attributeTypes?["CODECS"] == .quoted,
            let attributeIndex = list.attributes.firstIndex(where: { list.bytes.matches($0.name, "CODECS") }),
            !list.attributes[attributeIndex].isQuoted, let index = written.firstIndex(where: { $0.name == "CODECS" })
        else { return }
        let start = list.attributes[attributeIndex].value.upperBound
        var limit = list.end
        if attributeIndex + 1 < list.attributes.count {
            limit = list.attributes[attributeIndex + 1].name.lowerBound
        }
        let rest = list.bytes.trimmed(start..<limit)
        let codecs = Array(list.bytes[rest]).split(separator: UInt8(ascii: ",")).map { element in
            Array(element.filter { !$0.isBlank && $0 != UInt8(ascii: "\"") })
        }.filter { !$0.isEmpty }
        guard !codecs.isEmpty else { return }
        let joined = [Array(written[index].value.dropFirst().dropLast())] + codecs
        let quote = [UInt8(ascii: "\"")]
        written[index].value = quote + joined.joined(separator: [UInt8(ascii: ",")]) + quote
    }

    private mutating func checkRequired() {
        for name in tag.neededAttributes where text(name).isEmpty {
            missing = "the attribute \(name) is missing or cannot be read"
            return
        }
        switch tag {
        // Without its range, a part would be the whole resource.
        case .part where list["BYTERANGE"] != nil && text("BYTERANGE").isEmpty:
            missing = "the byte range cannot be read"
        // A key without a URI stays: without it, the segments would be taken for clear ones.
        case .sessionKey where isIdentityKey && text("URI").isEmpty: missing = "the key has no URI"
        case .media:
            guard let kind = Media.Kind(rawValue: text("TYPE")) else {
                return missing = "TYPE is not AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS"
            }
            if kind == .subtitles, text("URI").isEmpty {
                missing = "subtitles without a URI"
            }
        default: break
        }
    }

    /// A written value without its quotes; empty if it is absent.
    private func text(_ name: String) -> String {
        let value = written.first { $0.name == name }?.value ?? []
        return String(decoding: value.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    private var isIdentityKey: Bool { text("METHOD") != "NONE" && ["", "identity"].contains(text("KEYFORMAT")) }
}

extension AttributeList {
    /// True if one comma separates the attributes, and no blanks surround names and values.
    var isCompact: Bool {
        for (attributeIndex, attribute) in attributes.enumerated() {
            if attribute.value.lowerBound != attribute.name.upperBound + 1 {
                return false
            }
            if attributeIndex > 0, attribute.name.lowerBound != attributes[attributeIndex - 1].value.upperBound + 1 {
                return false
            }
        }
        guard let first = attributes.first, let last = attributes.last else { return true }
        return first.name.lowerBound == start && last.value.upperBound == end
    }
}

extension Tag {
    /// Attributes without which a tag is useless. EXT-X-SKIP stays: without its number, segments would be misnumbered.
    var neededAttributes: [String] {
        switch self {
        case .key, .sessionKey: ["METHOD"]
        case .map, .renditionReport, .iFrameStreamInf: ["URI"]
        case .part: ["URI", "DURATION"]
        case .preloadHint: ["TYPE", "URI"]
        case .partInf: ["PART-TARGET"]
        case .media: ["TYPE", "GROUP-ID"]
        case .start: ["TIME-OFFSET"]
        default: []
        }
    }
}
