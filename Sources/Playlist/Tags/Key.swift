/// One EXT-X-KEY or EXT-X-SESSION-KEY (RFC 8216 §4.3.2.4, §4.3.4.5).
public struct Key: Sendable {
    /// METHOD.
    public enum Method: Sendable {
        case none
        case aes128
        case aes256GCM
        case sampleAES
        case sampleAESCTR
        /// A method that no text defines: players would play its segments as if they were clear.
        case other
    }

    /// The places of one line's values; the index says which distinct key it names.
    struct Record: Sendable {
        let line: Int32
        let method: Method
        let uri: TextSpan?
        let keyFormat: TextSpan?
        var index: Int32
    }

    let text: PlaylistText
    let record: Record

    /// METHOD.
    public var method: Method { record.method }

    /// URI as written; empty where METHOD is NONE.
    public var uri: String { record.uri.map { text.bytes.text($0.range) } ?? "" }

    /// KEYFORMAT; `identity` where it is absent.
    public var keyFormat: String { record.keyFormat.map { text.bytes.text($0.range) } ?? "identity" }

    /// KEYFORMATVERSIONS, the versions of KEYFORMAT that the key goes with, split at slashes; 1 where it is absent.
    public var keyFormatVersions: [Int] {
        let versions = attributes["KEYFORMATVERSIONS"] ?? "1"
        return versions.utf8.split(separator: UInt8(ascii: "/")).compactMap { Int(Substring($0)) }
    }

    /// The place among the playlist's distinct keys (`MediaPlaylist.keys`, `MultivariantPlaylist.sessionKeys`), from 0.
    public var index: Int { Int(record.index) }

    /// The number of the line, from 1.
    public var line: Int { Int(record.line) + 1 }

    /// IV, 16 bytes; nil where it is absent: the media sequence number of each segment then stands for it.
    public var initializationVector: [UInt8]? {
        guard let value = try? attributes.hexadecimal("IV"), value.count <= 16 else { return nil }
        return [UInt8](repeating: 0, count: 16 - value.count) + value
    }

    /// All attributes of the line.
    public var attributes: AttributeList {
        (try? text.attributes(Int(record.line))) ?? AttributeList(empty: text.bytes, line: Int(record.line))
    }

    /// Whether the key is a plain file that can be fetched, kept and served: KEYFORMAT `identity`, a METHOD that is
    /// known, and no `data:` URI, which carries its key with it.
    public var isFetchable: Bool {
        method != .none && method != .other && keyFormat == "identity" && !isData
    }

    /// Whether what it encrypts needs a content decryption module, so that a stored copy would be of no use.
    public var needsDRM: Bool { method != .none && (method == .other || keyFormat != "identity") }

    private var isData: Bool { uri.prefix(5).lowercased() == "data:" }
}

extension Key {
    /// Reads the attributes of a line; its index is set by the playlist that collects the distinct ones.
    static func parse(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> Record {
        let attributes = try text.attributes(line, limits)
        guard let name = attributes.find("METHOD") else {
            throw text.error(.missingAttribute, line, "the key has no METHOD")
        }
        let method = Method(text.bytes, name.content)
        let format = attributes.find("KEYFORMAT")?.content
        let isIdentity = format.map { text.bytes.matches($0, "identity") } ?? true
        let uri = attributes.find("URI")?.content
        if method != .none, isIdentity {
            if uri?.isEmpty ?? true { throw text.error(.missingAttribute, line, "the key has no URI") }
            if let vector = try attributes.hexadecimal("IV"), vector.count > 16 {
                throw text.error(.badValue, line, "IV is longer than 128 bits")
            }
        }
        return Record(
            line: Int32(line), method: method, uri: method == .none ? nil : uri.map { TextSpan($0) },
            keyFormat: format.map { TextSpan($0) }, index: -1)
    }
}

extension Key {
    /// Whether the media sequence number of each segment stands for the IV that is not given (RFC 8216 §5.2): with
    /// these methods and no other.
    var hasImplicitVector: Bool {
        guard keyFormat == "identity", method == .aes128 || method == .sampleAES else { return false }
        return attributes.find("IV") == nil
    }

    /// The IV that a media sequence number stands for, in 128 bits, big-endian.
    static func vector(forSequenceNumber number: Int) -> String {
        let digits = String(number, radix: 16)
        return "0x" + String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    /// The key's line anew, with changes.
    static func line(_ key: Key, _ edits: AttributeEdits) throws(PlaylistError) -> String {
        var writer = TextWriter(key.text, from: key.text.lines[key.line - 1].content)
        try edits.apply(to: key.attributes, &writer)
        return String(decoding: writer.finished(), as: UTF8.self)
    }
}

extension Key.Method {
    /// Reads an enumerated-string.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        let known: [(String, Self)] = [
            ("NONE", .none), ("AES-128", .aes128), ("SAMPLE-AES", .sampleAES), ("SAMPLE-AES-CTR", .sampleAESCTR),
            ("AES-256-GCM", .aes256GCM),
        ]
        self = known.first { bytes.matches(range, $0.0) }?.1 ?? .other
    }
}
