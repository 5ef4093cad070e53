import EventLoop
import Fetching
import HTTPMessage
import Library
import Playheads
import Substitution

/// A folder of pieces as a session's URLs name it. One object holds everything that serving a piece needs.
@LoopActor final class RequestedFolder {
    let asset: Asset
    let session: Session
    let folder: PieceFolder
    /// Reports requests to the playhead tracker; nil for content without a playhead.
    let cursor: RenditionCursor?
    /// The session's record, for the logs.
    let record: SessionRecord
    /// The substitutions that the session has received in the rendition; nil if the folder is not a rendition's.
    let composition: Composition?

    init(
        asset: Asset, session: Session, folder: PieceFolder, cursor: RenditionCursor?, record: SessionRecord,
        _ substitutions: Substitutions
    ) {
        (self.asset, self.session, self.folder, self.cursor, self.record) = (asset, session, folder, cursor, record)
        composition = asset.rendition(folder.id).map { rendition in
            record.composition(of: folder.id, among: substitutions.substitutes(of: rendition, in: asset))
        }
    }
}

/// Caches the folder of the latest piece request, by the path before its file name.
///
/// A player requests the segments of a rendition one after the other. The cache saves each request the lookup of asset
/// and rendition. It holds only an open folder: the folder itself reports which pieces exist.
@LoopActor struct PieceShelf {
    private var prefix: [UInt8] = []
    private var place: RequestedFolder?
    /// Small pieces of this folder that were served recently.
    private var small: [String: SmallPiece] = [:]
    private static let smallLimit = 32
    private var fileExtension: [UInt8] = []
    private var mediaType = MediaType.octetStream

    /// Returns the cached folder and the file name if the target is a piece in that folder.
    func find(_ target: ArraySlice<UInt8>) -> (place: RequestedFolder, file: String)? {
        guard let place, target.count > prefix.count, target.starts(with: prefix) else { return nil }
        let file = target[(target.startIndex + prefix.count)...]
        // No piece has a longer name.
        guard file.count <= 24, !file.contains(UInt8(ascii: "?")), !file.elementsEqual(Route.playlistFile.utf8),
            !place.asset.isRemoved, !place.record.hasEnded
        else { return nil }
        return (place, String(decoding: file, as: UTF8.self))
    }

    /// Caches the folder of a piece that was found.
    mutating func remember(_ place: RequestedFolder, _ path: ArraySlice<UInt8>) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
        if place.folder !== self.place?.folder { small = [:] }
        prefix = Array(path[...slash])
        self.place = place
    }

    /// Returns a small piece that was served recently if its file is unchanged.
    mutating func smallPiece(_ file: String) -> SmallPiece? {
        guard let piece = small[file] else { return nil }
        if !piece.isCurrent { small[file] = nil }
        return small[file]
    }

    /// Caches a small piece of this folder.
    mutating func keep(_ piece: SmallPiece, as file: String) {
        if small.count >= Self.smallLimit { small = [:] }
        small[file] = piece
    }

    /// Media type by file extension. The latest extension is cached because it is usually the next one too.
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
