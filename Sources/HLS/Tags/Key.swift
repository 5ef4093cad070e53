/// One EXT-X-KEY or EXT-X-SESSION-KEY (RFC 8216 §4.3.2.4, §4.3.4.5).
public struct Key: Sendable {
    /// METHOD.
    public enum Method: Sendable {
        case none, aes128, aes256GCM, sampleAES, sampleAESCTR
        /// An unknown method, such as AES-256. Players that do not know it play its segments as if they were not encrypted.
        case other
    }

    struct Record: Sendable {
        let line: Int32
        let method: Method
        let uri, keyFormat: TextSpan?
        var index: Int32
    }

    let text: PlaylistText
    let record: Record
    /// METHOD.
    public var method: Method { record.method }
    /// URI as written; empty if METHOD is NONE.
    public var uri: String {
        guard let uri = record.uri else { return "" }
        return text.bytes.text(uri.range)
    }
    /// KEYFORMAT; `identity` if absent, empty, or in other letters.
    public var keyFormat: String {
        guard let format = record.keyFormat, !Self.isIdentity(text.bytes, format.range) else { return "identity" }
        return text.bytes.text(format.range)
    }
    /// Index among the playlist's distinct keys (`MediaPlaylist.keys`, `MultivariantPlaylist.sessionKeys`), from 0.
    public var index: Int { Int(record.index) }
    /// Line number, from 1.
    public var line: Int { Int(record.line) + 1 }

    /// IV, 16 bytes; nil if absent: each segment's media sequence number is then the IV.
    public var initializationVector: [UInt8]? {
        guard let value = try? attributes.hexadecimal("IV"), value.count <= 16 else { return nil }
        return [UInt8](repeating: 0, count: 16 - value.count) + value
    }

    /// The vector with which a segment is decrypted: IV, or else the media sequence number (RFC 8216 §5.2).
    public func vector(for segment: Segment) -> [UInt8] {
        if let initializationVector {
            return initializationVector
        }
        let number = UInt64(clamping: Int(segment.mediaSequenceNumber))
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        return [UInt8](repeating: 0, count: 8) + digits
    }

    /// All attributes of the line.
    public var attributes: AttributeList {
        text.attributes(Int(record.line))
    }

    /// True if the key is a file to fetch and store: with a `data:` URI only if that has a key, and with an unknown METHOD
    /// only if the URI is a file's. libavformat ignores KEYFORMAT for AES-128, so that any but a DRM system's is accepted.
    public var isFetchable: Bool {
        guard method != .none, !uri.isEmpty, !isData || data != nil else { return false }
        if keyFormat == "identity" {
            return method != .other || isData || isFile
        }
        return method == .aes128 && isFile && !isOfDRMSystem
    }
    /// True if the URI is relative, or an http or https URL.
    private var isFile: Bool {
        let scheme = uri.utf8.prefix { $0 != UInt8(ascii: ":") }
        let hasScheme = scheme.count < uri.utf8.count && !scheme.contains { "/?#".utf8.contains($0) }
        return !hasScheme || ["http", "https"].contains(String(Substring(scheme)).lowercased())
    }
    private var isOfDRMSystem: Bool {
        let format = keyFormat.lowercased()
        return ["urn:uuid:", "com.apple.", "com.microsoft.", "com.widevine", "com.adobe."].contains {
            format.hasPrefix($0)
        }
    }
    /// The key in a `data:` URI (RFC 2397), of 16 or 32 bytes; nil for any other URI.
    public var data: [UInt8]? {
        guard isData, let comma = uri.utf8.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let header = uri.utf8[..<comma].suffix(7)
        let isBase64 = header.elementsEqual(";base64".utf8) { $0 | 0x20 == $1 | 0x20 }
        let content = Array(uri.utf8[uri.utf8.index(after: comma)...]).percentDecoded
        let key = isBase64 ? Base64.decoded(content) : content
        guard let key, [16, 32].contains(key.count) else { return nil }
        return key
    }
    /// True if its segments need a content decryption module, or a key that the playlist does not name. A `data:` URI of a DRM
    /// system has the system's own data, such as a PSSH box, and no key.
    public var needsDRM: Bool { method != .none && !isFetchable && !(isData && keyFormat == "identity") }
    var isData: Bool { uri.prefix(5).lowercased() == "data:" }

    /// Parses a line. The playlist that collects the distinct keys sets `index`.
    static func parse(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> Record {
        let attributes = text.attributes(line)
        guard let name = attributes.find("METHOD") else {
            throw text.error(.missingAttribute, line: line, "the key has no METHOD")
        }

        let method = Method(text.bytes, name.content)
        let format = attributes.find("KEYFORMAT")?.content
        var isIdentity = true
        if let format {
            isIdentity = Self.isIdentity(text.bytes, format)
        }

        var uri: TextSpan?
        if method != .none, let range = attributes.find("URI")?.content {
            uri = TextSpan(range)
        }

        if method != .none, isIdentity {
            if let vector = try attributes.hexadecimal("IV"), vector.count > 16 {
                throw text.error(.badValue, line: line, "IV is longer than 128 bits")
            }
        }

        return Record(
            line: Int32(line), method: method, uri: uri,
            keyFormat: format.map { TextSpan($0) }, index: -1)
    }

    /// True for a KEYFORMAT that means identity: players know it in any letters, or ignore the attribute.
    static func isIdentity(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        range.isEmpty || bytes[range].elementsEqual("identity".utf8) { $0 | 0x20 == $1 }
    }

    /// True if the IV is the media sequence number of each segment (RFC 8216 §5.2). Applies only to these methods, without IV;
    /// players that know AES-256 read it alike.
    var hasImplicitVector: Bool {
        switch method {
        case .aes128, .sampleAES:
            if keyFormat != "identity", !isFetchable {
                return false
            }
        case .other:
            if !isFetchable {
                return false
            }
        case .none, .aes256GCM, .sampleAESCTR: return false
        }
        return attributes.find("IV") == nil
    }

    static func vector(forSequenceNumber number: SequenceNumber) -> String {
        let digits = String(max(Int(number), 0), radix: 16)
        return "0x" + String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    static func line(_ key: Key, _ edits: AttributeEdits) throws(PlaylistError) -> String {
        var writer = TextWriter(key.text, from: key.text.lines[key.line - 1].content)
        try edits.apply(to: key.attributes, &writer)
        return String(decoding: writer.finished(), as: UTF8.self)
    }
}

extension Key.Method {
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        let known: [(String, Self)] = [
            ("NONE", .none), ("AES-128", .aes128), ("SAMPLE-AES", .sampleAES), ("SAMPLE-AES-CTR", .sampleAESCTR),
            ("AES-256-GCM", .aes256GCM),
        ]
        // ffmpeg takes NONE in any letters, because it knows no such method.
        let isNone = bytes[range].elementsEqual("none".utf8) { $0 | 0x20 == $1 }
        guard !isNone else {
            self = .none
            return
        }
        let match = known.first { bytes.matches(range, $0.0) }
        self = match?.1 ?? .other
    }
}

/// Tracks the keys in force (RFC 8216 §4.3.2.4): each EXT-X-KEY replaces the key of its KEYFORMAT; NONE clears all.
struct KeyScope {
    private struct Identity: Hashable {
        let uri, keyFormat: String
    }

    /// Distinct lines in order of first appearance.
    private(set) var records: [Key.Record] = []
    /// For each EXT-X-KEY line in order, the index of its record.
    private(set) var occurrences: [Int32] = []
    private(set) var sets: [[Int32]] = []
    private var inForce: [Int32] = []
    private var currentSet: Int32 = -1
    private var isCurrent = true
    private var indices: [Identity: Int32] = [:]
    /// The number of distinct keys.
    var count: Int { indices.count }

    /// Returns the set in force; -1 without keys. Created only on request, so that segments bound their number.
    mutating func current() -> Int32 {
        if isCurrent {
            return currentSet
        }
        isCurrent = true
        guard !inForce.isEmpty else {
            currentSet = -1
            return currentSet
        }
        currentSet = Int32(sets.count)
        sets.append(inForce)
        return currentSet
    }

    mutating func read(_ text: PlaylistText, _ line: Int) throws(PlaylistError) {
        let index = try record(text, line)
        occurrences.append(index)
        let key = records[Int(index)]

        if key.method == .none {
            if !inForce.isEmpty {
                inForce = []
                isCurrent = false
            }
            return
        }

        let format = Key(text: text, record: key).keyFormat
        let same = inForce.firstIndex { Key(text: text, record: records[Int($0)]).keyFormat == format }
        if let same {
            if inForce[same] == index {
                return
            }
            inForce[same] = index
        } else {
            if inForce.count == text.limits.keyFormats {
                throw text.error(.overLimit, line: line, "more than \(text.limits.keyFormats) KEYFORMATs are in force")
            }
            inForce.append(index)
        }
        isCurrent = false
    }

    /// Returns the record index of a line. Lines that repeat one of the last four, as in most playlists, are not parsed again.
    private mutating func record(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> Int32 {
        for index in occurrences.suffix(4) {
            let known = Int(records[Int(index)].line)
            if text.bytes.areEqual(text.value(known), text.value(line)) {
                return index
            }
        }
        var record = try Key.parse(text, line)
        let key = Key(text: text, record: record)
        if record.method != .none {
            let identity = Identity(uri: key.uri, keyFormat: key.keyFormat)
            record.index = indices[identity] ?? Int32(indices.count)
            indices[identity] = record.index
        }
        records.append(record)
        return Int32(records.count - 1)
    }
}
