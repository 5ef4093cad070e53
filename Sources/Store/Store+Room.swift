import CLinux
import Glibc

/// How much may still be kept.
extension Store {
    /// The bytes of a disk of so many that are left to others unless the user says otherwise: 256 MB, or 2 % if that is more.
    public static func usualReserve(of total: Int64) -> Int64 { max(256 << 20, total / 50) }

    /// The number of the kind of file system at a path, as in statfs(2); nil where there is none.
    public static func fileSystemKind(at path: String) -> Int? {
        let kind = weir_file_system_kind(path)
        return kind < 0 ? nil : kind
    }

    /// Throws `diskFull` when what is kept would eat into the reserve, and `io` when the disk loses what it is given.
    ///
    /// - Parameter place: where it is to be kept; nil for the store's own folder.
    public func checkRoom(in place: BundlePlace? = nil) throws(StoreError) {
        let root = try (place ?? home).folders().root
        let reserve = reserve(of: root)
        if syncThread?.hasGivenUp ?? false {
            throw StoreError(.io, path: root.path, detail: "the disk has lost what was written, time after time")
        }
        guard Self.space(of: root).free <= reserve else { return }
        throw StoreError(
            .diskFull, path: root.path, detail: "less than \(reserve >> 20) MB would be left free on the disk")
    }

    /// Bytes that may still be written on the disk, and its size; nil where it does not tell.
    public var space: (free: Int64, total: Int64)? {
        let space = Self.space(of: root)
        return space.total > 0 ? space : nil
    }

    /// The bytes that may be kept before the reserve is touched; nil where the disk does not tell.
    public var room: Int64? { room(in: home) }

    /// The same of the disk of a place; nil also where that is away.
    public func room(in place: BundlePlace) -> Int64? {
        guard let root = (try? place.folders())?.root else { return nil }
        let (free, total) = Self.space(of: root)
        return total > 0 ? max(0, free - reserve(of: root)) : nil
    }

    private func reserve(of folder: Directory) -> Int64 {
        folder === root ? reserve : givenReserve ?? Self.usualReserve(of: folder)
    }

    /// The same of the disk that a folder is on.
    static func usualReserve(of folder: Directory) -> Int64 { usualReserve(of: space(of: folder).total) }

    /// The bytes that are to be made free so that things can be kept for a while; 0 where there is room, or the disk does
    /// not tell. More than a piece or two, so that it need not be asked for again at the next one.
    public var shortage: Int64 {
        let (free, total) = Self.space(of: root)
        let headroom = Self.headroom(of: total)
        return total > 0 ? max(0, min(reserve - free, .max - headroom) + headroom) : 0
    }

    /// What is meant by room: a quarter of a small disk, and 64 MB of others.
    private static func headroom(of total: Int64) -> Int64 { min(64 << 20, total / 4) }

    /// Bytes that unprivileged writers may still write, and the size of the whole disk.
    static func space(of folder: Directory) -> (free: Int64, total: Int64) {
        var status = statvfs()
        guard fstatvfs(folder.descriptor, &status) == 0 else { return (.max, 0) }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}
