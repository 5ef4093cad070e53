import EventLoop
import Fetching

extension Library {
    /// Fetches what EXT-X-SESSION-DATA leads to and is not there, for an asset of which something plays without its
    /// origin: players ask for it before there is anything to keep it with, or not at all.
    ///
    /// That it fails is no fault of the asset's: without it, the line is left out of what is listed offline.
    func keepSessionData(of asset: Asset) {
        guard !isOffline, readOnlyReason == nil, asset.isPersistent, !asset.isRemoved else { return }
        for resource in asset.sessionData.takeUntried() {
            let shelf = asset.sessionData.folder
            guard let fetch = try? fetch(resource, in: shelf, of: asset, urgency: .background) else { continue }
            fetch.whenEnded { [weak self, weak asset] result in
                fetch.release()
                guard let self, let asset else { return }
                if case .failure(let error) = result { report("\(asset.name): session data is not kept: \(error)") }
                if fetch.isPiece { writeBundle(of: asset) }
            }
        }
    }
}
