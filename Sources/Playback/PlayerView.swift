import EventLoop
import Fetching
import HTTPMessage
import Library
import Playlist
import Substitution

/// Renders an asset's playlists for one session's player: local URLs replace the origin's.
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

    /// Renders the rendition's playlist, or a delta update of it, as it was fetched. A low-latency playlist changes
    /// only its URLs, because players merge its updates.
    /// - Parameters:
    ///   - isLast: true to end the playlist here, whatever the source says.
    ///   - cut: the parts to leave out because they are not stored.
    func media(
        _ rendition: Rendition, _ source: Rendition.Source, isLast: Bool = false, cut: MediaPlaylistCut? = nil
    ) throws(PlaylistError) -> [UInt8] {
        try source.playlist.rendered(form(of: source, isLast: isLast, isCut: cut != nil), cut: cut) { reference in
            switch reference {
            case .segment(let segment): resource(rendition, file(of: segment, rendition, source))
            case .map(let map): resource(rendition, rendition.name(of: map, in: source).description)
            case .key(let key):
                rendition.number(of: key, in: source).map { self.key($0) } ?? MediaDraft.absolute(key.uri, source.base)
            case .part(let part): passing(rendition, rendition.name(of: part, in: source))
            case .preloadHint(let hint): passing(rendition, rendition.name(of: hint, in: source))
            case .renditionReport(let report):
                resource(of: report, in: source) ?? passing(rendition, nil)
            case .assetURI(let range): presentation(range, rendition, source)
            case .assetList(let range): interstitial(range.assetList, .list, rendition, source).map(link)
            }
        }
    }

    /// The form in which a playlist is written.
    /// - Parameter isCut: true if segments are left out. Then a low-latency playlist is a plain one: its players name segments by
    ///   the origin's numbers.
    func form(of source: Rendition.Source, isLast: Bool, isCut: Bool) -> MediaPlaylistView {
        var view = MediaPlaylistView.plain
        if source.isDurable || isLast {
            view = .stored
        } else if source.isRecorded {
            view = .growing
        } else if source.playlist.isLowLatency, !isCut {
            view = .relay
        }
        view.keepsGaps = keepsGaps
        return view
    }

    private func file(of segment: Segment, _ rendition: Rendition, _ source: Rendition.Source) -> String {
        source.isDurable ? rendition.file(of: segment) : rendition.file(of: segment, in: source)
    }

    /// URL of a partial segment, a hint or a rendition report. Without a name the URL leads to a 404: for a hint that
    /// has no name yet, which players treat as a hint that did not come true (rfc8216bis §6.2.6), and for a report on a
    /// rendition that the multivariant playlist does not list.
    private func passing(_ rendition: Rendition, _ name: PieceName?) -> String {
        resource(rendition, name?.description ?? MediaDraft.none)
    }

    /// URL of an interstitial: behind `prefix`, unless it begins with a slash. Interstitials usually come from another server. A rendition
    /// that plays without its origin therefore names only stored interstitials, so that no request leaves the machine; but those
    /// that a download could not store stream while the origin may be asked.
    func interstitial(
        _ uri: String?, _ kind: Interstitials.Kind, _ rendition: Rendition, _ source: Rendition.Source
    ) -> String? {
        guard let url = uri.flatMap({ try? source.base.resolving($0) }) else { return nil }
        let name = asset.interstitials.name(url, kind)
        if asset.hasStored(name) { return path(of: name) }
        let isOffline = session.mode == .offline || library.isOffline
        let isWanted = asset.additions.keepsInterstitials && session.mode != .local
        if !isOffline, !rendition.isComplete || isWanted { return path(of: name) }
        guard kind == .presentation, let stored = library.asset(at: url), stored.isPlayableOffline else { return nil }
        return mount + (session.mode == .offline ? "/offline/" : "/") + "\(stored.name).m3u8"
    }

    /// URL of the presentation that a date range names; nil if the player must not load it.
    func presentation(_ range: DateRange, _ rendition: Rendition, _ source: Rendition.Source) -> String? {
        interstitial(range.assetURI, .presentation, rendition, source).map { base + link($0) }
    }

    func interstitial(_ name: Interstitials.Name) -> String { base + link(path(of: name)) }
    private func path(of name: Interstitials.Name) -> String { "\(Interstitials.folder)/\(name)" }
    private func link(_ path: String) -> String { path.hasPrefix("/") ? path : "\(prefix)\(path)" }
    /// URL of the playlist that a report is about; nil if the multivariant playlist does not list it.
    private func resource(of report: RenditionReport, in source: Rendition.Source) -> String? {
        asset.rendition(reportedAs: report.uri, base: source.base).map { resource($0, Route.playlistFile) }
    }

    func playlist(named rendition: String) -> String { "\(prefix)\(rendition)/\(Route.playlistFile)" }
    private func key(_ number: Int) -> String { "\(prefix)keys/\(number).key" }
    private func resource(_ rendition: Rendition, _ file: String) -> String { "\(prefix)\(rendition.name.id)/\(file)" }
    /// The path of all that the session may request.
    var prefix: SessionPrefix { SessionPrefix(mount: mount, asset: asset.id, session) }
}

/// Remembers the playable ranges of partly stored assets for the sessions that play them. All playlists of a session
/// must be cut alike, but more pieces may be stored between one playlist request and the next. A forgotten session gets
/// the current ranges, which are equal if nothing was stored meanwhile.
@LoopActor struct StretchesShelf {
    private var known: [(session: String, stretches: PlayableRanges)] = []
    private static let limit = 32

    mutating func insert(_ stretches: PlayableRanges, for session: Session) {
        if known.count >= Self.limit { known.removeFirst() }
        known.append((session.id, stretches))
    }

    /// The cut that a session's entry had for a rendition.
    private func knownCut(of rendition: Rendition, _ session: Session) -> MediaPlaylistCut? {
        known.last { $0.session == session.id }?.stretches.cuts[rendition.place]
    }

    /// Returns the cut for a rendition's playlist; nil if no cut applies, or if too little of it is stored. A rendition
    /// that no entry lists is cut on its own.
    func cut(
        of rendition: Rendition, in asset: Asset, _ session: Session, _ substitutions: Substitutions
    ) async -> MediaPlaylistCut? {
        if let cut = knownCut(of: rendition, session) { return cut }
        if !asset.isPlayableOffline, let stored = await substitutions.playableRanges(of: asset), stored.isPlayable,
            let cut = stored.cuts[rendition.place]
        {
            return cut
        }
        guard !rendition.isComplete, let alone = await substitutions.playableRanges(of: rendition, in: asset),
            alone.isPlayable
        else { return nil }
        return alone.cuts[rendition.place]
    }
}
