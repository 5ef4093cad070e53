import Assets
import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Sessions
import Store

/// Caches the folder of the latest piece request, by the path before its file name. A player requests the segments of a
/// rendition one after the other. The cache saves each request the lookup of asset and rendition. It holds only an open
/// folder: the folder itself reports which pieces exist.
@LoopActor struct PieceShelf {
    private var prefix: [UInt8] = []
    private var sessionFolder: SessionFolder?
    private var small: [String: SmallPiece] = [:]
    private static let smallLimit = 32
    private var fileExtension: [UInt8] = []
    private var mediaType = MediaType.octetStream

    /// Returns the cached folder and the file name if the target is a piece in that folder.
    func find(_ target: ArraySlice<UInt8>) -> (sessionFolder: SessionFolder, file: String)? {
        guard let sessionFolder, target.count > prefix.count, target.starts(with: prefix) else { return nil }
        let file = target[(target.startIndex + prefix.count)...]
        // No piece has a longer name, nor one that begins with a dot.
        guard file.count <= 24, file.first != UInt8(ascii: "."), !file.contains(UInt8(ascii: "?")),
            !file.elementsEqual(Route.playlistFile.utf8),
            !sessionFolder.asset.isRemoved, !sessionFolder.record.hasEnded
        else { return nil }
        return (sessionFolder, String(decoding: file, as: UTF8.self))
    }

    mutating func remember(_ sessionFolder: SessionFolder, _ path: ArraySlice<UInt8>) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
        if sessionFolder.folder !== self.sessionFolder?.folder {
            small = [:]
        }
        prefix = Array(path[...slash])
        self.sessionFolder = sessionFolder
    }

    /// Returns a small piece that was served recently if the folder still has its file, unchanged.
    mutating func smallPiece(_ file: String, in folder: PieceFolder) -> SmallPiece? {
        guard !small.isEmpty, folder === sessionFolder?.folder, let piece = small[file] else { return nil }
        if folder.identity(of: file) == piece.identity {
            return piece
        }
        small[file] = nil
        return nil
    }

    mutating func insert(_ piece: SmallPiece, as file: String, in folder: PieceFolder) {
        guard folder === sessionFolder?.folder else { return }
        if small.count >= Self.smallLimit {
            small = [:]
        }
        small[file] = piece
    }

    /// Media type by file extension. The latest extension is cached because it is usually the next one too.
    mutating func type(of file: String) -> MediaType {
        let name = file.utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return .octetStream }
        let suffix = name[name.index(after: dot)...]
        if !suffix.elementsEqual(fileExtension) {
            fileExtension = Array(suffix)
            mediaType = MediaType(forExtension: String(suffix) ?? "")
        }
        return mediaType
    }
}

/// Holds a small piece in memory. Players request initialization sections, keys and subtitles again and again. One system call
/// verifies that the folder still has the same file; opening, reading and closing it takes four.
@LoopActor final class SmallPiece {
    let bytes: [UInt8]
    let representation: Representation
    let identity: FileIdentity
    static let limit = 16 * 1024

    /// Takes ownership of a file with this identity; nil if it cannot be read.
    init?(_ file: consuming OwnedDescriptor, identity: FileIdentity, _ representation: Representation) {
        let descriptor = file.rawValue
        let count = Int(identity.size)
        var isComplete = false
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, 0))
            isComplete = filled == count
        }
        self.representation = representation.prepared
        self.identity = identity
        guard isComplete else { return nil }
    }
}
