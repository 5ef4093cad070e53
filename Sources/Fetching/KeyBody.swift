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
        if bytes.count < 16 {
            return "has \(bytes.count) bytes, but a key has 16: no player can decrypt with it"
        }
        let isText = bytes.allSatisfy { (0x20..<0x7F).contains($0) || (0x09...0x0D).contains($0) }
        return isText ? "has \(bytes.count) bytes of text, not 16 or 32 as a key" : nil
    }

    /// True for the length of a key of AES-128, and of AES-256.
    private static func isKey(_ count: Int) -> Bool { count == 16 || count == 32 }
}
