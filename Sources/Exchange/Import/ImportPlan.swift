import EventLoop
import Fetching
import HTTPMessage
import Library
import Playlist
import PlaylistCheck
import Store

/// The plan of an import: a new asset, and the source files of its pieces.
@LoopActor final class ImportPlan {
    /// One piece to create.
    struct Piece: Sendable {
        /// Its folder in the bundle.
        let folder: String
        /// Its file name in `folder`.
        let file: String
        /// The source file.
        let source: PlaylistFolder.Place
        /// The bytes of the source file; nil for all of them.
        let range: Range<Int64>?
        /// The required number of bytes, if known.
        var length: Int64?
        /// The playlist and line that name the piece, for messages.
        let namedBy: String
    }

    /// The new asset, with its playlists; not registered.
    let asset: Asset
    /// The folder of the source files.
    let folder: PlaylistFolder
    /// The pieces to create, including keys and initialization sections.
    private(set) var pieces: [Piece] = []
    private var named: Set<String> = []

    /// Makes a plan for an asset that has no playlists yet.
    init(_ asset: Asset, from folder: PlaylistFolder) { (self.asset, self.folder) = (asset, folder) }

    // MARK: Reading

    /// Reads a playlist of the folder.
    ///
    /// - Parameter imports: the variables of the multivariant playlist that names it.
    func playlist(
        at place: PlaylistFolder.Place, imports: [String: String]? = nil
    ) async throws(ExchangeError) -> Playlist {
        let reading = await folder.read(place)
        guard let bytes = reading.bytes else {
            throw ExchangeError(.badImport, "\(folder.name(place)) cannot be read: \(Self.reason(reading))")
        }
        return try parse(bytes, as: folder.name(place), imports: imports)
    }

    private static func reason(_ reading: CheckReading<PlaylistFolder.Place>) -> String {
        reading.findings.first.map { String($0.message.trimmingPrefix("not read: ")) } ?? "nothing came"
    }

    /// Reads the text of a playlist.
    func parse(_ bytes: [UInt8], as name: String, imports: [String: String]? = nil) throws(ExchangeError) -> Playlist {
        do throws(PlaylistError) {
            return try Playlist.parse(bytes, variables: VariableSources(imports: imports))
        } catch {
            throw ExchangeError(.badImport, "\(name) is no playlist that can be used: \(error)", underlying: error)
        }
    }

    /// Gives a rendition its playlist.
    ///
    /// - Parameter name: the playlist's name in messages.
    /// - Throws: `badImport` unless it is a media playlist that has ended and needs no DRM.
    func adopt(
        _ playlist: Playlist, for rendition: Rendition, base: WebURL, imports: [String: String]?, as name: String
    ) throws(ExchangeError) -> MediaPlaylist {
        guard case .media(let media) = playlist else {
            throw ExchangeError(
                .badImport, "\(name) is no media playlist, although a multivariant playlist names it so")
        }
        guard !media.isLive else {
            throw ExchangeError(
                .badImport, "\(name) has no EXT-X-ENDLIST: what goes on, or was cut off, is not imported")
        }
        rendition.adopt(Rendition.Source(playlist: media, base: base, imports: imports))
        guard !rendition.needsDRM else {
            throw ExchangeError(.badImport, "\(name) is protected by DRM, and could not be played")
        }
        return media
    }

    // MARK: Pieces

    /// Adds a piece, unless it is in the plan.
    func add(_ piece: Piece) {
        if named.insert(piece.folder + "/" + piece.file).inserted { pieces.append(piece) }
    }

    /// Adds all pieces that a media playlist of the folder names.
    func addPieces(
        of playlist: MediaPlaylist, of rendition: Rendition, at place: PlaylistFolder.Place
    ) throws(ExchangeError) {
        for key in playlist.keys {
            guard let number = rendition.number(of: key) else { continue }
            try add(asset.keys.folder.id, KeyRing.name(number), key.uri, nil, key.line, place)
        }
        for map in playlist.maps {
            try add(rendition.name.id, rendition.name(of: map), map.uri, map.byteRange, map.line, place)
        }
        for segment in playlist.segments where !segment.isGap {
            let name = rendition.name(of: segment)
            try add(rendition.name.id, name, segment.uri, segment.byteRange, segment.line, place)
        }
    }

    private func add(
        _ folder: String, _ name: PieceName, _ uri: String, _ range: SubRange?, _ line: Int,
        _ place: PlaylistFolder.Place
    ) throws(ExchangeError) {
        var piece = Piece(
            folder: folder, file: name.description, source: try self.place(of: uri, line, from: place),
            range: range.map { Int64($0.offset)..<Int64($0.end) }, namedBy: "\(self.folder.name(place)), line \(line)")
        if case .key = name.role { piece.length = 16 }
        add(piece)
    }

    /// Resolves a URI of a playlist to a file of the folder. An import fetches nothing.
    func place(
        of uri: String, _ line: Int, from place: PlaylistFolder.Place
    ) throws(ExchangeError) -> PlaylistFolder.Place {
        switch folder.target(of: uri, from: place) {
        case .place(let target): return target
        case .elsewhere(let reason):
            throw ExchangeError(
                .badImport, "\(folder.name(place)), line \(line): \(reason), and only what is in the folder is imported"
            )
        case .invalid: throw ExchangeError(.badImport, "\(folder.name(place)), line \(line): invalid URI")
        }
    }
}

extension ImportPlan {
    /// Gives the asset the policy and the key lives of the bundle that it is made of. Keys may have other numbers here.
    func adopt(_ identity: BundleIdentity) {
        if let policy = identity.policy {
            (asset.life.policy, asset.life.firstPlayed) = (policy, identity.firstPlayed)
        }
        let lives = Dictionary((identity.keys ?? []).map { ($0.number, $0.life) }) { $1 }
        for piece in pieces where piece.folder == asset.keys.folder.id {
            guard case .key(let number)? = PieceName(piece.file)?.role,
                case .key(let former)? = PieceName(piece.source.components.last ?? "")?.role, let life = lives[former]
            else { continue }
            asset.keys.change(number) { $0 = life }
        }
    }
}
