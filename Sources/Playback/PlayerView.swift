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
            return try media(rendition)
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

    /// The rendition's playlist, whose source is known; empty before that.
    func media(_ rendition: Rendition) throws(PlaylistError) -> [UInt8] {
        guard let source = rendition.source else { return [] }
        return try source.playlist.rendered(source.isDurable ? .stored : .plain) { reference in
            switch reference {
            case .segment(let segment): resource(rendition, rendition.file(of: segment))
            case .map(let map): resource(rendition, rendition.name(of: map).description)
            case .key(let key): rendition.number(of: key).map { self.key($0) }
            case .assetURI(let range): range.assetURI.flatMap { try? source.base.resolving($0) }?.text
            case .assetList(let range): range.assetList.flatMap { try? source.base.resolving($0) }?.text
            case .part, .preloadHint, .renditionReport: nil
            }
        }
    }

    // MARK: Names

    private func playlist(_ rendition: Rendition) -> String { resource(rendition, Route.playlistFile) }
    private func key(_ number: Int) -> String { "\(prefix)keys/\(number).key" }
    private func resource(_ rendition: Rendition, _ file: String) -> String { "\(prefix)\(rendition.name.id)/\(file)" }
    private var prefix: String { "/a/\(asset.id)/\(session.id)/" }
}
