import CLinux
import Glibc

/// Copies bytes from file to file without bringing them here: copy_file_range(2), which shares the disk's blocks where
/// the file system can, and sendfile(2) where it cannot even copy so.
enum FileCopy {
    /// Copies `count` bytes of `source` from `offset` on to where `target` stands.
    ///
    /// - Throws: `wrongLength` where the source ends before; the system's error, about `path`, else.
    static func copy(
        _ source: Int32, from offset: Int64 = 0, count: Int64, to target: Int32, path: String
    ) throws(StoreError) {
        var (offset, left) = (off_t(offset), count)
        var isPlain = false
        while left > 0 {
            let wanted = Int(min(left, 1 << 30))
            let copied =
                isPlain
                ? sendfile(target, source, &offset, wanted) : weir_copy_file_range(source, &offset, target, wanted)
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
}
