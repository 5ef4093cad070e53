/// Tells a page of text from media, by a body's first bytes.
///
/// Captive portals and broken origins answer 200 with HTML or JSON where a segment should be; neither may become a piece.
/// Nothing more is demanded: encrypted segments look like noise, and players accept odd starts.
enum MediaSignature {
    /// How many bytes are enough to tell.
    static let length = 16

    /// What a body is instead of media, for a message; nil if nothing speaks against it.
    static func imposter(in bytes: some Collection<UInt8>) -> String? {
        var text = Array(bytes.prefix(64))
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        let start = text.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        for (word, name) in [
            ("<!doctype", "HTML"), ("<html", "HTML"), ("<head", "HTML"), ("<?xml", "XML"), ("{\"", "JSON"),
        ]
        where start.starts(with: word.utf8) {
            return name
        }
        return nil
    }
}
