import EventLoop
import HTTPMessage
import Playlist

/// Presentations that are played in between, and the lists of them.
extension Library {
    /// Returns the presentation that an interstitial of `asset` names, with its entry loaded: an asset of the library,
    /// or an interstitial asset.
    ///
    /// The user has not named its URL. So a private address is refused, except the one that the user named for `asset`;
    /// requests there carry the header fields of `asset`.
    ///
    /// - Parameter query: the parameters that the player adds to the URL, without its own delivery directives.
    /// - Throws: `LibraryError`; `missing` for a name that no recent playlist of the asset contains.
    public func presentation(
        _ name: Interstitials.Name, of asset: Asset, query: String?
    ) async throws(LibraryError) -> Asset {
        let url = try url(of: name, in: asset)
        if let known = self.asset(at: url) { return known }
        let key = InterstitialAssets.Key(url: url.adding(parametersOf: query), access: asset.access)
        if let interstitialAsset = interstitialAssets.asset(key) { return interstitialAsset }
        if let task = interstitialAssets.opening[key] { return try await task.value.get() }
        let task = Task { @LoopActor in await self.openInterstitialAsset(key) }
        interstitialAssets.opening[key] = task
        defer { interstitialAssets.opening[key] = nil }
        return try await task.value.get()
    }

    private func openInterstitialAsset(_ key: InterstitialAssets.Key) async -> Result<Asset, LibraryError> {
        let name = AssetNaming.name(forPath: key.url.path)
        let id = AssetNaming.id(forName: name) { presentation(id: $0) != nil }
        let interstitialAsset = Asset(
            id: id, name: name, title: nil, origin: key.url, access: key.access, created: Self.now, store: store)
        interstitialAsset.isPreview = true
        do {
            try await loadEntry(of: interstitialAsset)
        } catch {
            return .failure(error)
        }
        interstitialAssets.add(interstitialAsset, key)
        return .success(interstitialAsset)
    }

    /// Fetches the list that an interstitial of `asset` names, and replaces the URIs of its presentations by those of
    /// `naming`. The list is never stored, because lists are made for one player at one time.
    ///
    /// - Throws: `LibraryError` if the response is not a list; says what it is.
    public func assetList(
        _ name: Interstitials.Name, of asset: Asset, query: String?, naming: (Interstitials.Name) -> String
    ) async throws(LibraryError) -> [UInt8] {
        let url = try url(of: name, in: asset).adding(parametersOf: query)
        let (list, base) = try await playlistFetcher.assetList(at: url, access: asset.access)
        do {
            return try list.rendered { index in
                guard let url = try? base.resolving(list.uris[index]) else { return nil }
                return naming(asset.interstitials.name(url, .presentation))
            }
        } catch {
            throw LibraryError(error, from: base)
        }
    }

    private func url(of name: Interstitials.Name, in asset: Asset) throws(LibraryError) -> WebURL {
        guard !isOffline else {
            throw LibraryError(
                .notStored, "this interstitial of \(asset.name) is not in the store, and Weir is offline")
        }
        guard let url = asset.url(of: name) else {
            throw LibraryError(.missing, "\(asset.name) has no such interstitial")
        }
        return url
    }
}

extension WebURL {
    /// Adds HLS's own parameters of a player's query to the URL (rfc8216bis appendix D: `_HLS_primary_id`,
    /// `_HLS_start_offset`). Other parameters are not for the origin.
    func adding(parametersOf query: String?) -> WebURL {
        let parameters = (query ?? "").split(separator: "&").filter { $0.hasPrefix("_HLS_") }
        guard !parameters.isEmpty else { return self }
        let own = self.query.map { $0.isEmpty ? "" : "\($0)&" } ?? ""
        return (try? resolving("?\(own)\(parameters.joined(separator: "&"))")) ?? self
    }
}
