import SegmentFormat

/// Distinguishes a page of text from media, by a body's first bytes.
///
/// Captive portals and broken origins answer 200 with HTML or JSON instead of a segment; neither may become a piece.
/// All of the bytes must be text, so that noise is never taken for a page: for 16 random bytes that happens about once in
/// ten million, even without the page's first word.
package enum MediaSignature {
    /// The number of bytes to check.
    package static let length = 64
    /// Fewer random bytes may look like text.
    static let leastLength = 16

    /// So many bytes, all of them text, are text throughout; a transport stream of text would be recognised by its packets.
    static let textLength = 752

    /// True if the bytes are printable text in UTF-8, or in UTF-16 with its mark. The last character may be cut.
    package static func isText(_ bytes: some Collection<UInt8>) -> Bool {
        var bytes = MediaRecognition.beginning(of: bytes, textLength)
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return isWideText(bytes)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || isBlank($0) }) else { return false }
        while let last = bytes.last, last >= 0x80, bytes.count > textLength - 4 {
            bytes.removeLast()
        }
        return String(validating: bytes, as: UTF8.self) != nil
    }

    private static func isWideText(_ bytes: [UInt8]) -> Bool {
        let isLittle = bytes[0] == 0xFF
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let first = UInt16(bytes[index])
            let second = UInt16(bytes[index + 1])
            return isLittle ? second << 8 | first : first << 8 | second
        }
        // Noise is valid UTF-16 too often: text has letters or blanks of ASCII.
        let ascii = units.count { $0 < 0x80 }
        guard ascii > 0, ascii >= units.count / 8, !units.contains(where: { $0 < 0x20 && !isBlank(UInt8($0)) }) else {
            return false
        }
        var whole = units[...]
        if let last = units.last, UTF16.isLeadSurrogate(last) {
            whole = units.dropLast()
        }
        return String(validating: whole, as: UTF16.self) != nil
    }

    /// Names the content of a body that is not media, for a message; nil if it may be media.
    package static func imposter(in bytes: some Collection<UInt8>) -> String? {
        var text = MediaRecognition.beginning(of: bytes, length)
        // Most media: a transport stream. None of the words begins so.
        if text.first == 0x47 {
            return nil
        }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            text.removeFirst(3)
        }
        if let narrow = narrowed(text) {
            text = narrow
        }
        guard text.prefix(leastLength).allSatisfy(isText) else { return nil }
        let start = text.drop { isBlank($0) }.map { small($0) }
        if start.isEmpty {
            return text.count >= leastLength ? "blank text" : nil
        }
        let found = words.first { start.starts(with: $0.word.utf8) }?.name
        if found != nil, start.first == UInt8(ascii: "<"), isTimedText(bytes) {
            return "TTML subtitles"
        }
        return found
    }

    /// True for the markup of TTML, which stands behind a declaration and comments. HLS has it in MP4 alone (IMSC1).
    private static func isTimedText(_ bytes: some Collection<UInt8>) -> Bool {
        let text = String(decoding: MediaRecognition.beginning(of: bytes, MediaRecognition.firstLook), as: UTF8.self)
        return ["<tt ", "<tt>", "<tt:tt ", "<tt:tt>"].contains { text.contains($0) }
    }

    /// True if the first bytes of a body are media, or as nothing but media and ciphertext is: no text.
    package static func mayBeMedia(_ bytes: some Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty, imposter(in: bytes) == nil else { return false }
        return MediaRecognition.recognises(bytes, isWhole: false) || !isText(bytes)
    }

    /// `<` begins markup of any kind; no media begins with printable text and `<`.
    private static let words: [(word: String, name: String)] = [
        ("<?xml", "XML"), ("<", "HTML"), ("{", "JSON"), ("[", "JSON"), ("#extm3u", "a playlist"),
    ]

    /// The text of UTF-16 whose characters are all of ASCII, with a byte order mark or without one; nil for anything else.
    private static func narrowed(_ text: [UInt8]) -> [UInt8]? {
        let hasMark = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
        let units = text.dropFirst(hasMark ? 2 : 0).prefix(32)
        guard units.count >= 8 else { return nil }
        let even = stride(from: 0, to: units.count - 1, by: 2)
        let odd = stride(from: 1, to: units.count, by: 2)
        let all = Array(units)
        if even.allSatisfy({ all[$0] == 0 }) {
            return odd.map { all[$0] }
        }
        guard odd.allSatisfy({ all[$0] == 0 }) else { return nil }
        return even.map { all[$0] }
    }

    /// A capital letter of ASCII as a small one; any other byte as it is.
    private static func small(_ byte: UInt8) -> UInt8 {
        guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) else { return byte }
        return byte | 0x20
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    private static func isText(_ byte: UInt8) -> Bool { isBlank(byte) || (0x21...0x7E).contains(byte) }
}

/// The judgement of a body by its first bytes.
enum BodyVerdict: Equatable {
    /// It is what its resource should be, or cannot be judged.
    case expected
    /// It is no media that is known. A player may know it.
    case unknown
    /// It is this, and not what its resource should be.
    case imposter(String)

    /// - Parameters:
    ///   - bytes: the first bytes, at most `MediaRecognition.length` of which are looked at.
    ///   - isWhole: true if there are no more.
    ///   - isCiphertext: true if the resource is encrypted as a whole, so that it may look like anything but text.
    init(of bytes: some Collection<UInt8>, as resource: Resource, isWhole: Bool, isCiphertext: Bool) {
        guard let expected = resource.expectedContent, !bytes.isEmpty else {
            self = .expected
            return
        }
        // Cues of which there are none.
        if isWhole, bytes.count < MediaSignature.leastLength, bytes.allSatisfy(MediaSignature.isBlank),
            ["vtt", "webvtt"].contains(resource.name.fileExtension)
        {
            self = .expected
            return
        }
        if let found = MediaSignature.imposter(in: bytes), found != expected {
            self = .imposter(found)
            return
        }
        if case .data = resource.name.role {
            self = .expected
            return
        }
        let isLong = bytes.count >= MediaSignature.textLength
        if MediaRecognition.recognises(bytes, isWhole: isWhole, isText: MediaSignature.isText(bytes))
            || PieceName.pictures.contains(resource.name.fileExtension) && MediaRecognition.isPicture(bytes)
        {
            self = .expected
        } else if MediaSignature.isText(bytes), isLong || isWhole && resource.range == nil {
            self = .imposter("text")
        } else {
            // Players join ranges, which may begin anywhere.
            self = isCiphertext || resource.range != nil ? .expected : .unknown
        }
    }
}
