/// Checks one attribute list against the definition of its tag.
struct AttributeCheck {
    let tag: Tag
    let attributes: AttributeList

    func run(_ findings: inout Findings) {
        let line = attributes.line + 1
        if !attributes.isCompact, attributes.fault == nil {
            findings.add(.attributeBlank, line: line, "blanks or empty elements in an attribute list")
        }
        for name in tag.requiredAttributes where attributes[name]?.isEmpty ?? true {
            findings.add(.attributeMissing, line: line, clause: tag.clause, "the attribute \(name) is missing")
        }
        if tag == .key || tag == .sessionKey {
            checkKey(line, &findings)
        }
        guard let types = tag.attributeTypes else { return }
        for attribute in attributes.attributes {
            check(attribute, type: types[attributes.bytes.text(attribute.name)], line: line, &findings)
        }
    }

    private func checkKey(_ line: Int, _ findings: inout Findings) {
        func report(_ message: String) { findings.add(.keyAttributes, line: line, clause: tag.clause, message) }
        if attributes["METHOD"] == "NONE" {
            if tag == .sessionKey {
                report("METHOD is NONE: nothing is encrypted")
            } else if attributes.attributes.count > 1 {
                report("METHOD=NONE with other attributes")
            }
        } else if attributes.find("IV")?.isQuoted == false,
            let vector = (try? attributes.hexadecimal("IV")) ?? nil, vector.count < 16
        {
            // libavformat appends zeros, others prepend them, and hls.js cannot decrypt the segments.
            report("IV has \(vector.count * 8) bits, not 128: players disagree about the rest")
        }
    }

    private func check(
        _ attribute: AttributeList.Attribute, type: AttributeType?, line: Int, _ findings: inout Findings
    ) {
        let name = attributes.bytes.text(attribute.name)
        guard let type else { return checkUnknown(name, line: line, &findings) }
        // The parser checks the value after its variables have been replaced (rfc8216bis §4.3).
        if type == .hexadecimal, VariableTable.mayRefer(attributes.bytes, attribute.value) {
            return
        }
        guard type.fits(attribute, named: name, of: attributes) else {
            findings.add(mistyped: name, line: line, clause: tag.clause(of: name), type)
            return
        }
        if type == .hexadecimal, attributes.bytes[attribute.value].dropFirst(2).contains(where: { $0 >= 0x61 }) {
            findings.add(.hexadecimalCase, line: line, "\(name) has lowercase letters in a hexadecimal-sequence")
        }
    }

    /// Clients must ignore attributes that they do not know (RFC 8216 §6.3.1). Reported are those of other tags, and names that
    /// are probably misspelt; not those of vendors.
    private func checkUnknown(_ name: String, line: Int, _ findings: inout Findings) {
        func report(_ message: String) { findings.add(.attributeUnknown, line: line, clause: tag.clause, message) }
        let owner = "the attribute \(PlaylistError.excerpt(of: name)) is not defined for \(tag.rawValue.dropFirst())"
        if name.hasPrefix("X-") {
            return
        }
        if Tag.attributeNames.contains(name) {
            report("\(owner): players ignore it")
        } else if let meant = Spelling((tag.attributeTypes ?? [:]).keys).correction(of: name) {
            report("\(owner), although it resembles \(meant): players ignore it")
        }
    }
}

/// Types of attribute values (RFC 8216 §4.2).
enum AttributeType {
    /// `flag` stands for the enumerated-strings YES and NO, `any` for more than one type.
    case quoted, enumerated, flag, integer, float, signed, hexadecimal, resolution, any

    var description: String {
        switch self {
        case .quoted: "a quoted-string"
        case .enumerated: "an enumerated-string"
        case .flag: "YES or NO"
        case .integer: "a decimal-integer"
        case .float: "a decimal-floating-point"
        case .signed: "a signed-decimal-floating-point"
        case .hexadecimal: "a hexadecimal-sequence"
        case .resolution: "a decimal-resolution"
        case .any: "anything"
        }
    }

    func fits(_ attribute: AttributeList.Attribute, named name: String, of list: AttributeList) -> Bool {
        if self == .any {
            return true
        }
        if self == .quoted {
            return attribute.isQuoted
        }
        if attribute.isQuoted {
            return false
        }
        let value = list.bytes[attribute.value]
        switch self {
        case .flag: return value.elementsEqual("YES".utf8) || value.elementsEqual("NO".utf8)
        case .integer: return list.bytes.decimalInteger(attribute.value) != nil
        case .float: return list.bytes.decimalFloat(attribute.value) != nil
        case .signed: return list.timeOffset(name) != nil
        case .hexadecimal: return (try? list.hexadecimal(name)) ?? nil != nil
        case .resolution: return (try? list.resolution(name)) ?? nil != nil
        default: return !value.isEmpty && !value.contains { $0.isBlank || $0 == UInt8(ascii: "\"") }
        }
    }
}

/// The attributes of a tag by the length of their names, so that hardly any is compared in vain, and no string is made.
struct AttributeIndex {
    typealias Entry = (name: String, type: AttributeType)
    private var entries: [[Entry]]

    init(_ types: [String: AttributeType]) {
        entries = Array(repeating: [], count: (types.keys.map(\.utf8.count).max() ?? 0) + 1)
        for (name, type) in types {
            entries[name.utf8.count].append((name, type))
        }
    }

    /// Returns the attribute that the bytes name; nil if the tag has none.
    func entry(_ bytes: [UInt8], _ name: Range<Int>) -> Entry? {
        guard name.count < entries.count else { return nil }
        return entries[name.count].first { bytes.matches(name, $0.name) }
    }
}

extension Tag {
    /// The attributes defined for the tag; nil for unknown tags and tags without an attribute list.
    var attributeTypes: [String: AttributeType]? { Self.types[self] }

    /// As `attributeTypes`, for names that are bytes.
    var attributeIndex: AttributeIndex? { Self.indexes[self] }
    private static let indexes = types.mapValues(AttributeIndex.init)

    /// The attributes of all tags.
    static let attributeNames = Set(types.values.flatMap(\.keys))

    /// Required attributes without which the parser still accepts a playlist.
    var requiredAttributes: [String] {
        switch self {
        case .streamInf, .iFrameStreamInf: ["BANDWIDTH"]
        case .media: ["NAME"]
        case .sessionData: ["DATA-ID"]
        case .dateRange: ["ID"]
        case .contentSteering: ["SERVER-URI"]
        case .start: ["TIME-OFFSET"]
        case .imageStreamInf: ["URI"]
        default: []
        }
    }

    /// The clause that defines an attribute: in RFC 8216, or else in rfc8216bis.
    func clause(of attribute: String) -> String {
        switch (self, attribute) {
        case (.streamInf, _) where Self.laterOfVariants.contains(attribute),
            (.iFrameStreamInf, _) where Self.laterOfVariants.contains(attribute):
            "rfc8216bis §4.4.6.2"
        case (.media, "STABLE-RENDITION-ID"), (.media, "BIT-DEPTH"), (.media, "SAMPLE-RATE"), (.media, "PATHWAY-ID"):
            "rfc8216bis §4.4.6.1"
        case (.sessionData, "FORMAT"): "rfc8216bis §4.4.6.4"
        default: clause
        }
    }

    /// Attributes of variants that RFC 8216 does not have.
    private static let laterOfVariants: Set<String> = [
        "SCORE", "SUPPLEMENTAL-CODECS", "ALLOWED-CPC", "VIDEO-RANGE", "REQ-VIDEO-LAYOUT", "STABLE-VARIANT-ID",
        "PATHWAY-ID",
    ]

    /// KEYID is de facto: Shaka Player and hls.js read it.
    private static let keyTypes: [String: AttributeType] = [
        "METHOD": .enumerated, "URI": .quoted, "IV": .hexadecimal, "KEYFORMAT": .quoted, "KEYFORMATVERSIONS": .quoted,
        "KEYID": .any,
    ]

    /// Attributes of both EXT-X-STREAM-INF and EXT-X-I-FRAME-STREAM-INF. NAME and PROGRAM-ID are de facto.
    private static let variantTypes: [String: AttributeType] = [
        "BANDWIDTH": .integer, "AVERAGE-BANDWIDTH": .integer, "SCORE": .float, "CODECS": .quoted,
        "SUPPLEMENTAL-CODECS": .quoted, "RESOLUTION": .resolution, "HDCP-LEVEL": .enumerated, "ALLOWED-CPC": .quoted,
        "VIDEO-RANGE": .enumerated, "REQ-VIDEO-LAYOUT": .quoted, "STABLE-VARIANT-ID": .quoted, "VIDEO": .quoted,
        "PATHWAY-ID": .quoted, "NAME": .quoted, "PROGRAM-ID": .integer,
    ]

    private static let types: [Tag: [String: AttributeType]] = [
        .start: ["TIME-OFFSET": .signed, "PRECISE": .flag],
        .define: ["NAME": .quoted, "VALUE": .quoted, "IMPORT": .quoted, "QUERYPARAM": .quoted],
        .key: keyTypes, .sessionKey: keyTypes,
        .map: ["URI": .quoted, "BYTERANGE": .quoted],
        .dateRange: [
            "ID": .quoted, "CLASS": .quoted, "START-DATE": .quoted, "CUE": .quoted, "END-DATE": .quoted,
            "DURATION": .float, "PLANNED-DURATION": .float, "SCTE35-CMD": .hexadecimal, "SCTE35-OUT": .hexadecimal,
            "SCTE35-IN": .hexadecimal, "END-ON-NEXT": .enumerated,
        ],
        .partInf: ["PART-TARGET": .float],
        .serverControl: [
            "CAN-SKIP-UNTIL": .float, "CAN-SKIP-DATERANGES": .flag, "HOLD-BACK": .float, "PART-HOLD-BACK": .float,
            "CAN-BLOCK-RELOAD": .flag,
        ],
        .part: ["URI": .quoted, "DURATION": .float, "INDEPENDENT": .flag, "BYTERANGE": .quoted, "GAP": .flag],
        .preloadHint: [
            "TYPE": .enumerated, "URI": .quoted, "BYTERANGE-START": .integer, "BYTERANGE-LENGTH": .integer,
        ],
        .renditionReport: ["URI": .quoted, "LAST-MSN": .integer, "LAST-PART": .integer],
        .skip: ["SKIPPED-SEGMENTS": .integer, "RECENTLY-REMOVED-DATERANGES": .quoted],
        .media: [
            "TYPE": .enumerated, "URI": .quoted, "GROUP-ID": .quoted, "LANGUAGE": .quoted, "ASSOC-LANGUAGE": .quoted,
            "NAME": .quoted, "STABLE-RENDITION-ID": .quoted, "DEFAULT": .flag, "AUTOSELECT": .flag, "FORCED": .flag,
            "INSTREAM-ID": .quoted, "BIT-DEPTH": .integer, "SAMPLE-RATE": .integer, "CHARACTERISTICS": .quoted,
            "CHANNELS": .quoted, "PATHWAY-ID": .quoted,
        ],
        .streamInf: variantTypes.merging(
            ["FRAME-RATE": .float, "AUDIO": .quoted, "SUBTITLES": .quoted, "CLOSED-CAPTIONS": .any]
        ) { first, _ in first },
        .iFrameStreamInf: variantTypes.merging(["URI": .quoted]) { first, _ in first },
        .sessionData: [
            "DATA-ID": .quoted, "VALUE": .quoted, "URI": .quoted, "FORMAT": .enumerated, "LANGUAGE": .quoted,
        ],
        .contentSteering: ["SERVER-URI": .quoted, "PATHWAY-ID": .quoted],
    ]
}
