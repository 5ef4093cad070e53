import Fetching
import HTTPMessage
import Store

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

    /// Those of one folder. A download without a pause stores some hundred thousand between two comparisons.
    private struct Folder {
        /// Oldest first.
        var files: [String] = []
        /// The place of each among all pieces. Those of an earlier process are below zero: their times on the disk are no proof of
        /// their order.
        var numbers = PieceTable<Int>()
        /// The strong entity tags: a request with such a condition brings no body if nothing has changed.
        var tags = PieceTable<EntityTag>()

        mutating func append(_ file: String, number: Int, tag: EntityTag? = nil) {
            files.append(file)
            numbers[file] = number
            tags[file] = tag
        }

        /// How many of the files came before a number.
        func count(before number: Int) -> Int {
            var low = 0
            var high = files.count
            while low < high {
                let middle = (low + high) / 2
                if let found = numbers[files[middle]], found < number {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }

        /// A copy without its oldest files.
        func dropping(first count: Int) -> Folder {
            var rest = Folder()
            for file in files.dropFirst(count) {
                rest.append(file, number: numbers[file, default: 0], tag: tags[file])
            }
            return rest
        }

        /// The middle one of the oldest segments, if its tag is known, else the next one behind or before it.
        func mark(among count: Int) -> Mark? {
            guard !tags.isEmpty else { return nil }
            let middle = count / 2
            for file in [files[middle..<count], files[..<middle]].joined() {
                guard let tag = tags[file], PieceName(file)?.isSegment ?? false else { continue }
                return Mark(file: file, tag: tag)
            }
            return nil
        }
    }

    private var folders: [String: Folder] = [:]
    /// The number that the next piece gets.
    private(set) var nextNumber = 0
    /// The origin's time when it sent the first of the pieces.
    private var began: HTTPDate?
    /// The number of the first piece behind a reply that gave reason to compare, until that has been done.
    private var hint: Int?
    /// True if times and versions are no sign of other content: the origin makes each file anew, or has servers that disagree.
    private var ignoresHints = false
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
            hint = nextNumber
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
            hint = nextNumber
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
        let isLater = record(piece, times, tag: tag)
        return isLater || isOther && !wasHinted
    }

    /// Records a piece. Returns true if its times give reason to compare, and nothing did before.
    mutating func record(_ piece: Piece, _ times: Fetch.OriginTimes?, tag: EntityTag? = nil) -> Bool {
        guard !contains(piece) else {
            folders[piece.folder]?.tags[piece.file] = tag
            return false
        }
        let wasHinted = isHinted
        let isSuspect = notice(times)
        folders[piece.folder, default: Folder()].append(piece.file, number: nextNumber, tag: tag)
        nextNumber += 1
        return isSuspect && !wasHinted
    }

    /// The last pieces that an earlier process stored, without those that are here already.
    /// - Parameters:
    ///   - stored: the files of each folder, with the times at which they were stored, in seconds since 1970.
    ///   - seconds: before the last one's time.
    func lastOnes(
        of stored: [(folder: String, files: [(name: String, time: Double)])], within seconds: Double
    ) -> UncomparedPieces {
        let times = stored.flatMap { $0.files.map(\.time) }
        let last = times.max() ?? 0
        var late: [(piece: Piece, time: Double)] = []
        for (folder, files) in stored {
            for file in files where file.time >= last - seconds {
                let piece = Piece(folder: folder, file: file.name)
                guard !contains(piece), PieceName(file.name)?.isMedia ?? false else { continue }
                late.append((piece, file.time))
            }
        }
        late.sort { $0.time < $1.time }
        var result = UncomparedPieces()
        for (index, (piece, _)) in late.enumerated() {
            result.folders[piece.folder, default: Folder()].append(piece.file, number: index - late.count)
        }
        return result
    }

    /// Adds the last pieces of an earlier process: it may have ended before it noticed a change.
    /// - Parameter earlier: what `lastOnes` has returned; what was recorded meanwhile keeps its place.
    mutating func restore(_ earlier: UncomparedPieces) {
        for (folder, pieces) in earlier.folders {
            let later = folders[folder] ?? Folder()
            var whole = pieces
            let twice = later.files.filter { pieces.numbers[$0] != nil }
            if !twice.isEmpty {
                whole.files.removeAll { twice.contains($0) }
            }
            for file in later.files {
                whole.append(file, number: later.numbers[file, default: 0], tag: later.tags[file])
            }
            folders[folder] = whole
        }
        isRestored = true
    }

    /// The strong entity tag with which the origin has sent a piece; nil if it is not known.
    func tag(of piece: Piece) -> EntityTag? {
        if let tag = folders[piece.folder]?.tags[piece.file] {
            return tag
        }
        guard let mark = marks[piece.folder], mark.file == piece.file else { return nil }
        return mark.tag
    }

    /// Records the strong entity tag with which the origin sends a piece now.
    mutating func record(_ tag: EntityTag?, of piece: Piece) {
        if contains(piece) {
            folders[piece.folder]?.tags[piece.file] = tag
        } else {
            marks[piece.folder] = tag.map { Mark(file: piece.file, tag: $0) }
        }
    }

    /// Records that the content of some folders was the same when the pieces before a number had been stored. Of each folder the tag of
    /// one segment is kept: the middle one, because the first ones may be a common title.
    /// - Parameter time: the origin's time.
    mutating func recordSame(in same: Set<String>, before number: Int, at time: HTTPDate?) {
        for folder in same {
            guard let pieces = folders[folder] else { continue }
            let count = pieces.count(before: number)
            marks[folder] = pieces.mark(among: count) ?? marks[folder]
            let rest = pieces.dropping(first: count)
            folders[folder] = rest.files.isEmpty ? nil : rest
        }
        began = time ?? began
        if hint != nil {
            ignoresHints = true
        }
        hint = nil
        versions = [:]
    }

    /// Forgets the pieces: none is stored any more, or all that are left are of the earlier content.
    mutating func clear() {
        folders = [:]
        marks = [:]
        hint = nil
        isRestored = true
    }

    /// True if there is none.
    var isEmpty: Bool { folders.isEmpty }

    /// All of them, oldest first.
    var pieces: [Piece] {
        var numbered: [(piece: Piece, number: Int)] = []
        for (folder, pieces) in folders {
            for file in pieces.files {
                numbered.append((Piece(folder: folder, file: file), pieces.numbers[file, default: 0]))
            }
        }
        numbered.sort { $0.number < $1.number }
        return numbered.map(\.piece)
    }

    func contains(_ file: String, of folder: String) -> Bool { folders[folder]?.numbers[file] != nil }

    private func contains(_ piece: Piece) -> Bool { contains(piece.file, of: piece.folder) }

    /// True if the piece is of an earlier process.
    func isRestored(_ piece: Piece) -> Bool {
        guard let number = folders[piece.folder]?.numbers[piece.file] else { return false }
        return number < 0
    }

    /// True if the piece may be of new content, because it came behind the reply that gave reason to compare.
    func isSuspect(_ piece: Piece) -> Bool {
        guard let hint, let number = folders[piece.folder]?.numbers[piece.file] else { return false }
        return number >= hint
    }

    /// Records that the comparison was tried: once is enough.
    mutating func settle() { hint = nil }

    /// True if a reply gave reason to compare, and that has not been done.
    var isHinted: Bool { hint != nil }

    /// The piece of a folder that was stored first, and so is of the earlier content. Where that is an initialization section, which
    /// two contents may share, the first segment as well; that segment alone, if they are of an earlier process.
    func oldest(in folder: String, where isStored: (String) -> Bool = { _ in true }) -> [PieceName] {
        var first: PieceName?
        for file in folders[folder]?.files ?? [] where isStored(file) {
            guard let name = PieceName(file) else { continue }
            guard let head = first else {
                if name.isSegment {
                    return [name]
                }
                first = name
                continue
            }
            guard name.isSegment else { continue }
            if isRestored(Piece(folder: folder, file: head.description)) {
                return [name]
            }
            return [head, name]
        }
        return [first].compactMap(\.self)
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
