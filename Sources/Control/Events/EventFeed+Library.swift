import EventLoop
import Library

extension EventFeed {
    /// Publishes changes of a library's assets, keys, moves and mode as well. Call it once.
    func follow(_ library: Library) {
        subscription = library.events.subscribe { [weak self] in self?.publish($0) }
        library.moveChanged = { [weak self] move in self?.publish(.move(API.Move(move))) }
    }

    private func publish(_ event: LibraryEvent) {
        switch event {
        case .assetChanged(let asset):
            // The name of a revision is that of the asset that it revises.
            if !asset.isRevision { publish(.changed(.init(id: asset.id, asset: asset.name))) }
        case .modeChanged(let mode): publish(.mode(API.Mode(.init(mode))))
        case .purged(let asset, let purge):
            publish(.purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        case .keysChanged(let asset, let change, let numbers):
            guard let change = API.Event.KeyChange.Change(rawValue: change.rawValue) else { return }
            publish(.keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers)))
        default: break
        }
    }
}
