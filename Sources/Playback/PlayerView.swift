import EventLoop
import HTTPMessage
import Library
import Playlist

/// An asset's playlists as one session's player sees them: names of ours in place of the origin's URLs.
@LoopActor struct PlayerView {
    let asset: Asset
    let session: Session

    // MARK: The entry

    /// What the asset's URL leads to.
    ///
    /// - Parameter isStored: whether only what plays without the origin is listed.
    /// - Returns: nil where nothing is stored that could be listed.
    func entry(isStored: Bool) throws(PlaylistError) -> [UInt8]? {
        guard let multivariant = asset.multivariant else {
            guard let rendition = asset.renditions.first, !isStored || rendition.isWhole else { return nil }
            return try rendition.source.map { source throws(PlaylistError) in try media(rendition, source) }
        }
        guard isStored else { return try multivariant.rendered { name($0) } }
        return try multivariant.stored(renditions: asset.wholeRenditions) { storedName($0) }
    }

    private func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        if let index = reference.renditionIndex { return playlist(asset.renditions[index]) }
        switch reference {
        case .sessionKey(let key):
            return key.isFetchable ? number(of: key).map { self.key($0) } : nil
        case .sessionData(let data): return data.uri.flatMap { url(of: $0)?.text }
        case .imageVariant(let images): return url(of: images.uri)?.text
        case .variant, .media, .iFrameVariant, .steering: return nil
        }
    }

    private func storedName(_ reference: MultivariantPlaylist.Reference) -> String? {
        if let index = reference.renditionIndex { return playlist(asset.renditions[index]) }
        guard case .sessionKey(let key) = reference, key.isFetchable, let number = number(of: key) else { return nil }
        return asset.keys.folder.contains("\(number).key") ? self.key(number) : nil
    }

    private func number(of key: Key) -> Int? { url(of: key.uri).flatMap { asset.keys.number(for: $0) } }

    private func url(of uri: String) -> WebURL? {
        guard case .multivariant(_, let base) = asset.entry else { return nil }
        return try? base.resolving(uri)
    }

    // MARK: A rendition

    /// The rendition's playlist, or a delta update of it, as it was fetched. One of low latency stays as it is but for its
    /// names: players put its texts together.
    func media(_ rendition: Rendition, _ source: Rendition.Source) throws(PlaylistError) -> [UInt8] {
        let view = source.isDurable ? MediaPlaylistView.stored : source.playlist.isLowLatency ? .relay : .plain
        return try source.playlist.rendered(view) { reference in
            switch reference {
            case .segment(let segment): resource(rendition, rendition.file(of: segment))
            case .map(let map): resource(rendition, rendition.name(of: map, in: source).description)
            case .key(let key): rendition.number(of: key, in: source).map { self.key($0) }
            case .part(let part): passing(rendition, rendition.name(of: part, in: source))
            case .preloadHint(let hint): passing(rendition, rendition.name(of: hint, in: source))
            case .renditionReport(let report):
                asset.rendition(reportedAs: report.uri, base: source.base).map { playlist($0) }
                    ?? passing(rendition, nil)
            case .assetURI(let range): range.assetURI.flatMap { try? source.base.resolving($0) }?.text
            case .assetList(let range): range.assetList.flatMap { try? source.base.resolving($0) }?.text
            }
        }
    }

    /// Without a name it is one that is not found: a hint that has none yet, which players take for one that did not come
    /// true (rfc8216bis §6.2.6), or a report on a rendition that the multivariant playlist does not list.
    private func passing(_ rendition: Rendition, _ name: PieceName?) -> String {
        resource(rendition, name?.description ?? "none")
    }

    // MARK: Names

    private func playlist(_ rendition: Rendition) -> String { resource(rendition, Route.playlistFile) }
    private func key(_ number: Int) -> String { "\(prefix)keys/\(number).key" }
    private func resource(_ rendition: Rendition, _ file: String) -> String { "\(prefix)\(rendition.name.id)/\(file)" }
    private var prefix: String { "/a/\(asset.id)/\(session.id)/" }
}
