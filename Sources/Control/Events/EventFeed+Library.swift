import EventLoop
public import Library

extension EventFeed {
    /// Tells as well of what a library purges and moves, and of its keys. Once.
    public func follow(_ library: Library) {
        library.purged = { [weak self] asset, purge in
            self?.publish(
                .purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        }
        library.keysChanged = { [weak self] asset, change, numbers in
            guard let change = API.Event.KeyChange.Change(rawValue: change.rawValue) else { return }
            self?.publish(.keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers)))
        }
        library.moveChanged = { [weak self] move in self?.publish(.move(API.Move(move))) }
    }
}
