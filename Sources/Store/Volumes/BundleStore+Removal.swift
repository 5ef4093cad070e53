import Glibc
import Synchronization

/// The removal of an asset's folders. Each is first renamed to `.removed-<asset id>` and synced: from then on it is no bundle,
/// whatever happens to the process or the power. Then the asset's rows are deleted, and its files last. The next start
/// completes what was interrupted.
extension BundleStore {
    /// Renames each folder of an asset, on whatever volume it is. Waits for the disk: do not call it on the loop.
    ///
    /// Returns the other volumes that had such a folder, or are away, or cannot be written: until their files are deleted, the
    /// catalogue has to know them, and the state folder does already. Throws if nothing is removed in the store's own folder.
    public func markRemoved(_ id: String) throws(StoreError) -> [AwaitedRemoval] {
        if let readOnlyReason {
            throw readOnlyReason
        }
        var awaited: [AwaitedRemoval] = []
        for volume in [home] + volumes {
            let isAwaited: Bool
            do throws(StoreError) {
                isAwaited = try volume.markRemoved(id)
            } catch {
                guard !volume.isHome else { throw error }
                isAwaited = true
            }
            if isAwaited, let mark = volume.mark {
                awaited.append(AwaitedRemoval(asset: id, mark: mark, path: volume.path))
            }
        }
        try removals.set(awaited, of: id)
        return awaited
    }

    /// Deletes the files of a removed asset on another thread, after its rows are deleted. `isGone` is called on any thread once
    /// they are deleted.
    public func deleteRemoved(_ id: String, isGone: @escaping @Sendable () -> Void = {}) {
        let folders = ([home] + volumes).compactMap { volume -> (name: String, temporary: Directory)? in
            guard let temporary = try? volume.writable().temporary, let name = try? volume.setAsideRemoved(id) else {
                return nil
            }
            return (name, temporary)
        }
        guard !folders.isEmpty else { return isGone() }
        let countdown = Countdown(folders.count, isGone)
        for folder in folders {
            delete(folder.name, in: folder.temporary) { countdown.count() }
        }
    }

    /// Calls back after so many calls from any threads.
    private final class Countdown: Sendable {
        private let left: Atomic<Int>
        private let isOver: @Sendable () -> Void

        init(_ count: Int, _ isOver: @escaping @Sendable () -> Void) {
            left = Atomic(count)
            self.isOver = isOver
        }

        func count() {
            if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                isOver()
            }
        }
    }

    /// The ids of removed assets that still have a folder on a volume, or may have one. Waits for the disk.
    public func unfinishedRemovals(in volume: Volume) -> [String] {
        guard readOnlyReason == nil, (try? volume.writable()) != nil else { return [] }
        let awaited = removals.all.filter { removal in
            removal.mark == volume.mark || (try? volume.hasBundle(removal.asset)) ?? false
        }
        return Set(volume.removedIDs + awaited.map(\.asset)).sorted()
    }

    /// The ids of assets whose removal has begun, and waits for a volume.
    public var begunRemovals: Set<String> { Set(removals.all.map(\.asset)) }

    /// The ids of removed assets whose folders on volumes that are there are still to be deleted.
    public var removalsToComplete: Set<String> {
        let marks = Set(volumes.filter { $0.absence == nil }.compactMap(\.mark))
        return Set(removals.all.filter { marks.contains($0.mark) }.map(\.asset))
    }

    /// True if there is a folder of an asset with this id on a volume, or may be, or if this process has deleted such an asset:
    /// another one must not get its id.
    public func hasTraces(of id: String) -> Bool {
        if removals.contains(id) || catalogue.hasDeleted(id) {
            return true
        }
        return ([home] + volumes).contains { volume in
            (try? volume.hasBundle(id)) ?? false || volume.hasRemoved(id)
        }
    }
}

extension Volume {
    /// The names of removed bundles begin with this. No bundle's name begins with a dot.
    static let removedPrefix = ".removed-"

    /// The ids of the removed bundles that are still in the folder of bundles.
    var removedIDs: [String] {
        guard let names = try? folders().assets?.names() else { return [] }
        return names.filter { $0.hasPrefix(Self.removedPrefix) }.map { String($0.dropFirst(Self.removedPrefix.count)) }
            .filter(Directory.isName)
    }

    /// True if a removed bundle of this id is still in the folder of bundles.
    func hasRemoved(_ id: String) -> Bool {
        (try? folders().assets?.status(of: Self.removedPrefix + id)) != nil
    }

    /// Renames a bundle, synced: from then on its folder is no bundle. Returns false if there is no folder of that id.
    func markRemoved(_ id: String) throws(StoreError) -> Bool {
        guard try hasBundle(id) else { return hasRemoved(id) }
        let (_, temporary, assets) = try writable()
        let removed = Self.removedPrefix + id
        let path = assets.path + "/" + id
        // A folder of an earlier removal, which the process did not complete.
        if let former = try setAsideRemoved(id) {
            try? temporary.removeTree(former)
        }
        guard renameat(assets.descriptor, try assets.leaf(id), assets.descriptor, removed) == 0 else {
            throw StoreError(path: path)
        }
        guard fsync(assets.descriptor) == 0 else { throw StoreError(path: assets.path) }
        return true
    }

    /// Moves a removed bundle into `tmp/`. Returns the folder's name there; nil if there is no such bundle.
    func setAsideRemoved(_ id: String) throws(StoreError) -> String? {
        let (_, temporary, assets) = try writable()
        let name = BundleStore.uniqueName("removed")
        let removed = Self.removedPrefix + id
        guard renameat(assets.descriptor, removed, temporary.descriptor, name) == 0 else {
            guard errno == ENOENT else { throw StoreError(path: assets.path + "/" + removed) }
            return nil
        }
        return name
    }
}
