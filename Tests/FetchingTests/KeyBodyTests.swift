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
}
