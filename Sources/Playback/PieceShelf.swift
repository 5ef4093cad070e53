import Assets
import EventLoop
import Fetching
import Glibc
import HTTPMessage
import HTTPServer
import Playheads
import Sessions
import Store
import Substitution

/// Caches the folder of the latest piece request, by the path before its file name. A player requests the segments of a
/// rendition one after the other. The cache saves each request the lookup of asset and rendition. It holds only an open
/// folder: the folder itself reports which pieces exist.
@LoopActor struct PieceShelf {
    private var prefix: [UInt8] = []
    private var place: SessionFolder?
    private var small: [String: SmallPiece] = [:]
    private static let smallLimit = 32
    private var fileExtension: [UInt8] = []
    private var mediaType = MediaType.octetStream

    /// Returns the cached folder and the file name if the target is a piece in that folder.
    func find(_ target: ArraySlice<UInt8>) -> (place: SessionFolder, file: String)? {
        guard let place, target.count > prefix.count, target.starts(with: prefix) else { return nil }
        let file = target[(target.startIndex + prefix.count)...]
        // No piece has a longer name, nor one that begins with a dot.
        guard file.count <= 24, file.first != UInt8(ascii: "."), !file.contains(UInt8(ascii: "?")),
            !file.elementsEqual(Route.playlistFile.utf8),
            !place.asset.isRemoved, !place.record.hasEnded
        else { return nil }
        return (place, String(decoding: file, as: UTF8.self))
    }

    mutating func remember(_ place: SessionFolder, _ path: ArraySlice<UInt8>) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
        if place.folder !== self.place?.folder {
            small = [:]
        }
        prefix = Array(path[...slash])
        self.place = place
    }

    /// Returns a small piece that was served recently if the folder still has its file, unchanged.
    mutating func smallPiece(_ file: String, in folder: PieceFolder) -> SmallPiece? {
        guard !small.isEmpty, folder === place?.folder, let piece = small[file] else { return nil }
        if folder.identity(of: file) == piece.identity {
            return piece
        }
        small[file] = nil
        return nil
    }

    mutating func insert(_ piece: SmallPiece, as file: String, in folder: PieceFolder) {
        guard folder === place?.folder else { return }
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

    /// Takes ownership of a file with this status; nil if it cannot be read.
    init?(_ file: consuming OwnedDescriptor, _ status: stat, _ representation: Representation) {
        let descriptor = file.rawValue
        let count = Int(status.st_size)
        var isComplete = false
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, 0))
            isComplete = filled == count
        }
        self.representation = representation.prepared
        identity = FileIdentity(status)
        guard isComplete else { return nil }
    }
}

/// A folder of pieces as a session's URLs name it. One object holds everything that serving its pieces needs.
@LoopActor final class SessionFolder {
    let asset: Asset
    let session: Session
    let folder: PieceFolder
    /// Reports requests to the playhead tracker; nil for content without a playhead.
    let cursor: RenditionCursor?
    /// The state that the session's earlier answers have left.
    let served: ServedSession
    var record: SessionRecord { served.record }
    /// The substitutions that the session has received in the rendition; nil if there can be none: the folder is not a
    /// rendition's, or the asset has only one.
    let composition: Composition?
    /// The rendition of the composition.
    let rendition: Rendition?
    let substitutions: Substitutions
    /// True if the files are keys, which may expire.
    let holdsKeys: Bool

    init(
        asset: Asset, session: Session, folder: PieceFolder, cursor: RenditionCursor?, served: ServedSession,
        _ substitutions: Substitutions
    ) {
        self.asset = asset
        self.session = session
        self.folder = folder
        self.cursor = cursor
        self.served = served
        self.substitutions = substitutions
        holdsKeys = folder === asset.keys.folder
        rendition = asset.renditions.count > 1 ? asset.rendition(folder.id) : nil
        composition = rendition.map { rendition in
            served.composition(of: rendition, among: substitutions.substitutes(of: rendition, in: asset))
        }
    }
}

/// Tracks the substitutions that one session has received in one rendition. A decoder that was given other parameter
/// sets in-band must be given its own again, or it shows garbage. So once a spliced piece was sent, every segment that was
/// not requested before is spliced, whichever one the player requests next.
@LoopActor final class Composition {
    /// Progress towards splicing every piece.
    enum Joining: Int, Comparable {
        case apart
        /// A substitute may be on its way. The rendition's own pieces are spliced already, which does no harm: the
        /// player may request the next segment before it has received the previous one.
        case perhaps
        case joined

        static func < (left: Joining, right: Joining) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var joining: Joining
    private let rendition: String
    private let forms: SegmentForms

    /// - Parameter mayFollowSplice: true if the pieces that the session received before are unknown, and some may have
    ///   been spliced.
    init(of rendition: String, _ forms: SegmentForms, mayFollowSplice: Bool) {
        self.rendition = rendition
        self.forms = forms
        joining = mayFollowSplice || forms.hasSubstitutes(in: rendition) ? .joined : .apart
    }

    func advance(to joining: Joining) { self.joining = max(self.joining, joining) }

    /// The form in which a segment was sent; nil if it was not sent.
    func form(of segment: Int) -> SegmentForm? { forms.form(of: segment, in: rendition) }
    /// Records the form of a segment before its first byte is sent.
    func record(_ form: SegmentForm, of segment: Int) { forms.record(form, of: segment, in: rendition) }
}
