import Assets
import CLinux
import EventLoop
import Fetching
import Glibc
import HLS
import HTTPMessage
import Orders
import PlaylistCheck
import Store

/// The plan of an import: a new asset, and the source files of its pieces.
@LoopActor final class ImportPlan {
    struct Piece: Sendable {
        let folder: String
        let file: String
        let source: PlaylistFolder.Location
        /// The bytes of the source file; nil for all of them.
        let range: Range<Int64>?
        /// The required number of bytes, if known.
        var length: Int64?
        /// The playlist and line that name the piece, for messages.
        let namedBy: String
    }

    /// The new asset, with its playlists; not registered.
    let asset: Asset
    let folder: PlaylistFolder
    /// The keys, the initialization sections and the files of additions.
    private var planned = PlannedPieces()
    /// The segments of each rendition: one list of a million pieces would be moved as a whole whenever it grows.
    private var segments: [PlannedPieces] = []
    /// True if each piece is a whole file that is already where the bundle of the asset has it.
    var isInPlace: Bool { planned.isInPlace && segments.allSatisfy(\.isInPlace) }
    /// The renditions whose playlists were read: the bundle's own playlists list these.
    var listed: [Rendition] { asset.renditions.filter { $0.source != nil } }
    /// Texts of the bundle besides its playlists.
    var texts: [(folder: String, file: String, bytes: [UInt8])] = []
    /// The playlists that were read. Several renditions may name one.
    private var playlists: [PlaylistFolder.Location: Playlist] = [:]
    private var slice = LoopSlice()

    init(_ asset: Asset, from folder: PlaylistFolder) {
        self.asset = asset
        self.folder = folder
    }

    // MARK: Reading

    func playlist(
        at location: PlaylistFolder.Location, imports: [String: String]? = nil
    ) async throws(ExchangeError) -> Playlist {
        var reading: CheckReading<PlaylistFolder.Location>?
        if playlists[location] == nil {
            reading = await folder.read(location)
        }
        return try await parsed(at: location, imports: imports) { [folder, reading] () throws(ExchangeError) in
            guard let reading, let bytes = reading.bytes else {
                let reason = reading.map(Self.reason) ?? "nothing came"
                throw ExchangeError(.badImport, "\(folder.name(location)) cannot be read: \(reason)")
            }
            return bytes
        }
    }

    /// Parses a playlist outside the loop, unless it was parsed before.
    func parsed(
        at location: PlaylistFolder.Location, imports: [String: String]?,
        _ bytes: @escaping @Sendable () throws(ExchangeError) -> [UInt8]
    ) async throws(ExchangeError) -> Playlist {
        if let known = playlists[location] {
            return known
        }
        let name = folder.name(location)
        let result = await FileLane.shared.run { _ in
            Result { () throws(ExchangeError) in try Self.parse(try bytes(), as: name, imports: imports) }
        }
        guard let result else { throw givenUp }
        let playlist = try result.get()
        playlists[location] = playlist
        return playlist
    }

    /// Lets the loop do other work after a while of this. Throws `badImport` once nobody waits for the import.
    func giveWay() async throws(ExchangeError) {
        var slice = slice
        await slice.giveWay()
        self.slice = slice
        guard slice.mayGoOn else { throw givenUp }
    }

    var givenUp: ExchangeError {
        ExchangeError(.badImport, "\(folder.name(folder.entry)) is not imported: the request was cancelled")
    }

    private nonisolated static func reason(_ reading: CheckReading<PlaylistFolder.Location>) -> String {
        guard let finding = reading.findings.first else { return "nothing came" }
        return String(finding.message.trimmingPrefix("not read: "))
    }

    private nonisolated static func parse(
        _ bytes: [UInt8], as name: String, imports: [String: String]?
    ) throws(ExchangeError) -> Playlist {
        do throws(PlaylistError) {
            return try Playlist.parse(bytes, variables: VariableSources(imports: imports))
        } catch {
            throw ExchangeError(.badImport, "\(name) is no playlist that can be used: \(error)", underlying: error)
        }
    }

    /// - Parameter name: the playlist's name in messages.
    /// - Throws: `badImport` unless it is a media playlist that has ended and needs no DRM, and once nobody waits for the import.
    func adopt(
        _ playlist: Playlist, for rendition: Rendition, base: WebURL, imports: [String: String]?, as name: String
    ) async throws(ExchangeError) -> MediaPlaylist {
        guard case .media(let media) = playlist else {
            throw ExchangeError(
                .badImport, "\(name) is no media playlist, although a multivariant playlist names it so")
        }
        guard !media.isLive else {
            throw ExchangeError(
                .badImport, "\(name) has no EXT-X-ENDLIST: what goes on, or was cut off, is not imported")
        }
        let source = Rendition.Source(playlist: media, base: base, imports: imports)
        guard let prepared = await source.prepared(as: rendition.name.content) else { throw givenUp }
        rendition.adopt(prepared)
        guard !rendition.needsDRM else {
            throw ExchangeError(.badImport, "\(name) is protected by DRM, and could not be played")
        }
        return media
    }

    // MARK: Pieces

    func add(_ piece: Piece) { planned.add(piece) }

    /// Returns all pieces, and forgets them: the caller frees them where that may take long.
    func takePieces() -> [[Piece]] {
        let pieces = [planned.pieces] + segments.map(\.pieces)
        planned = PlannedPieces()
        segments = []
        return pieces
    }

    /// Adds the pieces of a playlist's segments, in slices on the lane for files of the user.
    /// - Parameter piece: makes the piece of a segment; `number` counts those that are no gaps.
    func addSegments(
        of playlist: MediaPlaylist,
        _ piece: @escaping @Sendable (_ segment: Segment, _ number: Int) throws(ExchangeError) -> Piece
    ) async throws(ExchangeError) {
        let work = SegmentPlanning(of: playlist)
        let result = await FileLane.shared.run(inSlices: work) { $0.plan(piece) }
        guard let result else { throw givenUp }
        segments.append(try result.get())
    }

    func addPieces(
        of playlist: MediaPlaylist, of rendition: Rendition, at location: PlaylistFolder.Location
    ) async throws(ExchangeError) {
        // The playlist itself has the key of a `data:` URI.
        for key in playlist.usedKeys where key.data == nil {
            guard let number = rendition.number(of: key) else { continue }
            let reference = NamingLine(key.uri, line: key.line, in: location)
            var piece = try reference.piece(KeyRing.name(number).description, of: asset.keys.folder.id, in: folder)
            piece.length = 16
            add(piece)
            try await giveWay()
        }
        let id = rendition.name.id
        for map in playlist.maps {
            let reference = NamingLine(map.uri, range: map.byteRange, line: map.line, in: location)
            add(try reference.piece(rendition.name(of: map).description, of: id, in: folder))
            try await giveWay()
        }
        let names = rendition.segmentNames()
        try await addSegments(of: playlist) { [folder] (segment, _) throws(ExchangeError) in
            let reference = NamingLine(segment.uri, range: segment.byteRange, line: segment.line, in: location)
            return try reference.piece(names.file(of: segment), of: id, in: folder)
        }
    }

    /// Adopts the description, the policy and the key lives of the bundle. Keys may have other numbers here.
    func adopt(_ identity: BundleIdentity) {
        asset.note = identity.note
        if let policy = identity.policy {
            asset.life.policy = policy
            asset.life.firstPlayed = identity.firstPlayed
        }
        let identified = identity.keys ?? []
        let lives = Dictionary(identified.map { ($0.number, $0.life) }) { $1 }
        for piece in planned.pieces where piece.folder == asset.keys.folder.id {
            guard case .key(let number)? = PieceName(piece.file)?.role,
                case .key(let former)? = PieceName(piece.source.components.last ?? "")?.role, let life = lives[former]
            else { continue }
            asset.keys.change(number) { $0 = life }
        }
    }
}

/// Plans the import of a folder of plain HLS. Bundles of Weir are such folders.
extension ImportPlan {
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
            asset.content.adoptLone()
            guard let lone = asset.content.lone else { return }
            let name = folder.name(folder.entry)
            let playlist = try await adopt(.media(media), for: lone, base: asset.origin, imports: nil, as: name)
            try await addPieces(of: playlist, of: lone, at: folder.entry)
        }
    }

    private func read(
        _ rendition: Rendition, at uri: String, line: Int, imports: [String: String]
    ) async throws(ExchangeError) {
        let location = try NamingLine(uri, line: line, in: folder.entry).target(in: folder)
        guard let base = try? asset.origin.resolving(uri) else { return }
        let playlist = try await playlist(at: location, imports: imports)
        let media = try await adopt(playlist, for: rendition, base: base, imports: imports, as: folder.name(location))
        try await addPieces(of: media, of: rendition, at: location)
    }

    /// Missing session data is no error: playback does not depend on it.
    private func addSessionData(of playlist: MultivariantPlaylist) {
        for data in playlist.sessionData {
            guard let uri = data.uri, let name = asset.content.sessionData.name(of: data),
                case .location(let location) = folder.target(of: uri, from: folder.entry), folder.has(location)
            else { continue }
            let shelf = asset.content.sessionData.folder.id
            add(
                Piece(
                    folder: shelf, file: name.description, source: location, range: nil, namedBy: "EXT-X-SESSION-DATA"))
        }
    }
}

/// A line of a playlist in the folder that names a file.
private struct NamingLine: Sendable {
    private let uri: String
    private let range: SubRange?
    private let line: Int
    private let playlist: PlaylistFolder.Location

    init(_ uri: String, range: SubRange? = nil, line: Int, in playlist: PlaylistFolder.Location) {
        self.uri = uri
        self.range = range
        self.line = line
        self.playlist = playlist
    }

    /// The file that the line names. An import fetches nothing.
    func target(in folder: PlaylistFolder) throws(ExchangeError) -> PlaylistFolder.Location {
        switch folder.target(of: uri, from: playlist) {
        case .location(let target): return target
        case .elsewhere(let reason):
            throw ExchangeError(
                .badImport, "\(name(in: folder)): \(reason), and only what is in the folder is imported")
        case .invalid: throw ExchangeError(.badImport, "\(name(in: folder)): invalid URI")
        }
    }

    func piece(_ file: String, of id: String, in folder: PlaylistFolder) throws(ExchangeError) -> ImportPlan.Piece {
        ImportPlan.Piece(
            folder: id, file: file, source: try target(in: folder),
            range: range.map { Int64($0.offset)..<Int64($0.end) }, namedBy: name(in: folder))
    }

    private func name(in folder: PlaylistFolder) -> String { "\(folder.name(playlist)), line \(line)" }
}

/// Pieces of an import, each once.
private struct PlannedPieces: Sendable {
    private(set) var pieces: [ImportPlan.Piece] = []
    private(set) var isInPlace = true
    private var named: Set<String> = []

    mutating func add(_ piece: ImportPlan.Piece) {
        if named.insert(piece.folder + "/" + piece.file).inserted {
            pieces.append(piece)
            isInPlace = isInPlace && piece.range == nil && piece.source.components == [piece.folder, piece.file]
        }
    }
}

/// Plans the pieces of a playlist's segments, step by step.
private struct SegmentPlanning: Sendable {
    private static let step = 64
    private var planned = PlannedPieces()
    private let segments: Segments
    private var next = 0
    /// The number of segments so far that are no gaps.
    private var number = 0

    init(of playlist: MediaPlaylist) { segments = playlist.segments }

    /// Plans some segments. Returns their pieces once there are no more, or one has no piece.
    mutating func plan(
        _ piece: (Segment, Int) throws(ExchangeError) -> ImportPlan.Piece
    ) -> Result<PlannedPieces, ExchangeError>? {
        let end = min(next + Self.step, segments.count)
        do throws(ExchangeError) {
            for segment in segments[next..<end] where !segment.isGap {
                planned.add(try piece(segment, number))
                number += 1
            }
        } catch {
            return .failure(error)
        }
        next = end
        guard end == segments.count else { return nil }
        return .success(planned)
    }
}

extension MultivariantPlaylist {
    fileprivate func line(of uri: String) -> Int {
        if let variant = variants.first(where: { $0.uri == uri }) {
            return variant.uriLine
        }
        return media.first { $0.uri == uri }?.line ?? 1
    }
}

/// Copies files of an imported folder, and checks them against the ledgers beside them. Used on one thread.
struct ImportFiles {
    private let folder: PlaylistFolder
    /// Ledgers that were read, by folder; nil for a folder without one.
    private var ledgers: [[String]: Ledger?] = [:]

    init(_ folder: PlaylistFolder) { self.folder = folder }

    /// Copies the source of a piece into a bundle.
    ///
    /// - Throws: `missing` if the source is no file; `wrongLength` if it is too short; `contentChanged` if it does not
    ///   match the ledger.
    mutating func add(_ piece: ImportPlan.Piece, to bundle: StagedBundle) throws(StoreError) {
        let path = "\(folder.name(piece.source)) (\(piece.namedBy))"
        let file = folder.openFile(piece.source)
        guard file >= 0 else {
            let reason = errno == ELOOP ? "a link, which is not followed" : Self.reason
            throw StoreError(.missing, path: path, detail: reason)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.missing, path: path, detail: "not a file")
        }
        let size = Int64(status.st_size)
        let range = piece.range ?? 0..<size
        guard range.upperBound <= size, piece.length ?? Int64(range.count) == Int64(range.count), !range.isEmpty else {
            throw StoreError(.wrongLength, path: path, detail: "its length is not the one that the playlist gives")
        }
        var known: Ledger.Entry?
        // The ledger has the digests of whole files.
        if piece.range == nil, let name = piece.source.components.last {
            known = ledger(beside: piece.source)?.entries[name]
        }
        guard known?.size ?? size == size else {
            throw StoreError(.contentChanged, path: path, detail: "not as long as \(Ledger.fileName) beside it says")
        }
        try bundle.add(piece.file, to: piece.folder, from: file, range, expecting: known?.digest, path: path)
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private mutating func ledger(beside location: PlaylistFolder.Location) -> Ledger? {
        let home = Array(location.components.dropLast())
        if let known = ledgers[home] {
            return known
        }
        let ledger = folder.contents(of: home + [Ledger.fileName], limit: 64 << 20).map { Ledger($0) }
        ledgers[home] = .some(ledger)
        return ledger
    }
}
