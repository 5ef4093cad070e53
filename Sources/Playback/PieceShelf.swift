import EventLoop
import Fetching
import HTTPMessage
import Library
import Playheads

/// A folder of pieces as a session's URLs name it. One object, so that a request that passes has one thing to hold.
@LoopActor final class PiecePlace {
    let asset: Asset
    let session: Session
    let folder: PieceFolder
    /// Reports requests to the playhead tracker; nil for content without a playhead.
    let cursor: RenditionCursor?
    /// The session, for the logs.
    let record: SessionRecord
    /// What the session has got of the rendition; nil where it is none.
    let composition: Composition?

    init(asset: Asset, session: Session, folder: PieceFolder, cursor: RenditionCursor?, record: SessionRecord) {
        (self.asset, self.session, self.folder, self.cursor, self.record) = (asset, session, folder, cursor, record)
        composition = asset.rendition(folder.id).map { rendition in
            record.composition(of: folder.id, among: asset.substitutes(of: rendition))
        }
    }
}

/// The folder that the last piece was asked from, by the path in front of its name.
///
/// A player asks for one segment of a rendition after the other; this spares each of them the way from bytes to asset
/// to rendition. What it remembers is only a way to an open folder: whether a piece is there, the folder says.
@LoopActor struct PieceShelf {
    private var prefix: [UInt8] = []
    private var place: PiecePlace?
    /// Pieces of the place that were served of late and are small.
    private var small: [String: SmallPiece] = [:]
    private static let smallLimit = 32
    private var fileExtension: [UInt8] = []
    private var mediaType = MediaType.octetStream

    /// The place of a piece that a target names, and its file, if the place is the one that is remembered.
    func find(_ target: ArraySlice<UInt8>) -> (place: PiecePlace, file: String)? {
        guard let place, target.count > prefix.count, target.starts(with: prefix) else { return nil }
        let file = target[(target.startIndex + prefix.count)...]
        // A longer one is no piece's name.
        guard file.count <= 24, !file.contains(UInt8(ascii: "?")), !file.elementsEqual(Route.playlistFile.utf8),
            !place.asset.isRemoved, !place.record.hasEnded
        else { return nil }
        return (place, String(decoding: file, as: UTF8.self))
    }

    /// Remembers the place of a piece that was just found.
    mutating func remember(_ place: PiecePlace, _ path: ArraySlice<UInt8>) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
        if place.folder !== self.place?.folder { small = [:] }
        prefix = Array(path[...slash])
        self.place = place
    }

    /// A small piece that was served of late, if it is still what its folder has.
    mutating func smallPiece(_ file: String) -> SmallPiece? {
        guard let piece = small[file] else { return nil }
        if !piece.isCurrent { small[file] = nil }
        return small[file]
    }

    /// Keeps a small piece of the place.
    mutating func keep(_ piece: SmallPiece, as file: String) {
        if small.count >= Self.smallLimit { small = [:] }
        small[file] = piece
    }

    /// The type of a file by its extension, which is most often that of the file before.
    mutating func type(of file: String) -> MediaType {
        let name = file.utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return .octetStream }
        let own = name[name.index(after: dot)...]
        if !own.elementsEqual(fileExtension) {
            fileExtension = Array(own)
            mediaType = MediaType(forExtension: String(own) ?? "")
        }
        return mediaType
    }
}
