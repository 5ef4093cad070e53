import Testing

@testable import Store

@Suite("A ledger")
struct LedgerTests {
    private static let entry = Ledger.Entry(size: 3, digest: Digest(of: Array("abc".utf8)))

    @Test("has the digests that FIPS 180-4's examples give")
    func digests() throws {
        let known = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
        for (text, digits) in known {
            #expect(Digest(of: Array(text.utf8)).description == digits)
            #expect(Digest(hexadecimal: digits.utf8) == Digest(of: Array(text.utf8)))
        }
        for text in ["", "ab", String(repeating: "G", count: 64), String(repeating: "A", count: 64)] {
            #expect(Digest(hexadecimal: text.utf8) == nil)
        }
    }

    @Test("reads what it writes, and the last line of a name counts")
    func lines() {
        let other = Ledger.Entry(size: 512 << 20, digest: Digest(of: [1]))
        let bytes = Ledger.lines(of: "0.ts", Self.entry) + Ledger.lines(of: "init-0.mp4", other)
        #expect(Ledger(bytes).entries == ["0.ts": Self.entry, "init-0.mp4": other])
        let again = Ledger(bytes + Ledger.lines(of: "0.ts", other))
        #expect(again.entries["0.ts"] == other && again.lineCount == 3)
    }

    @Test("S31: has a large piece's blocks in a comment, which an earlier Weir and sha256sum pass over")
    func blocks() {
        let blocks = (0..<10).map { Digest(of: [$0]) }
        let large = Ledger.Entry(size: 9 * Ledger.Entry.blockSize + 1, digest: Digest(of: [1]), blocks: blocks)
        let bytes = Ledger.lines(of: "0.mp4", large) + Ledger.lines(of: "1.ts", Self.entry)
        let entries = Ledger(bytes).entries
        #expect(entries["0.mp4"]?.blocks == blocks && entries["0.mp4"] == large)
        #expect(entries["1.ts"]?.blocks == [] && entries["1.ts"] == Self.entry)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.filter { !$0.hasPrefix("#") }.count == 2)
        // Blocks that do not fit the length are not used.
        let other = Ledger.Entry(size: large.size + Ledger.Entry.blockSize, digest: large.digest, blocks: blocks)
        #expect(Ledger(Ledger.lines(of: "0.mp4", other)).entries["0.mp4"]?.blocks == [])
    }

    @Test("passes over what a crash has cut, wherever that is")
    func cut() {
        let first = Ledger.lines(of: "0.ts", Self.entry)
        let second = Ledger.lines(of: "1.ts", Self.entry)
        for count in 0..<second.count - 1 {
            // The next line is complete.
            let bytes = first + second.prefix(count) + Array("\n".utf8) + Ledger.lines(of: "2.ts", Self.entry)
            let names = Set(Ledger(bytes).entries.keys).subtracting(["1.t", "1.", "1"])
            #expect(names == ["0.ts", "2.ts"], "cut after \(count) bytes")
        }
    }

    @Test("passes over lines that are not its own")
    func strange() {
        let digits = Self.entry.digest.description
        let lines = [
            "\(digits)  0.ts", "# 3\n# 4x\n\(digits)  0.ts", "# 3\n\(digits) *0.ts", "# 3\n\(digits)  ../0.ts",
            "# -3\n\(digits)  0.ts", "# 3\n\(digits)  .ts", "# 1234567890123456789\n\(digits)  0.ts",
            "# \n\(digits)  0.ts",
            "# 3\n\(digits.uppercased())  0.ts", "\u{0}\u{ff}", "# 3", "",
        ]
        for line in lines {
            #expect(Ledger(Array(line.utf8)).entries.isEmpty, "\(line)")
        }
    }
}

extension Digest {
    init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { Digest(of: $0) } }
}
