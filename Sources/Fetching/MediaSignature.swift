/// Distinguishes a page of text from media, by a body's first bytes.
///
/// Captive portals and broken origins answer 200 with HTML or JSON instead of a segment; neither may become a piece.
/// Nothing else is checked: players accept odd beginnings, and encrypted segments are noise. All of the bytes must be
/// text, so that noise is never taken for a page: for 16 random bytes that happens about once in ten million, even
/// without the page's first word.
package enum MediaSignature {
    /// The number of bytes to check.
    package static let length = 64

    /// Names the content of a body that is not media, for a message; nil if it may be media.
    package static func imposter(in bytes: some Collection<UInt8>) -> String? {
        var text = Array(bytes.prefix(length))
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        guard text.prefix(16).allSatisfy(isText) else { return nil }
        let start = text.drop { isBlank($0) }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return words.first { start.starts(with: $0.word.utf8) }?.name
    }

    private static let words: [(word: String, name: String)] = [
        ("<!doctype", "HTML"), ("<html", "HTML"), ("<head", "HTML"), ("<body", "HTML"), ("<?xml", "XML"),
        ("{", "JSON"), ("[", "JSON"), ("#extm3u", "a playlist"),
    ]

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    private static func isText(_ byte: UInt8) -> Bool { isBlank(byte) || (0x21...0x7E).contains(byte) }
}
