public import Fetching
import Origin
import Store

extension Library {
    /// Reports the first resource of a folder that is stored although most players cannot use it.
    func reportOddity(_ oddity: String, of name: PieceName, in folder: PieceFolder, of asset: Asset) {
        guard oddFolders.insert("\(asset.id)/\(folder.id)").inserted else { return }
        report("\(asset.name): \(name) of \(folder.id) \(oddity)")
    }

    /// Returns the fetch of a resource, retained for the caller, who must release it. The resource becomes a piece if
    /// its rendition's playlist has ended and is in the catalogue, or is recorded.
    /// - Parameter fallback: what the caller can play instead; an origin that does not answer then gets less time.
    /// - Throws: `missing` if the asset was removed, `store` if neither disk nor memory has space.
    public func fetch(
        _ resource: Resource, in folder: PieceFolder, of asset: Asset, urgency: Fetch.Urgency,
        fallback: Fetch.Fallback = .none
    ) throws(LibraryError) -> Fetch {
        try asset.checkNotRemoved()
        try checkSegments(of: asset)
        revisions.beginCheck(of: asset)
        let resource = current(resource, in: folder, of: asset)
        let isLasting = isLasting(folder, of: asset) || isRecorded(resource, in: folder, of: asset)
        let held = heldFetch(of: resource, in: folder, of: asset)
        let keeping = keeping(resource, in: folder, of: asset, urgency)
        do {
            let fetch = try loader.fetch(
                resource, held: held, folder: folder, isLasting: isLasting, keeping, access: asset.access,
                urgency: urgency, fallback: fallback, shared: sharing(resource, in: folder, of: asset)
            ) { ResourceSources(around: resource, in: folder, of: asset, library: self) }
            expect(fetch, of: asset)
            hold(fetch, in: folder, of: asset)
            revisions.watch(fetch, in: folder, of: asset)
            return fetch
        } catch {
            throw LibraryError(error)
        }
    }

    /// Returns the fetches of resources at background urgency, in the given order, retained for the caller as those of
    /// `fetch(_:in:of:urgency:)`. Adjacent byte ranges of one file share one merged request; a fetch that is already
    /// under way is joined, and its neighbours are fetched without it.
    public func fetches(
        _ resources: [Resource], in folder: PieceFolder, of asset: Asset
    ) throws(LibraryError) -> [Fetch] {
        try asset.checkNotRemoved()
        try checkSegments(of: asset)
        revisions.beginCheck(of: asset)
        do {
            let fetches = try loader.fetches(
                resources.map { current($0, in: folder, of: asset) }, folder: folder,
                isLasting: isLasting(folder, of: asset), access: asset.access,
                keeping: { keeping($0, in: folder, of: asset, .background) },
                shared: { sharing($0, in: folder, of: asset) },
                alternates: { ResourceSources(around: $0, in: folder, of: asset, library: self) })
            for fetch in fetches {
                expect(fetch, of: asset)
                revisions.watch(fetch, in: folder, of: asset)
            }
            return fetches
        } catch {
            throw LibraryError(error)
        }
    }

    /// Old and new segments are never mixed.
    private func checkSegments(of asset: Asset) throws(LibraryError) {
        guard asset.hasOtherSegments else { return }
        throw LibraryError(
            .otherContent,
            "the origin has other content now than what is stored of \(asset.name): weir update \(asset.name)")
    }

    /// A stored key never changes: only the same bytes may replace it.
    private func expect(_ fetch: Fetch, of asset: Asset) {
        guard case .key(let number) = fetch.resource.name.role else { return }
        fetch.expectation = asset.keys.life(of: number).digest
    }

    /// True if the latest request to the origin of a resource got no answer, and there is no alternate source.
    public func isPresumedAbsent(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        if let rendition = asset.rendition(folder.id), asset.content.hasMirrors(rendition) {
            return false
        }
        return client.isPresumedAbsent(current(resource, in: folder, of: asset).url)
    }

    /// True if each name in a folder identifies the same bytes forever.
    private func isLasting(_ folder: PieceFolder, of asset: Asset) -> Bool {
        guard let rendition = asset.rendition(folder.id) else { return true }
        return rendition.hasEnded
    }

    private func isRecorded(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        asset.rendition(folder.id)?.recording?.keeps(resource.name) ?? false
    }

    /// Returns the resource with its present URL: a download plan may be older than the tokens.
    private func current(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Resource {
        if case .key(let number) = resource.name.role {
            return asset.keys.resource(number) ?? resource
        }
        guard let rendition = asset.rendition(folder.id), rendition.urls.hasMoved else { return resource }
        return rendition.resource(named: resource.name) ?? resource
    }

    private func keeping(
        _ resource: Resource, in folder: PieceFolder, of asset: Asset, _ urgency: Fetch.Urgency
    ) -> Loader.StorageDecision {
        switch resource.name.role {
        case .key(let number):
            // Only a renewal stores an expired or revoked key again. A player that streams gets it from the origin.
            guard asset.keys.isUsable(number) else { return .passing(because: nil) }
            guard !asset.keys.isSaved(number) else { return .kept }
            return passing(for: asset)
        case .data:
            guard !asset.isPersistent else { return .kept }
            return passing(for: asset)
        case .segment, .initialization, .passing: break
        }
        if isRecorded(resource, in: folder, of: asset) {
            return .kept
        }
        guard let rendition = asset.rendition(folder.id), rendition.hasEnded,
            rendition.isListed(resource.name), urgency == .background || !rendition.isTail
        else { return .passing(because: nil) }
        guard rendition.isSaved else { return .passing(because: asset.saveFailure) }
        return .kept
    }

    /// For an asset that the catalogue lacks. A live stream is never written there: that is no failure.
    private func passing(for asset: Asset) -> Loader.StorageDecision {
        guard !asset.isLive else { return .passing(because: nil) }
        return .passing(because: asset.saveFailure)
    }
}
