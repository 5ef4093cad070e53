import CLinux
import Glibc
import Synchronization

/// The places where bundles lie.
extension Store {
    /// The annexes that were met so far.
    public var annexes: [BundlePlace] { known.withLock { Array($0.values) } }

    /// The place in use of a bundle, and the other one where something of it may lie.
    public func places(of record: PlaceRecord) -> (place: BundlePlace, other: BundlePlace?) {
        let other = record.hasOther ? place(record.otherPath, record.otherMark) : nil
        return (place(record.path, record.mark), other)
    }

    private func place(_ path: String?, _ mark: String?) -> BundlePlace {
        guard let path, let mark else { return home }
        return known.withLock { known in
            if let place = known[mark] { return place }
            let place = BundlePlace(path: path, mark: mark)
            known[mark] = place
            return place
        }
    }

    /// The annex at a path: made where the folder is new or empty. Not on the loop's thread.
    ///
    /// - Returns: the annex, and whether it was made now.
    /// - Throws: `badName` for the store itself and what is in it; what `BundlePlace.prepare` does; `notWritable` where
    ///   nothing can be written.
    public func annex(at path: String) throws(StoreError) -> (place: BundlePlace, isNew: Bool) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StoreError(.badName, path: path, detail: "not the absolute path of a folder")
        }
        let inside = StoreError(.badName, path: path, detail: "it is in the store itself")
        guard !contains(path + "/x") else { throw inside }
        let marks = Set(annexes.compactMap(\.mark))
        let found = try BundlePlace.prepare(at: path, isKnown: marks.contains) { real throws(StoreError) in
            if holds(real) { throw inside }
        }
        let place = place(found.path, found.mark)
        if place.absence != nil { place.follow(to: found.path) }
        do throws(StoreError) {
            guard place.path == found.path else {
                throw StoreError(.exists, path: path, detail: "it is a copy of the folder \(place.path)")
            }
            _ = try place.writable()
        } catch {
            if found.isNew { forget(place) }
            throw error
        }
        return (place, found.isNew)
    }

    /// Takes away an annex that was made for nothing.
    public func discard(annex place: BundlePlace) {
        place.discard()
        forget(place)
    }

    private func forget(_ place: BundlePlace) {
        if let mark = place.mark { known.withLock { $0[mark] = nil } }
    }

    /// Waits until everything on a place's disk survives a loss of power, as far as the disk says so.
    static func syncDisk(of folder: Directory) throws(StoreError) {
        guard weir_syncfs(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
    }
}
