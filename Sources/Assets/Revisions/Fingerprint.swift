/// FNV-1a: a short hash of a text, equal in every process, without protection against made collisions.
public enum Fingerprint {
    private static let offsetBasis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01B3

    /// Returns the hash of some bytes.
    public static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(offsetBasis) { ($0 ^ UInt64($1)) &* prime }
    }
}
