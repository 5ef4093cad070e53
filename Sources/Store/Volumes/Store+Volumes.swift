import CLinux
import Glibc
import Synchronization

extension Store {
    /// The volumes used since the start, without the store's own folder.
    public var volumes: [Volume] { known.withLock { Array($0.values) } }

    /// Returns a bundle's volume in use, and the other one that may hold parts of it.
    public func volumes(of record: VolumeRecord) -> (volume: Volume, other: Volume?) {
        let other = record.hasOther ? volume(record.otherPath, record.otherMark) : nil
        return (volume(record.path, record.mark), other)
    }

    func volume(_ path: String?, _ mark: String?) -> Volume {
        guard let path, let mark else { return home }
        return known.withLock { known in
            if let volume = known[mark] {
                return volume
            }
            let volume = Volume(path: path, mark: mark)
            known[mark] = volume
            return volume
        }
    }

    /// Opens the volume at a path, or makes one of a new or empty folder. Do not call it on the loop. Returns the
    /// volume; `isNew` is true if it was made now. Throws `badName` for the store itself and folders in it; the errors
    /// of `Volume.prepare`; `notWritable` if the folder cannot be written.
    public func volume(at path: String) throws(StoreError) -> (volume: Volume, isNew: Bool) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StoreError(.badName, path: path, detail: "not the absolute path of a folder")
        }
        let inside = StoreError(.badName, path: path, detail: "it is in the store itself")
        guard !contains(path + "/x") else { throw inside }
        let marks = Set(volumes.compactMap(\.mark))
        let found = try Volume.prepare(at: path, isKnown: marks.contains) { real throws(StoreError) in
            if containsResolved(real) {
                throw inside
            }
        }
        let volume = volume(found.path, found.mark)
        if volume.absence != nil {
            volume.change(path: found.path)
        }
        do throws(StoreError) {
            guard volume.path == found.path else {
                throw StoreError(.exists, path: path, detail: "it is a copy of the folder \(volume.path)")
            }
            _ = try volume.writable()
        } catch {
            if found.isNew {
                removeKnown(volume)
            }
            throw error
        }
        return (volume, found.isNew)
    }

    /// Removes a new volume that got no bundle.
    public func discard(volume: Volume) {
        volume.discard()
        removeKnown(volume)
    }

    private func removeKnown(_ volume: Volume) {
        if let mark = volume.mark {
            known.withLock { $0[mark] = nil }
        }
    }

    /// Waits until everything on a folder's disk survives a power cut, as far as the disk reports it: syncfs(2).
    static func syncDisk(of folder: Directory) throws(StoreError) {
        guard weir_syncfs(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
    }
}

/// Free space on the volumes.
extension Store {
    /// The default reserve of a disk of `total` bytes, left to other programs: the larger of 256 MB and 2 %.
    public static func usualReserve(of total: Int64) -> Int64 { max(256 << 20, total / 50) }

    /// The type number of the file system at a path, statfs(2); nil for a missing path.
    public static func fileSystemKind(at path: String) -> Int? {
        let kind = weir_file_system_kind(path)
        return kind < 0 ? nil : kind
    }

    /// Throws `diskFull` if only the reserve is left, `io` if the disk loses data. `volume`: nil for the store's folder.
    public func checkRoom(in volume: Volume? = nil) throws(StoreError) {
        let root = try (volume ?? home).folders().root
        let reserve = reserve(of: root)
        if syncThread?.isFailing ?? false {
            throw StoreError(.io, path: root.path, detail: "the disk has repeatedly lost written data")
        }
        guard Self.space(of: root).free <= reserve else { return }
        throw StoreError(
            .diskFull, path: root.path, detail: "less than \(reserve >> 20) MB would be left free on the disk")
    }

    /// The free bytes and the size of the store's disk; nil if the file system does not report them.
    public var space: (free: Int64, total: Int64)? {
        let space = Self.space(of: root)
        return space.total > 0 ? space : nil
    }

    /// The bytes that may be stored before the reserve is reached; nil if the file system does not report them.
    public var room: Int64? { room(in: home) }

    /// The bytes that may be stored on a volume; nil also if its disk is not mounted.
    public func room(in volume: Volume) -> Int64? {
        guard let root = (try? volume.folders())?.root else { return nil }
        let (free, total) = Self.space(of: root)
        return total > 0 ? max(0, free - reserve(of: root)) : nil
    }

    private func reserve(of folder: Directory) -> Int64 {
        folder === root ? reserve : givenReserve ?? Self.usualReserve(of: folder)
    }

    /// The default reserve of the disk of a folder.
    static func usualReserve(of folder: Directory) -> Int64 { usualReserve(of: space(of: folder).total) }

    /// The bytes to free: more than a piece or two, so that the next piece needs no other purge; 0 if there is room.
    public var shortage: Int64 {
        let (free, total) = Self.space(of: root)
        let headroom = Self.headroom(of: total)
        return total > 0 ? max(0, min(reserve - free, .max - headroom) + headroom) : 0
    }

    /// The room that a purge makes: 64 MB, or a quarter of a small disk.
    private static func headroom(of total: Int64) -> Int64 { min(64 << 20, total / 4) }

    /// The bytes free to unprivileged users, and the size of the disk.
    static func space(of folder: Directory) -> (free: Int64, total: Int64) {
        var status = statvfs()
        guard fstatvfs(folder.descriptor, &status) == 0 else { return (.max, 0) }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}
