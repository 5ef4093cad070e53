import Testing

@testable import Fetching

@Suite struct KeyBodyTests {
    private static let binary = [UInt8](0..<64)
    private static func text(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "a"), count: count) }

    @Test(
        arguments: [
            (Array(binary[..<16]), nil), (Array(binary[..<32]), nil), (text(16), nil), (text(32), nil),
            (text(16) + [0x0A], nil), (text(32) + [0x0D, 0x0A], nil),
            // The first 16 bytes are the key in libavformat.
            (Array(binary[..<24]), nil), (Array(binary[..<17]), nil), (binary, nil),
            ([], "0 bytes"), (Array(binary[..<15]), "15 bytes, but"), (text(15) + [0x0A], "16"),
            (text(24), "24 bytes of text"), (text(48), "48 bytes of text"),
        ] as [([UInt8], String?)])
    func lengths(_ bytes: [UInt8], _ fault: String?) {
        let found = KeyBody.fault(bytes)
        // 15 letters and a line end have the length of a key.
        if bytes.count == 16 {
            return #expect(found == nil)
        }
        #expect(fault.map { found?.contains($0) ?? false } ?? (found == nil), "\(found ?? "a key")")
    }

    /// `openssl rand -hex 16` and `-base64 16` write such keys, and ffmpeg encrypts and decrypts with their first 16 characters.
    @Test(arguments: [
        ("0x00112233445566778899aabbccddeeff", "hexadecimal digits"),
        ("00112233-4455-6677-8899-aabbccddeeff\n", "hexadecimal digits"),
        ("00112233445566778899AABBCCDDEEFF", "hexadecimal digits"),
        ("00112233445566778899AABBCCDDEEFF\n", "hexadecimal digits"), ("ABEiM0RVZneImaq7zN3u/w==", "Base64"),
        ("ABEiM0RVZneImaq7zN3u_w\n", "Base64"), ("0011223344556677", nil), ("error: no such key here", nil),
        ("zz112233445566778899AABBCCDDEEFF", nil), ("", nil),
    ])
    func textForms(_ text: String, _ form: String?) {
        let bytes = Array(text.utf8)
        #expect(KeyBody.textForm(of: bytes) == form)
        if form != nil {
            #expect(KeyBody.fault(bytes) == nil)
        }
    }
}
