import EventLoop
import Fetching

extension Library {
    /// Fetches missing EXT-X-SESSION-DATA of an asset that plays without its origin. Players request it before anything
    /// is stored, or not at all.
    ///
    /// A failure is ignored: the offline playlist then omits the tag.
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
