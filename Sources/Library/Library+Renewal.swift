import EventLoop
import Fetching
import Origin
import Playlist

/// Playlists asked for again because the origin refuses what they name: signed URLs expire.
extension Library {
    /// The rendition's playlist with the URLs that it has now, once for all who were refused; nil where it cannot be
    /// had, or was had a moment ago to no avail, and where the origin has other content now.
    func renew(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        if let renewal = rendition.renewal { return await renewal.value }
        guard rendition.pace.isDue(now: .now) else { return nil }
        rendition.pace.began(now: .now)
        let renewal = Task { @LoopActor in await self.renewed(rendition, in: asset) }
        rendition.renewal = renewal
        defer { rendition.renewal = nil }
        return await renewal.value
    }

    private func renewed(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        await renewEntry(of: asset)
        if asset.lone === rendition { return rendition.source }
        guard let source = try? await fetchSource(of: rendition, in: asset, .none, .renewal) else { return nil }
        asset.pace.arrived()
        guard let known = rendition.source, known.isDurable else { return rendition.stands(source) ? source : nil }
        guard rendition.isAgain(source) else {
            note(change: &rendition.isOutdated, of: asset)
            return nil
        }
        rendition.move(to: source)
        return source
    }

    /// Lets fresh URLs be asked for at once, by somebody who has kept a pause of their own.
    public func allowRenewal(of asset: Asset) {
        asset.pace.reset()
        for rendition in asset.renditions { rendition.pace.reset() }
    }

    /// Asks the origin whether these still are what they were: see `Asset.hasChanged`.
    public func look(for renditions: [Rendition], of asset: Asset) async {
        allowRenewal(of: asset)
        for rendition in renditions where !asset.hasChanged { _ = await renew(rendition, in: asset) }
    }

    /// Asks for the entry anew, unless that was done a moment ago to no avail.
    func renewEntry(of asset: Asset) async {
        if let renewal = asset.renewal { return await renewal.value }
        guard asset.pace.isDue(now: .now) else { return }
        asset.pace.began(now: .now)
        let renewal = Task { @LoopActor in
            do {
                try await loadEntry(of: asset, .renewal)
            } catch {
                report("\(asset.name): no fresh URLs, since \(error)")
            }
        }
        asset.renewal = renewal
        defer { asset.renewal = nil }
        await renewal.value
    }
}

extension PlaylistFetcher.Manner {
    /// For a player who waits for what was refused.
    fileprivate static let renewal = Self(deadline: .seconds(3), retries: .hasty)
}
