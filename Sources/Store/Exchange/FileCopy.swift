import CLinux
import Glibc

/// Copies files; without a checksum, in the kernel: ioctl_ficlone(2), which shares the disk's blocks until one of the files is
/// written to, else copy_file_range(2), which may do the same, else sendfile(2).
enum FileCopy {
    /// Copies all `count` bytes of `source` to `target`, which is empty. A change of the copy never changes the source. Throws as
    /// `copy`.
    static func copyWhole(_ source: Int32, count: Int64, to target: Int32, path: String) throws(StoreError) {
        if weir_share_blocks(source, target) == 0 {
            guard FileIdentity(of: target)?.size == count else { throw StoreError(.wrongLength, path: path) }
            return
        }
        try copy(source, count: count, to: target, path: path)
    }

    /// Copies `count` bytes of `source` from `offset` to the current offset of `target`. Throws `wrongLength` if the
    /// source is shorter; otherwise the system's error, with `path`.
    static func copy(
        _ source: Int32, from offset: Int64 = 0, count: Int64, to target: Int32, path: String
    ) throws(StoreError) {
        var offset = off_t(offset)
        var left = count
        var isPlain = false
        while left > 0 {
            let wanted = Int(min(left, 1 << 30))
            let copied: Int
            if isPlain {
                copied = sendfile(target, source, &offset, wanted)
            } else {
                copied = weir_copy_file_range(source, &offset, target, wanted)
            }

            if copied > 0 {
                left -= Int64(copied)
            } else if copied == 0 {
                throw StoreError(.wrongLength, path: path)
            } else if errno != EINTR {
                guard !isPlain, [EXDEV, ENOSYS, EINVAL, EOPNOTSUPP, EPERM].contains(errno) else {
                    throw StoreError(path: path)
                }
                isPlain = true
            }
        }
    }

    /// Copies a whole file, and returns its length and SHA-256. Throws `busy` after a cancellation; otherwise the
    /// system's error, with `path`, or with `sourcePath` if the source cannot be read.
    static func hashed(
        _ source: Int32, sourcePath: String? = nil, to target: Int32, path: String, _ pace: ReadingPace
    ) throws(StoreError) -> Ledger.Entry {
        var state = EntryState(length: FileIdentity(of: source)?.size ?? 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: off_t = 0
        while true {
            guard pace.waitForTurn() else { throw StoreError(.busy, path: path, detail: "canceled") }
            let count = pread(source, &buffer, buffer.count, offset)
            if count < 0, errno == EINTR {
                continue
            }
            guard count >= 0 else { throw StoreError(path: sourcePath ?? path) }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { state.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            guard Directory.write(buffer, count, to: target) else { throw StoreError(path: path) }
            offset += off_t(count)
            _ = pace.waitForTurn(after: count)
        }
        return state.entry
    }
}
