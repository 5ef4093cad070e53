import Assets
import Downloads
import HTTPMessage
import Orders
import Playback
import Retention
import SafeText
import Sessions
import Substitution
import WeirAPI

/// Answers a command before it starts a player, because players report a refusal poorly.
extension LibraryService {
    /// The presentation that a player of a source would get. Throws what a download of the same source would throw, and `.offline`
    /// if it plays only from its origin, which is not asked.
    /// - Parameters:
    ///   - request: its selection is what the player may choose from; an empty one leaves everything.
    ///   - isOffline: true if the player asks for what is stored alone.
    func playable(
        _ request: API.DownloadRequest, isOffline: Bool
    ) async throws(APIError) -> API.Presentation {
        try Self.check(request)
        let known = knownAsset(request.source)
        let asset: Asset
        if let known {
            asset = known
        } else if isOffline {
            throw APIError(
                .noSuchAsset, "nothing of \(UserInformation(splitting: request.source).url) is stored",
                next: "weir get URL, while the network is available")
        } else {
            asset = try await open(request)
        }

        do throws(APIError) {
            try await checkPlayback(
                of: asset, isKnown: known != nil, choosing: request.order.selection, isOffline: isOffline)
        } catch {
            if known == nil {
                await discard(asset)
            }
            throw error
        }
        return await presentation(of: asset, url: asset.origin.redacted)
    }

    /// Notes where a player that Weir's sessions do not hear from has left an asset.
    func setPosition(_ position: API.Position, ofAsset name: String) async throws(APIError) -> API.Asset {
        let asset = try find(name)
        sessions?.history?.note(position.position.value, of: asset, isLast: true)
        return await shape(asset)
    }

    /// Starts the user's player for an asset.
    func play(assetNamed name: String) async throws(APIError) -> API.Asset {
        let asset = try find(name)
        guard let players else { throw APIError(.noProgram, "this daemon starts no player") }
        try await players.play(asset.name)
        return await shape(asset)
    }

    func knownAsset(_ source: String) -> Asset? {
        if let asset = library.asset(named: source) ?? library.asset(id: source) {
            return asset
        }
        let plain = UserInformation(splitting: source).url
        return (try? Self.url(plain)).flatMap { library.asset(at: $0) }
    }

    /// Throws if a player would be refused, or would get nothing that it can show.
    private func checkPlayback(
        of asset: Asset, isKnown: Bool, choosing choice: Selection, isOffline: Bool
    ) async throws(APIError) {
        await library.wake(asset)
        // If the playlist is known, that it lacks a choice is said, and not that nothing of it is stored.
        try checkChoice(choice, among: asset)
        do throws(LibraryError) {
            try retention.checkExpiry(of: asset)
            // A recording plays while it grows.
            if !asset.isRecording {
                try await checkContent(of: asset, choosing: choice, isOffline: isOffline)
            }
        } catch {
            throw APIError(error, asset: asset.name, url: asset.origin.redacted)
        }

        try checkChoice(choice, among: asset)
        if asset.renditions.contains(where: \.needsDRM) {
            throw Self.failure(.needsDRM(name: asset.name), of: asset, isKnown: isKnown)
        }
    }

    /// Throws if a player's request would find nothing that plays.
    private func checkContent(
        of asset: Asset, choosing choice: Selection, isOffline: Bool
    ) async throws(LibraryError) {
        // Complete media plays whatever the origin says: nothing waits for the network.
        let decision = EntryDecision(library: library, substitutions: substitutions)
        var chosen: Selection?
        if choice != Selection() {
            chosen = choice
        }
        let isEnough = decision.isPlayableOffline(asset, choosing: chosen)
        let isStored = isOffline || library.isOffline || isEnough
        if case .origin = try await decision.content(of: asset, isStored: isStored, choosing: chosen) {
            await loadFirstPlaylist(of: asset)
        }
    }

    /// Loads a media playlist, which may show that the asset needs DRM. If this variant fails, another one may still play.
    private func loadFirstPlaylist(of asset: Asset) async {
        guard let first = asset.renditions.first else { return }
        _ = try? await library.playlists.source(of: first, in: asset)
    }

    private func checkChoice(_ choice: Selection, among asset: Asset) throws(APIError) {
        guard choice != Selection(), let multivariant = asset.multivariant else { return }
        do throws(Selection.NoMatch) {
            _ = try choice.playable(in: multivariant)
        } catch {
            throw APIError(error, source: asset.origin.redacted)
        }
    }
}
