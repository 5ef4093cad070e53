import EventLoop
public import Library

extension EventFeed {
    /// Tells as well of what a library purges. Once.
    public func follow(_ library: Library) {
        library.purged = { [weak self] asset, purge in
            self?.publish(
                .purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        }
    }
}
