import EventLoop
import Fetching
import Origin
import Playlist

/// Loads playlists again after the origin refused a URL in them: signed URLs expire.
extension Library {
    /// Fetches the rendition's playlist with fresh URLs, once for all callers. Returns nil if the fetch fails, if a
    /// recent one did not help, or if the origin has other content now.
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

    /// Allows the next renewal at once, for a caller that keeps its own pause between attempts.
    public func allowRenewal(of asset: Asset) {
        asset.pace.reset()
        for rendition in asset.renditions { rendition.pace.reset() }
    }

    /// Checks if the origin still has the known content of these renditions: see `Asset.hasChanged`.
    public func look(for renditions: [Rendition], of asset: Asset) async {
        allowRenewal(of: asset)
        for rendition in renditions where !asset.hasChanged { _ = await renew(rendition, in: asset) }
    }

    /// Fetches the entry again, unless a recent fetch did not help.
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
    /// For a player that waits for a refused resource.
    fileprivate static let renewal = Self(
        deadline: GiveUpRule.deadline(with: .refusedURLs), retries: .hasty)
}
