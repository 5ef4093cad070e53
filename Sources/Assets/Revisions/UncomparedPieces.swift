import Fetching
import HTTPMessage

/// The pieces of an asset that were stored since its content was last compared with the origin's, oldest first. Pure. If the
/// content has changed meanwhile, some of them are of the new content.
struct UncomparedPieces {
    struct Piece: Hashable {
        let folder: String
        let file: String
    }

    /// The facts that a reply states about a file of which it sends a part.
    struct FileVersion {
        let tag: EntityTag?
        let length: Int64?

        /// True if both state a fact, and not the same one.
        func contradicts(_ other: FileVersion) -> Bool {
            if let tag, let known = other.tag, tag != known {
                return true
            }
            if let length, let known = other.length, length != known {
                return true
            }
            return false
        }
    }

    /// A compared segment and the strong entity tag that the origin states with it.
    struct Mark {
        let file: String
        let tag: EntityTag
    }

    private(set) var pieces: [Piece] = []
    private var known: Set<Piece> = []
    /// Those of an earlier process: their times on the disk are no proof of their order.
    private var restored: Set<Piece> = []
    /// The origin's time when it sent the first of the pieces.
    private var began: HTTPDate?
    /// The number of pieces that came before a reply gave reason to compare, until that has been done.
    private var hint: Int?
    /// True if times and versions are no sign of other content: the origin makes each file anew, or has servers that disagree.
    private var ignoresHints = false
    /// The strong entity tags of the pieces: a request with such a condition brings no body if nothing has changed.
    private var tags: [Piece: EntityTag] = [:]
    /// The segment of each folder by which a later comparison costs no body.
    private(set) var marks: [String: Mark] = [:]
    /// The versions of files whose ranges are pieces.
    private var versions: [WebURL: FileVersion] = [:]
    /// True once the pieces of an earlier process are among these.
    private(set) var isRestored = false

    /// Takes the times of a reply. Returns true if the origin changed its file after it had sent an earlier piece.
    mutating func notice(_ times: Fetch.OriginTimes?) -> Bool {
        guard let times else { return false }
        guard let began else {
            began = times.sent
            return false
        }
        guard !ignoresHints, let modified = times.modified, modified > began else { return false }
        if hint == nil {
            hint = pieces.count
        }
        return true
    }

    /// Takes the version of a file of which a reply sends a part. Returns true if an earlier part was of another version.
    mutating func notice(_ version: FileVersion, of file: WebURL) -> Bool {
        guard let known = versions[file] else {
            versions[file] = version
            return false
        }
        guard !ignoresHints, version.contradicts(known) else { return false }
        if hint == nil {
            hint = pieces.count
        }
        return true
    }

    /// Takes what a reply says before its body. Returns true if it shows that the content may be another now.
    mutating func notice(_ times: Fetch.OriginTimes?, _ version: FileVersion?, of file: WebURL) -> Bool {
        let isLater = notice(times)
        guard let version else { return isLater }
        let isOther = notice(version, of: file)
        return isLater || isOther
    }

    /// Records a piece, with what the reply that brought it says. Returns true if that gives reason to compare, and nothing did before.
    mutating func record(
        _ piece: Piece, _ times: Fetch.OriginTimes?, version: FileVersion?, of file: WebURL, tag: EntityTag?
    ) -> Bool {
        let wasHinted = isHinted
        let isOther = notice(nil, version, of: file)
        let isLater = record(piece, times)
        tags[piece] = tag
        return isLater || isOther && !wasHinted
    }

    /// Records a piece. Returns true if its times give reason to compare, and nothing did before.
    mutating func record(_ piece: Piece, _ times: Fetch.OriginTimes?) -> Bool {
        guard known.insert(piece).inserted else { return false }
        let wasHinted = isHinted
        let isSuspect = notice(times)
        pieces.append(piece)
        return isSuspect && !wasHinted
    }

    /// Adds the last pieces of an earlier process: it may have ended before it noticed a change.
    mutating func restore(_ earlier: [Piece]) {
        let new = earlier.filter { known.insert($0).inserted }
        pieces.insert(contentsOf: new, at: 0)
        restored = Set(new)
        hint = hint.map { $0 + new.count }
        isRestored = true
    }

    /// The strong entity tag with which the origin has sent a piece; nil if it is not known.
    func tag(of piece: Piece) -> EntityTag? {
        if let tag = tags[piece] {
            return tag
        }
        guard let mark = marks[piece.folder], mark.file == piece.file else { return nil }
        return mark.tag
    }

    /// Records the strong entity tag with which the origin sends a piece now.
    mutating func record(_ tag: EntityTag?, of piece: Piece) {
        if known.contains(piece) {
            tags[piece] = tag
        } else {
            marks[piece.folder] = tag.map { Mark(file: piece.file, tag: $0) }
        }
    }

    /// Records that the content of some folders was the same when so many of the pieces had been stored.
    /// - Parameter time: the origin's time.
    mutating func recordSame(in folders: Set<String>, first count: Int, at time: HTTPDate?) {
        let compared = pieces.prefix(count).filter { folders.contains($0.folder) }
        let left = pieces.prefix(count).filter { !folders.contains($0.folder) }
        pieces = left + pieces.dropFirst(count)
        mark(compared)
        known.subtract(compared)
        restored.subtract(compared)
        began = time ?? began
        if hint != nil {
            ignoresHints = true
        }
        hint = nil
        versions = [:]
    }

    /// Keeps the tag of one segment of each folder: the middle one, because the first ones may be a common title.
    private mutating func mark(_ compared: [Piece]) {
        for (folder, pieces) in Dictionary(grouping: compared, by: \.folder) {
            let segments = pieces.filter { tags[$0] != nil && PieceName($0.file)?.isSegment ?? false }
            guard !segments.isEmpty else { continue }
            let middle = segments[segments.count / 2]
            marks[folder] = tags[middle].map { Mark(file: middle.file, tag: $0) }
        }
        for piece in compared {
            tags[piece] = nil
        }
    }

    /// Forgets the pieces: none is stored any more, or all that are left are of the earlier content.
    mutating func clear() {
        pieces = []
        known = []
        tags = [:]
        marks = [:]
        restored = []
        hint = nil
        isRestored = true
    }

    func contains(_ file: String, of folder: String) -> Bool { known.contains(Piece(folder: folder, file: file)) }

    /// True if the piece is of an earlier process.
    func isRestored(_ piece: Piece) -> Bool { restored.contains(piece) }

    /// True if the piece may be of new content, because it came behind the reply that gave reason to compare.
    func isSuspect(_ piece: Piece) -> Bool {
        guard let hint, known.contains(piece) else { return false }
        return pieces.dropFirst(hint).contains(piece)
    }

    /// Records that the comparison was tried: once is enough.
    mutating func settle() { hint = nil }

    /// True if a reply gave reason to compare, and that has not been done.
    var isHinted: Bool { hint != nil }

    /// The piece of a folder that was stored first, and so is of the earlier content. Where that is an initialization section, which
    /// two contents may share, the first segment as well; that segment alone, if they are of an earlier process.
    func oldest(in folder: String, where isStored: (String) -> Bool = { _ in true }) -> [PieceName] {
        let stored = pieces.filter { $0.folder == folder && isStored($0.file) }
        let names = stored.compactMap { PieceName($0.file) }
        guard let first = names.first else { return [] }
        guard !first.isSegment, let segment = names.first(where: \.isSegment) else { return [first] }
        guard !isRestored(Piece(folder: folder, file: first.description)) else { return [segment] }
        return [first, segment]
    }
}

extension PieceName {
    /// True for the name of a media segment.
    var isSegment: Bool {
        guard case .segment = role else { return false }
        return true
    }

    /// True for media, whose bytes belong to one revision: a segment or an initialization section.
    var isMedia: Bool {
        switch role {
        case .segment, .initialization: true
        case .key, .passing, .data: false
        }
    }
}
