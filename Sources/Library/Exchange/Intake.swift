import EventLoop
import Fetching
import HTTPMessage
import Playlist
import PlaylistCheck
import Store

/// What is to come into the store from a folder: an asset that nobody knows yet, and the files that its pieces are made
/// of.
@LoopActor final class Intake {
    /// One piece to be made.
    struct Piece: Sendable {
        /// Its folder in the bundle.
        let folder: String
        /// Its name there.
        let file: String
        /// Where its bytes are.
        let source: PlaylistFolder.Place
        /// Which of the file's bytes; nil for all of them.
        let range: Range<Int64>?
        /// How many bytes there must be, where that is known; else nil.
        var length: Int64?
        /// What names it, for messages: a playlist and its line.
        let namedBy: String
    }

    /// With its playlists adopted; not registered.
    let asset: Asset
    /// Where the files are.
    let folder: PlaylistFolder
    /// What is to be made of them, keys and initialization sections too.
    private(set) var pieces: [Piece] = []
    private var named: Set<String> = []

    /// An intake of an asset that has no playlists yet.
    init(_ asset: Asset, from folder: PlaylistFolder) { (self.asset, self.folder) = (asset, folder) }

    // MARK: Reading

    /// Reads a playlist of the folder.
    ///
    /// - Parameter imports: the variables of the multivariant playlist that names it.
    func playlist(
        at place: PlaylistFolder.Place, imports: [String: String]? = nil
    ) async throws(LibraryError) -> Playlist {
        let reading = await folder.read(place)
        guard let bytes = reading.bytes else {
            throw LibraryError(.badImport, "\(folder.name(place)) cannot be read: \(Self.reason(reading))")
        }
        return try parse(bytes, as: folder.name(place), imports: imports)
    }

    private static func reason(_ reading: CheckReading<PlaylistFolder.Place>) -> String {
        reading.findings.first.map { String($0.message.trimmingPrefix("not read: ")) } ?? "nothing came"
    }

    /// Reads the text of a playlist.
    func parse(_ bytes: [UInt8], as name: String, imports: [String: String]? = nil) throws(LibraryError) -> Playlist {
        do throws(PlaylistError) {
            return try Playlist.parse(bytes, variables: VariableSources(imports: imports))
        } catch {
            throw LibraryError(.badImport, "\(name) is no playlist that can be used: \(error)", underlying: error)
        }
    }

    /// Lets a rendition have its playlist.
    ///
    /// - Parameter name: what the playlist is called in messages.
    /// - Throws: `badImport` for what is no media playlist, has not ended, or cannot be played without DRM.
    func adopt(
        _ playlist: Playlist, for rendition: Rendition, base: WebURL, imports: [String: String]?, as name: String
    ) throws(LibraryError) -> MediaPlaylist {
        guard case .media(let media) = playlist else {
            throw LibraryError(.badImport, "\(name) is no media playlist, although a multivariant playlist names it so")
        }
        guard !media.isLive else {
            throw LibraryError(
                .badImport, "\(name) has no EXT-X-ENDLIST: what goes on, or was cut off, is not imported")
        }
        rendition.adopt(Rendition.Source(playlist: media, base: base, imports: imports))
        guard !rendition.needsDRM else {
            throw LibraryError(.badImport, "\(name) is protected by DRM, and could not be played")
        }
        return media
    }

    // MARK: Pieces

    /// Wants a piece, once.
    func add(_ piece: Piece) {
        if named.insert(piece.folder + "/" + piece.file).inserted { pieces.append(piece) }
    }

    /// Wants everything that a media playlist of the folder names, from where it says.
    func addPieces(
        of playlist: MediaPlaylist, of rendition: Rendition, at place: PlaylistFolder.Place
    ) throws(LibraryError) {
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
    ) throws(LibraryError) {
        var piece = Piece(
            folder: folder, file: name.description, source: try self.place(of: uri, line, from: place),
            range: range.map { Int64($0.offset)..<Int64($0.end) }, namedBy: "\(self.folder.name(place)), line \(line)")
        if case .key = name.role { piece.length = 16 }
        add(piece)
    }

    /// The file that a URI of a playlist in the folder leads to; nothing is fetched for an import.
    func place(
        of uri: String, _ line: Int, from place: PlaylistFolder.Place
    ) throws(LibraryError) -> PlaylistFolder.Place {
        switch folder.target(of: uri, from: place) {
        case .place(let target): return target
        case .elsewhere(let reason):
            throw LibraryError(
                .badImport, "\(folder.name(place)), line \(line): \(reason), and only what is in the folder is imported"
            )
        case .invalid: throw LibraryError(.badImport, "\(folder.name(place)), line \(line): the URI is none")
        }
    }
}
