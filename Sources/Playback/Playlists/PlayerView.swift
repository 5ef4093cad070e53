import Assets
import EventLoop
import Extras
import Fetching
import HLS
import HTTPMessage
import Substitution

/// Drafts an asset's playlists for a player: names of Weir's replace the origin's URLs.
@LoopActor struct PlayerView {
    let library: Library
    let asset: Asset
    let session: Session
    /// Path prefix of all URLs, for a player that does not reach Weir at the root.
    var mount = ""
    /// Weir's own scheme and authority for a page of another origin, else empty. X-ASSET-URI and the URIs of an asset list are absolute
    /// (rfc8216bis appendix D): hls.js takes a relative one as relative to its page.
    var base = ""
    /// True for a player that does not request segments with EXT-X-GAP: it shows how long the gap is.
    var keepsGaps = false
    /// True if the player begins with the first segment of a playlist that grows.
    var startsAtBeginning = false
    /// True if the player may seek in all that a live playlist lists: as a plain one, whose beginning stays for a while.
    var seeksInAll = false
    /// True if the player finds a media playlist in the folder of its rendition, and not at the URL of an entry.
    var isInFolder = true

    /// The draft of the rendition's playlist, or of a delta update of it, as it was fetched. A low-latency playlist changes
    /// only its URLs, because players merge its updates.
    /// - Parameter cut: the parts to leave out because they are not stored.
    func draft(
        _ rendition: Rendition, _ source: Rendition.Source, cut: MediaPlaylistCut? = nil
    ) async -> PlaylistDraft {
        // All at one moment: the playlist may be replaced between two slices.
        var names = rendition.names(in: source)
        var view = form(of: source, isCut: cut != nil)
        view.fillsGaps = rendition.fillsGaps(of: source)
        names.base = source.base
        if !isInFolder {
            names.asset = SessionPath.mark
            names.rendition = "\(SessionPath.mark)\(rendition.name.id)/"
        }
        let isRelayed =
            source.playlist.isLowLatency && source.playlist.isLive && !source.isRecorded && cut == nil && !seeksInAll
        if isRelayed {
            addLowLatencyNames(to: &names, rendition, source)
        }

        var slice = LoopSlice()
        for range in source.playlist.dateRanges {
            if range.index % 64 == 0 {
                await slice.giveWay()
            }
            guard range.isInterstitial else { continue }
            let presentation = listedURI(of: range.assetURI, .presentation, in: rendition, source: source)
            names.presentations[range.index] = presentation.map { base + $0 }
            names.lists[range.index] = listedURI(of: range.assetList, .list, in: rendition, source: source)
        }
        return .media(
            MediaDraft(
                asset: asset.id, folder: rendition.name.id, view: view, cut: cut, playlist: source.playlist,
                names: names))
    }

    /// The form in which a playlist is written.
    /// - Parameter isCut: true if segments are left out. Then a low-latency playlist is a plain one: its players name segments by
    ///   the origin's numbers.
    private func form(of source: Rendition.Source, isCut: Bool) -> MediaPlaylistView {
        var view = MediaPlaylistView.plain
        if source.isDurable {
            view = .stored
        } else if source.isRecorded {
            view = .growing
        } else if source.playlist.isLowLatency, !isCut, !seeksInAll {
            view = .relay
        }
        view.keepsGaps = keepsGaps
        view.isEvent = seeksInAll
        view.startsAtBeginning = startsAtBeginning
        return view
    }

    private func addLowLatencyNames(to names: inout MediaNames, _ rendition: Rendition, _ source: Rendition.Source) {
        let playlist = source.playlist
        names.parts = playlist.parts.map { rendition.name(of: $0, in: source)?.description }
        names.hints = playlist.preloadHints.map { rendition.name(of: $0, in: source)?.description }
        names.reports = playlist.renditionReports.map {
            asset.rendition(reportedAs: $0.uri, base: source.base).map { "\($0.name.id)/\(Route.playlistFile)" }
        }
    }

    // MARK: Interstitials

    /// URI of an interstitial; nil if the player must not load it. Interstitials usually come from another server. A rendition
    /// that plays without its origin therefore names only stored interstitials, so that no request leaves the machine; but those
    /// that a download could not store stream while the origin may be asked.
    private func listedURI(
        of uri: String?, _ kind: Interstitials.Kind, in rendition: Rendition, source: Rendition.Source
    ) -> String? {
        guard let url = uri.flatMap({ try? source.base.resolving($0) }) else { return nil }
        let name = asset.content.interstitials.name(url, kind)
        if asset.content.additions.hasStored(name) {
            return Self.uri(of: name)
        }
        let isOffline = session.mode == .offline || library.isOffline
        let isWanted = asset.content.additions.keepsInterstitials && session.mode != .local
        if !isOffline, !rendition.isComplete || isWanted {
            return Self.uri(of: name)
        }
        guard kind == .presentation, let stored = library.asset(at: url), stored.isPlayableOffline else { return nil }
        let entry = "\(PercentEncoding.encode(stored.name)).m3u8"
        guard session.mode == .offline else { return "\(mount)/\(entry)" }
        return "\(mount)/offline/\(entry)"
    }

    private static func uri(of name: Interstitials.Name) -> String {
        "\(SessionPath.mark)\(Interstitials.folder)/\(name)"
    }

    /// URI of an interstitial in a list.
    func listedURI(of name: Interstitials.Name) -> String { base + Self.uri(of: name) }

    // MARK: Entries

    /// The draft of the entry playlist; nil if there is nothing to play.
    /// - Parameters:
    ///   - stored: the renditions to list, which are stored; nil for all.
    ///   - dead: what is left out because only dead hosts have it.
    func draft(stored: Set<Int>? = nil, without dead: DeadParts = DeadParts()) async throws(PlaylistError)
        -> PlaylistDraft?
    {
        if asset.multivariant != nil {
            if let stored {
                return draft(listing: stored)
            }
            if !dead.renditions.isEmpty {
                return draft(.without(dead.renditions), isStored: false)
            }
            return draft(.all(complete: asset.content.completeRenditions), isStored: false)
        }
        guard let rendition = asset.renditions.first, stored == nil || rendition.isComplete,
            let source = rendition.source
        else { return nil }
        return try await draft(lone: rendition, source, cut: dead.cut)
    }

    /// The draft of an entry playlist with an asset's only rendition.
    func draft(listingOnly rendition: Rendition) -> PlaylistDraft {
        .text(rendition.masterText(uri: Self.playlist(of: rendition.name.id)))
    }

    /// The draft of the entry playlist of an asset that is stored in part; nil if there is nothing to play.
    /// - Parameters:
    ///   - chosen: the renditions that the player's choice leaves; nil for all.
    ///   - isCut: false to list also what is not stored of the renditions.
    func draft(
        _ stretches: PlayableRanges, among chosen: Set<Int>? = nil, isCut: Bool
    ) async throws(PlaylistError) -> PlaylistDraft? {
        if asset.multivariant != nil {
            let stored = Set(stretches.cuts.keys)
            guard let chosen else { return draft(listing: stored) }
            return draft(listing: stored.intersection(chosen))
        }
        guard let lone = asset.renditions.first, let source = lone.source else { return nil }
        let cut = isCut ? stretches.cuts[lone.index] : nil
        return try await draft(lone: lone, source, cut: cut)
    }

    /// The draft of an asset's only playlist. Attached tracks need a multivariant playlist.
    private func draft(
        lone rendition: Rendition, _ source: Rendition.Source, cut: MediaPlaylistCut?
    ) async throws(PlaylistError) -> PlaylistDraft {
        let added = asset.content.additions.tracks
        guard !added.isEmpty else { return await draft(rendition, source, cut: cut) }
        let text = rendition.masterText(uri: Self.playlist(of: rendition.name.id))
        return .text(try added.added(to: text) { SessionPath.mark + $0 })
    }

    /// The draft of the entry playlist with only the renditions at these indices in `MultivariantPlaylist.renditionURIs`.
    func draft(listing renditions: Set<Int>) -> PlaylistDraft? { draft(.listing(renditions), isStored: true) }

    /// The draft of the entry playlist with the stored variants, and all that a viewer may choose beside them.
    func draftOfStoredVariants() -> PlaylistDraft? {
        draft(.variants(asset.content.completeRenditions), isStored: false)
    }

    /// The draft of a single variant: the attributes of the best variant, and the playlist of the one whose segments are
    /// substituted. `listed` is nil if the origin is available.
    func draft(_ ladder: Ladder, listing listed: Set<Int>?) -> PlaylistDraft? {
        let indices = listed ?? Set(asset.renditions.filter { !$0.name.isIFramesOnly }.map(\.index))
        let choice = EntryDraft.Choice.ladder(best: ladder.best.index, base: ladder.base.index, indices: indices)
        return draft(choice, isStored: listed != nil)
    }

    /// - Parameter isStored: true to name only stored files.
    private func draft(_ choice: EntryDraft.Choice, isStored: Bool) -> PlaylistDraft? {
        guard let multivariant = asset.multivariant else { return nil }
        let content = asset.content
        var draft = EntryDraft(
            asset: asset.id, choice: choice, folders: content.renditions.map(\.name.id),
            added: content.additions.tracks, playlist: multivariant)
        for key in multivariant.sessionKeys {
            if isStored {
                draft.keys[key.line] = content.storedFile(of: .sessionKey(key))
            } else {
                draft.keys[key.line] = content.number(of: key).map { "keys/\($0).key" }
            }
        }
        for line in multivariant.sessionData {
            if isStored {
                draft.data[line.index] = content.storedFile(of: .sessionData(line))
            } else {
                let name = content.sessionData.name(of: line)
                draft.data[line.index] = name.map { "\(content.sessionData.folder.id)/\($0)" }
            }
        }
        for (index, rendition) in content.images.enumerated() where !isStored || rendition.isComplete {
            draft.images[index] = "\(rendition.name.id)/\(Route.playlistFile)"
        }
        return .entry(draft)
    }

    /// The draft of the stored presentation of an interstitial; nil if it is not stored.
    func draft(of name: Interstitials.Name) -> PlaylistDraft? {
        StoredInterstitials(of: asset).playlist(name, naming: Self.playlist(of:)).map { .text($0) }
    }

    private static func playlist(of folder: String) -> String { "\(SessionPath.mark)\(folder)/\(Route.playlistFile)" }
}
