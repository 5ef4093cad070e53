import EventLoop
import HLS

/// How an asset adopts a multivariant playlist: its renditions with their names, and their indices among the known ones.
///
/// Pure. Computed on a worker for a large playlist, because it grows with the number of lines.
struct EntryPlan: Sendable {
    /// The playlist with only the first of each set of mirrors.
    let folded: MultivariantPlaylist
    /// See `MultivariantPlaylist.mirrors`.
    let mirrors: [[Int]]
    /// The names in the order of the playlist's `renditionURIs`, mirrors included.
    let names: [RenditionNaming.Name]
    /// The former index of each rendition; nil if there was nothing to compare with.
    let formerIndices: [Int?]?
    /// See `MultivariantPlaylist.possibleMirrors`.
    let possibleMirrors: [Int: [Int]]
    let images: [RenditionNaming.Name]

    /// - Parameter known: the present playlist of the asset.
    init(_ playlist: MultivariantPlaylist, known: MultivariantPlaylist?) {
        mirrors = playlist.mirrors
        folded = playlist.folded(mirrors)
        names = RenditionNaming(playlist).names
        formerIndices = known.map { [folded] in folded.renditionIndices(in: $0) }
        possibleMirrors = folded.possibleMirrors
        images = ImageRenditions.names(playlist)
    }
}

extension Asset {
    /// Plans the adoption of a playlist, on a worker if that is large. Throws `missing` if the asset is removed meanwhile.
    func plan(_ playlist: MultivariantPlaylist) async throws(LibraryError) -> EntryPlan {
        while true {
            let content = content
            let known = content.multivariant
            let edition = content.edition
            let lines = playlist.renditionURIs.count + playlist.media.count
            let plan = await PureWork.shared.run(size: 256 * lines, for: access) {
                EntryPlan(playlist, known: known)
            }
            guard let plan else { throw LibraryError(.missing, "\(name) was removed") }
            // Another multivariant playlist may have come meanwhile.
            if content === self.content, edition == content.edition {
                return plan
            }
        }
    }
}
