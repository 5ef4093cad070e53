import CLinux
import Glibc
import SafeText
import Synchronization

extension BundleStore {
    /// The volumes used since the start, without the store's own folder.
    public var volumes: [Volume] { known.withLock { Array($0.values) } }

    /// Returns a bundle's volume in use, and the other one that may hold parts of it.
    public func volumes(of record: VolumeRecord) -> (volume: Volume, other: Volume?) {
        let current = volume(record.path, record.mark)
        guard record.hasOther else { return (current, nil) }
        return (current, volume(record.otherPath, record.otherMark))
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

    /// Opens the volume at a path as the target of a move, or makes one of a new or empty folder. Until `endMove(to:)`, no other
    /// move removes it. Do not call it on the loop.
    ///
    /// - Parameter occupied: the marks of the volumes that have bundles of assets. If one of them, or one on which a removal is
    ///   still to be completed, was last at this path and is not there, the path is where its disk belongs.
    /// - Throws: `badName` for the store itself and folders in it; `away` if a volume that is in use belongs there; the errors of
    ///   `Volume.prepare`; `notWritable` if the folder cannot be written.
    public func beginMove(to path: String, occupied: Set<String>) throws(StoreError) -> Volume {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StoreError(.badName, path: path, detail: "not the absolute path of a folder")
        }
        let inside = StoreError(.badName, path: path, detail: "it is in the store itself")
        guard !contains(path + "/x") else { throw inside }
        return try moveTargets.withLock { targets throws(StoreError) in
            let known = volumes
            let awaiting = Set(removals.all.map(\.mark))
            let expected = known.filter { volume in
                guard let mark = volume.mark else { return false }
                return occupied.contains(mark) || awaiting.contains(mark)
            }
            let marks = Set(known.compactMap(\.mark))
            let paths = Set(expected.map(\.path))
            let found = try Volume.prepare(at: path, isKnown: marks.contains, isExpected: paths.contains) {
                real throws(StoreError) in
                if containsResolved(real) {
                    throw inside
                }
            }
            let volume = try openTarget(found, path)
            targets[found.mark, default: MoveTarget(isNew: found.isNew)].moves += 1
            return volume
        }
    }

    private func openTarget(
        _ found: (mark: String, path: String, isNew: Bool), _ path: String
    ) throws(StoreError) -> Volume {
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
        return volume
    }

    /// Ends the use of a volume as the target of a move. Removes the volume if it was made for moves that have all failed.
    /// - Parameter isUsed: true if an asset is on the volume now.
    public func endMove(to volume: Volume, isUsed: Bool) {
        guard let mark = volume.mark else { return }
        moveTargets.withLock { targets in
            guard var target = targets[mark] else { return }
            target.moves -= 1
            if isUsed {
                target.isNew = false
            }
            if target.moves > 0 {
                targets[mark] = target
            } else {
                targets[mark] = nil
            }
            if target.moves == 0, target.isNew, volume.discard() {
                removeKnown(volume)
            }
        }
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

/// A volume to which assets are being moved.
struct MoveTarget: Sendable {
    /// The number of moves that are under way.
    var moves = 0
    /// True if the first of these moves made the volume, and no asset is there yet.
    var isNew: Bool
}

/// Free space on the volumes.
extension BundleStore {
    /// The default reserve of a disk of `total` bytes, left to other programs: the larger of 256 MB and 2 %.
    public static func usualReserve(of total: Int64) -> Int64 { max(256 << 20, total / 50) }

    /// The type number of the file system at a path, statfs(2); nil for a missing path.
    public static func fileSystemKind(at path: String) -> Int? {
        let kind = weir_file_system_kind(path)
        guard kind >= 0 else { return nil }
        return kind
    }

    /// Throws `diskFull` if only the reserve is left, `io` if the disk loses data. `volume`: nil for the store's folder.
    public func checkRoom(in volume: Volume? = nil) throws(StoreError) {
        let root = try (volume ?? home).folders().root
        let reserve = reserve(of: root)
        if syncThread?.isFailing ?? false {
            throw StoreError(.io, path: root.path, detail: "the disk has repeatedly lost written data")
        }
        guard Self.space(of: root).free <= reserve else { return }
        let least = Quantity.bytes(Int(reserve))
        throw StoreError(.diskFull, path: root.path, detail: "less than \(least) would be left free on the disk")
    }

    /// The free bytes and the size of the store's disk; nil if the file system does not report them.
    public var space: (free: Int64, total: Int64)? {
        let space = Self.space(of: root)
        guard space.total > 0 else { return nil }
        return space
    }

    /// The bytes that may be stored before the reserve is reached; nil if the file system does not report them.
    public var room: Int64? { room(in: home) }

    /// The bytes that may be stored on a volume; nil also if its disk is not mounted.
    public func room(in volume: Volume) -> Int64? {
        guard let root = (try? volume.folders())?.root else { return nil }
        let (free, total) = Self.space(of: root)
        guard total > 0 else { return nil }
        return max(0, free - reserve(of: root))
    }

    private func reserve(of folder: Directory) -> Int64 {
        guard folder !== root else { return reserve }
        return givenReserve ?? Self.usualReserve(of: folder)
    }

    /// The default reserve of the disk of a folder.
    static func usualReserve(of folder: Directory) -> Int64 { usualReserve(of: space(of: folder).total) }

    /// The bytes to free: more than a piece or two, so that the next piece needs no other purge; 0 if there is room.
    public var shortage: Int64 {
        let (free, total) = Self.space(of: root)
        let headroom = Self.headroom(of: total)
        guard total > 0 else { return 0 }
        return max(0, min(reserve - free, .max - headroom) + headroom)
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
