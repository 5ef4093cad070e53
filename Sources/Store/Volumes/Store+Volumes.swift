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

    private func volume(_ path: String?, _ mark: String?) -> Volume {
        guard let path, let mark else { return home }
        return known.withLock { known in
            if let volume = known[mark] { return volume }
            let volume = Volume(path: path, mark: mark)
            known[mark] = volume
            return volume
        }
    }

    /// Opens the volume at a path, or makes one of a new or empty folder. Do not call it on the loop.
    ///
    /// - Returns: the volume; `isNew` is true if it was made now.
    /// - Throws: `badName` for the store itself and folders in it; the errors of `Volume.prepare`; `notWritable` if the
    ///   folder cannot be written.
    public func volume(at path: String) throws(StoreError) -> (volume: Volume, isNew: Bool) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StoreError(.badName, path: path, detail: "not the absolute path of a folder")
        }
        let inside = StoreError(.badName, path: path, detail: "it is in the store itself")
        guard !contains(path + "/x") else { throw inside }
        let marks = Set(volumes.compactMap(\.mark))
        let found = try Volume.prepare(at: path, isKnown: marks.contains) { real throws(StoreError) in
            if holds(real) { throw inside }
        }
        let volume = volume(found.path, found.mark)
        if volume.absence != nil { volume.change(path: found.path) }
        do throws(StoreError) {
            guard volume.path == found.path else {
                throw StoreError(.exists, path: path, detail: "it is a copy of the folder \(volume.path)")
            }
            _ = try volume.writable()
        } catch {
            if found.isNew { removeKnown(volume) }
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
        if let mark = volume.mark { known.withLock { $0[mark] = nil } }
    }

    /// Waits until everything on a folder's disk survives a power cut, as far as the disk reports it: syncfs(2).
    static func syncDisk(of folder: Directory) throws(StoreError) {
        guard weir_syncfs(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
    }
}
