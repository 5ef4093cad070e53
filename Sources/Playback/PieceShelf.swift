import EventLoop
import HTTPMessage
import Library

/// The folder that the last piece came from, by the path in front of its name.
///
/// A player asks for one segment of a rendition after the other; this spares each of them the way from bytes to asset to
/// rendition. What it remembers is only a way to an open folder: whether a piece is there, the folder says.
@LoopActor struct PieceShelf {
    private var prefix: [UInt8] = []
    private var folder: PieceFolder?
    private var fileExtension: [UInt8] = []
    private var mediaType = MediaType.octetStream

    /// Opens the piece that a target names, if its folder is the one that is remembered; the caller owns the descriptor.
    mutating func open(_ target: ArraySlice<UInt8>) -> (descriptor: Int32, mediaType: MediaType)? {
        guard let folder, target.count > prefix.count, target.starts(with: prefix) else { return nil }
        let file = target[(target.startIndex + prefix.count)...]
        guard file.count <= 24, let descriptor = folder.open(String(decoding: file, as: UTF8.self)) else { return nil }
        return (descriptor, type(of: file))
    }

    /// Remembers the folder of a piece that was just found.
    mutating func remember(_ folder: PieceFolder, _ target: ArraySlice<UInt8>) {
        guard let slash = target.lastIndex(of: UInt8(ascii: "/")) else { return }
        prefix = Array(target[...slash])
        self.folder = folder
    }

    private mutating func type(of file: ArraySlice<UInt8>) -> MediaType {
        guard let dot = file.lastIndex(of: UInt8(ascii: ".")) else { return .octetStream }
        let own = file[(dot + 1)...]
        if !own.elementsEqual(fileExtension) {
            fileExtension = Array(own)
            mediaType = MediaType(forExtension: String(decoding: own, as: UTF8.self))
        }
        return mediaType
    }
}
