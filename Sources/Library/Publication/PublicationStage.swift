import HTTPMessage
import Store

/// In which order files are published: what a playlist names is there before it.
enum PublicationStage: CaseIterable {
    /// Segments and initialization sections, keys, sums, the image, `asset.json`.
    case pieces
    /// Media playlists.
    case mediaPlaylists
    /// The multivariant playlist.
    case master

    /// That of a file.
    init(of path: String) {
        if path == "master.m3u8" { self = .master } else { self = path.hasSuffix(".m3u8") ? .mediaPlaylists : .pieces }
    }
}

/// What a server of files is to say of a file.
struct PublishedFields: Equatable {
    /// Content-Type.
    let contentType: String
    /// Cache-Control.
    let cacheControl: String

    /// Of a file that is published at a path.
    ///
    /// A piece never changes; a playlist may when more of the asset is stored; a key is nobody's to keep.
    init(_ path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        contentType = name == Ledger.fileName ? MediaType.text.description : MediaType(forPath: path).description
        cacheControl =
            if path.hasPrefix("keys/") && name != Ledger.fileName {
                "no-store"
            } else if !path.contains("/") || name == Ledger.fileName || name.hasSuffix(".m3u8") {
                "public, max-age=10"
            } else {
                "public, max-age=31536000, immutable"
            }
    }
}
