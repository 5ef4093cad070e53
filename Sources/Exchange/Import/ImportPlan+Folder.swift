import EventLoop
import Fetching
import HTTPMessage
import Library
import Playlist
import PlaylistCheck

/// Plans the import of a folder of plain HLS. Bundles of Weir are such folders.
extension ImportPlan {
    /// Reads the playlists, and adds the pieces that they name.
    func readFolder() async throws(ExchangeError) {
        switch try await playlist(at: folder.entry) {
        case .multivariant(let playlist):
            asset.adopt(playlist, base: asset.origin)
            let imports = playlist.variables
            for (rendition, uri) in zip(asset.renditions, asset.multivariant?.renditionURIs ?? []) {
                try await read(rendition, at: uri, line: playlist.line(of: uri), imports: imports)
            }
            addSessionData(of: playlist)
        case .media(let media):
            asset.adoptLone()
            guard let lone = asset.lone else { return }
            let name = folder.name(folder.entry)
            let playlist = try adopt(.media(media), for: lone, base: asset.origin, imports: nil, as: name)
            try addPieces(of: playlist, of: lone, at: folder.entry)
        }
    }

    private func read(
        _ rendition: Rendition, at uri: String, line: Int, imports: [String: String]
    ) async throws(ExchangeError) {
        let place = try place(of: uri, line, from: folder.entry)
        guard let base = try? asset.origin.resolving(uri) else { return }
        let playlist = try await playlist(at: place, imports: imports)
        let media = try adopt(playlist, for: rendition, base: base, imports: imports, as: folder.name(place))
        try addPieces(of: media, of: rendition, at: place)
    }

    /// Adds the session data that is in the folder. Missing session data is no error: playback does not depend on it.
    private func addSessionData(of playlist: MultivariantPlaylist) {
        for data in playlist.sessionData {
            guard let uri = data.uri, let name = asset.sessionData.name(of: data),
                case .place(let place) = folder.target(of: uri, from: folder.entry), folder.has(place)
            else { continue }
            let shelf = asset.sessionData.folder.id
            add(Piece(folder: shelf, file: name.description, source: place, range: nil, namedBy: "EXT-X-SESSION-DATA"))
        }
    }
}

extension MultivariantPlaylist {
    /// The first line that names a rendition, counted from 1.
    fileprivate func line(of uri: String) -> Int {
        variants.first { $0.uri == uri }?.uriLine ?? media.first { $0.uri == uri }?.line ?? 1
    }
}
