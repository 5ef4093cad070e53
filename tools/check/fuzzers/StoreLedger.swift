import Glibc

/// A ledger is read as a plain second reading of its lines has it, its entries are written so that they read as the same, and what a
/// crash has left before a line costs that line nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let digest = bytes.withUnsafeBytes { Digest(of: $0) }
    let own = Ledger.lines(of: "0.ts", Ledger.Entry(size: Int64(count), digest: digest))
    for text in [bytes, Array(own.dropLast(5)) + bytes, own + bytes] {
        check(text)
    }
    let again = Ledger(bytes + Array("\n".utf8) + own)
    precondition(again.entries["0.ts"] == Ledger.Entry(size: Int64(count), digest: digest), "a whole line is lost")
    return 0
}

private func check(_ text: [UInt8]) {
    let ledger = Ledger(text)
    var lines: [UInt8] = []
    for (name, entry) in ledger.entries {
        precondition(!name.isEmpty && name != "." && name != ".." && !name.contains("/"), "a file of another folder")
        precondition((0..<1_000_000_000_000_000_000).contains(entry.size), "a size beyond its digits")
        let fitting = Int(entry.size >> 22) + (entry.size & (1 << 22 - 1) == 0 ? 0 : 1)
        precondition(entry.blocks.isEmpty || entry.blocks.count == fitting, "blocks of another size")
        lines += Ledger.lines(of: name, entry)
    }
    let again = Ledger(lines)
    precondition(again.entries == ledger.entries, "entries that read as others")
    precondition(again.entries.allSatisfy { $1.blocks == ledger.entries[$0]?.blocks }, "blocks that read as others")
    precondition(ledger.lineCount >= ledger.entries.count)
    precondition(plain(text) == ledger.entries.mapValues(\.size), "a plain reading has other entries")
}

/// The last size of each name, by comparing each line with the one above it.
private func plain(_ text: [UInt8]) -> [String: Int64] {
    let lines = text.split(separator: 0x0A).map { Array($0) }
    var sizes: [String: Int64] = [:]
    for (above, line) in zip(lines, lines.dropFirst()) {
        let size = Int64(String(decoding: above.dropFirst(2), as: UTF8.self))
        let isSize = above.starts(with: "# ".utf8) && above.dropFirst(2).allSatisfy { (48...57).contains($0) }
        let digits = line.prefix(64)
        let isDigest = digits.count == 64 && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        guard isSize, above.count <= 20, let size, isDigest, line.dropFirst(64).starts(with: "  ".utf8) else {
            continue
        }
        let name = String(decoding: line.dropFirst(66), as: UTF8.self)
        if Directory.isName(name) {
            sizes[name] = size
        }
    }
    return sizes
}
