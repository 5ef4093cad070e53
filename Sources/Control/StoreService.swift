public import EventLoop
import Library
import Retention
import Store

/// What the control API tells of the store as a whole.
@LoopActor public protocol StoreService: AnyObject, Sendable {
    /// What is stored altogether, and how much room there is.
    func store() async throws(ControlError) -> API.Store
}

extension LibraryService: StoreService {
    /// See `StoreService`.
    public func store() async throws(ControlError) -> API.Store {
        // What nobody has looked into since the start is not looked into for this.
        let bytes = library.assets.map { asset in
            library.summaries[asset]?.bytes ?? (asset.isAsleep ? 0 : asset.bytes + (asset.revision?.bytes ?? 0))
        }
        let disk = library.disk
        let cache = API.PlayCache(bytes: Int(retention.cachedBytes), limit: retention.cacheLimit.map { Int($0) })
        var shape = API.Store(path: disk.path, playCache: cache, purge: retention.purgeLimit.rawValue)
        shape.problem = library.readOnlyReason.map { "\($0)" }
        (shape.assets, shape.bytes) = (library.assets.count, Int(bytes.reduce(0, +)))
        shape.disk = disk.space.map { space in
            .init(
                totalBytes: Int(space.total), freeBytes: Int(min(space.free, space.total)),
                reservedBytes: Int(disk.reserve))
        }
        return shape
    }
}
