/// FNV-1a: a short number for a text, the same in every process.
///
/// It tells one text from the next, not from one that was made to have the same number.
public enum Fingerprint {
    /// The number of some bytes.
    public static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
