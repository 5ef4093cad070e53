/// Judges a body as a key (RFC 8216 §4.3.2.4: 16 bytes).
///
/// libavformat (ffmpeg, mpv) decrypts with the first 16 bytes of a longer body, hls.js with all of 16, 24 or 32, so that any
/// longer body is passed on as it is. A shorter one decrypts nothing in any player. Nothing marks a key as one, but a text of
/// another length is a message of the origin.
enum KeyBody {
    /// Returns the reason why players cannot decrypt with the body; nil if they can.
    static func fault(_ bytes: [UInt8]) -> String? {
        // Some keys are written with a line end.
        let end = bytes.suffix(2).reversed().prefix { $0 == 0x0A || $0 == 0x0D }.count
        if isKey(bytes.count) || isKey(bytes.count - end) {
            return nil
        }
        if textForm(of: bytes) != nil {
            return nil
        }
        if bytes.count < 16 {
            return "has \(bytes.count) bytes, but a key has 16: no player can decrypt with it"
        }
        let isText = bytes.allSatisfy { (0x20..<0x7F).contains($0) || (0x09...0x0D).contains($0) }
        return isText ? "has \(bytes.count) bytes of text, not 16 or 32 as a key" : nil
    }

    /// Names the text in which a key of 16 bytes is written, as `openssl rand -hex 16` writes it; nil for anything else.
    ///
    /// Some packagers encrypt with the first 16 characters, as libavformat decrypts; the others use what the text says, and no
    /// player can decrypt.
    static func textForm(of bytes: [UInt8]) -> String? {
        guard (22...40).contains(bytes.count) else { return nil }
        var text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        if text.hasPrefix("0x") {
            text.removeFirst(2)
        }
        let digits = text.filter { $0 != "-" }
        if digits.count == 32, digits.allSatisfy(\.isHexDigit) {
            return "hexadecimal digits"
        }
        let letters = text.prefix { $0 != "=" }
        let isBase64 =
            letters.count == 22 && text.count <= 24
            && letters.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "+/-_".utf8.contains(byte)
            }
        return isBase64 ? "Base64" : nil
    }

    /// True for the length of a key of AES-128, and of AES-256.
    private static func isKey(_ count: Int) -> Bool { count == 16 || count == 32 }
}
