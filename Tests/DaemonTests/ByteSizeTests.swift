import Testing

@testable import Daemon

@Suite struct ByteSizeTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("500B", 500), ("1k", 1024), ("500MB", 500 << 20), ("2GB", 2 << 30), ("2 gb", 2 << 30),
            ("1.5GiB", 3 << 29), ("0.5 K", 512), ("3T", 3 << 40),
        ] as [(String, Int64)])
    func sizesUsePowersOf1024(_ text: String, _ bytes: Int64) {
        #expect(ByteSize.bytes(text) == bytes)
    }

    @Test(
        arguments: [
            "", "GB", "-1", "-1GB", "1 GB of disk", "1PB", ".5GB", "1.", "1.5.2GB", "1e3", "99999999999TB", "٣GB",
            "1,5GB",
            " 1GB", "1GB ",
        ])
    func invalidSizesAreRefused(_ text: String) {
        #expect(ByteSize.bytes(text) == nil)
    }
}
