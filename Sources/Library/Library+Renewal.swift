import EventLoop
import Origin
import Playlist

/// Playlists asked for again because the origin refuses what they name: signed URLs expire.
extension Library {
    /// The rendition's playlist with the URLs that it has now, once for all who were refused; nil where it cannot be had, or
    /// was had a moment ago, and where the origin has other content now.
    func renew(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        if let renewal = rendition.renewal { return await renewal.value }
        guard Self.isDue(rendition.renewed) else { return nil }
        rendition.renewed = .now
        let renewal = Task { @LoopActor in await self.renewed(rendition, in: asset) }
        rendition.renewal = renewal
        defer { rendition.renewal = nil }
        return await renewal.value
    }

    private func renewed(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        await renewEntry(of: asset)
        if asset.lone === rendition { return rendition.source }
        guard let source = try? await fetchSource(of: rendition, in: asset, .none, .renewal) else { return nil }
        guard let known = rendition.source, known.isDurable else { return rendition.stands(source) ? source : nil }
        guard rendition.isAgain(source) else {
            note(change: &rendition.isOutdated, of: asset)
            return nil
        }
        rendition.move(to: source)
        return source
    }

    /// Asks for the entry anew, unless that was done a moment ago.
    func renewEntry(of asset: Asset) async {
        if let renewal = asset.renewal { return await renewal.value }
        guard Self.isDue(asset.renewed) else { return }
        asset.renewed = .now
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

    /// An origin that refuses for good is not asked at every segment.
    private static func isDue(_ last: ContinuousClock.Instant?) -> Bool {
        last.map { .now - $0 > .seconds(5) } ?? true
    }
}

extension PlaylistFetch.Manner {
    /// For a player who waits for what was refused.
    fileprivate static let renewal = Self(deadline: .seconds(3), retries: .hasty)
}
