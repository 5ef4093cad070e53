import Fetching
import HTTPMessage
import Playlist

/// What a text that was fetched again is to the asset that is known.
extension Asset {
    /// Whether the text can take the place of the known one: every rendition of which something is stored is in it,
    /// under the name that it has in the store.
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

    /// Takes from a text that does not fit where those renditions are that it still has.
    ///
    /// - Returns: whether these are all of which something is stored: only the order of the lines has changed then.
    func relocate(by playlist: MultivariantPlaylist, base: WebURL) -> Bool {
        guard let known = multivariant else { return false }
        let folded = playlist.folded(playlist.mirrors)
        for (index, place) in folded.places(in: known).enumerated() {
            guard let place else { continue }
            moved[place] = folded.uris(ofRendition: index).compactMap { try? base.resolving($0) }
        }
        return renditions.indices.allSatisfy { moved[$0] != nil || renditions[$0].folder.bytes == 0 }
    }

    /// Whether the origin has other content than what is stored, as far as is known.
    public var hasChanged: Bool { isOutdated || renditions.contains(where: \.isOutdated) }
}
