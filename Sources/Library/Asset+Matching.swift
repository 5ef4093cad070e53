import Fetching
import HTTPMessage
import Playlist

/// Compares a playlist that was fetched again with the known one.
extension Asset {
    /// True if the playlist can replace the known one: it contains every rendition with stored pieces, under the name
    /// used in the store.
    func fits(_ playlist: MultivariantPlaylist) -> Bool {
        if entry == nil || bytes == 0 { return true }
        guard let known = multivariant else { return false }
        let mirrors = playlist.mirrors
        let names = RenditionNaming(playlist).names
        let places = playlist.folded(mirrors).places(in: known)
        let pairs = zip(mirrors, places).filter { mirrors, place in
            place.map { renditions[$0].name == names[mirrors[0]] } ?? false
        }
        let kept = Set(pairs.compactMap(\.1))
        return renditions.indices.allSatisfy { kept.contains($0) || renditions[$0].folder.bytes == 0 }
    }

    /// Takes new URLs of stored renditions from a playlist that does not fit.
    ///
    /// - Returns: true if the playlist contains every rendition with stored pieces. Then only the order of its lines
    ///   has changed.
    func relocate(by playlist: MultivariantPlaylist, base: WebURL) -> Bool {
        guard let known = multivariant else { return false }
        let folded = playlist.folded(playlist.mirrors)
        for (index, place) in folded.places(in: known).enumerated() {
            guard let place else { continue }
            moved[place] = folded.uris(ofRendition: index).compactMap { try? base.resolving($0) }
        }
        return renditions.indices.allSatisfy { moved[$0] != nil || renditions[$0].folder.bytes == 0 }
    }

    /// True if the origin is known to have other content than the store.
    public var hasChanged: Bool { isOutdated || renditions.contains(where: \.isOutdated) }
}
