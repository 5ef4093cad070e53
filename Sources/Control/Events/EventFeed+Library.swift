import EventLoop
public import Exchange
import Library

extension EventFeed {
    /// Tells as well of what becomes of a library's assets and their keys, and how it asks origins. Once.
    func follow(_ library: Library) {
        library.assetChanged = { [weak self] asset in
            // Of what is not in its place yet, the name is another asset's.
            if !asset.isRevision { self?.publish(.changed(.init(id: asset.id, asset: asset.name))) }
        }
        library.modeChanged = { [weak self] mode in self?.publish(.mode(API.Mode(.init(mode)))) }
        library.purged = { [weak self] asset, purge in
            self?.publish(
                .purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        }
        library.keysChanged = { [weak self] asset, change, numbers in
            guard let change = API.Event.KeyChange.Change(rawValue: change.rawValue) else { return }
            self?.publish(.keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers)))
        }
    }

    /// Publishes moves of assets to other volumes from now on.
    public func follow(_ mover: Mover) {
        subscriptions.append(mover.changes.subscribe { [weak self] move in self?.publish(.move(API.Move(move))) })
    }
}
