import Glibc

/// The ledger entry of a file, computed as its bytes pass: the whole digest, and those of the blocks of a large one.
struct EntryState: ~Copyable {
    private var whole = DigestState()
    /// The digest of the present block; nil at its beginning.
    private var block: DigestState?
    private var blocks: [Digest] = []
    private var size: Int64 = 0
    private let hasBlocks: Bool

    /// - Parameter length: the file's, in bytes, as known before. A large one has blocks.
    init(length: Int64) { hasBlocks = length > Ledger.Entry.blockLimit }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        whole.add(bytes)
        guard hasBlocks else {
            size += Int64(bytes.count)
            return
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let room = Ledger.Entry.blockSize - size % Ledger.Entry.blockSize
            let part = rest.prefix(Int(min(room, Int64(rest.count))))
            addToBlock(UnsafeRawBufferPointer(rebasing: part))
            size += Int64(part.count)
            rest = rest.dropFirst(part.count)
            if Int64(part.count) == room {
                endBlock()
            }
        }
    }

    private mutating func addToBlock(_ part: UnsafeRawBufferPointer) {
        if block == nil {
            block = DigestState()
        }
        block?.add(part)
    }

    private mutating func endBlock() {
        guard let ended = block.take() else { return }
        blocks.append(ended.digest)
    }

    /// The entry of all bytes that have passed. Read it once.
    var entry: Ledger.Entry {
        mutating get {
            if hasBlocks, size % Ledger.Entry.blockSize != 0 {
                endBlock()
            }
            return Ledger.Entry(size: size, digest: whole.digest, blocks: blocks)
        }
    }
}

extension Ledger.Entry {
    /// Computes the entry of bytes in memory.
    init(of bytes: UnsafeRawBufferPointer) {
        var state = EntryState(length: Int64(bytes.count))
        state.add(bytes)
        self = state.entry
    }

    /// Computes the entry of a file.
    /// - Parameters:
    ///   - length: the file's, as known before.
    ///   - isWhole: true to read no further than that, because the caller looks whether the file has changed.
    ///   - wasRead: called with the byte count of each part that was read.
    init(
        reading descriptor: Int32, length: Int64, isWhole: Bool = false, path: String,
        wasRead: (Int) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        var state = EntryState(length: length)
        let end = isWhole ? length : .max
        try Digest.read(descriptor, to: end, path: path) { bytes throws(StoreError) in
            state.add(bytes)
            try wasRead(bytes.count)
        }
        self = state.entry
    }
}
