import Glibc
import PlaylistCheck
import Store

/// The files of a folder that is imported, with the ledgers that stand beside them. Used on one thread.
struct IntakeFiles {
    private let folder: PlaylistFolder
    /// By folder; nil where there is none.
    private var ledgers: [[String]: Ledger?] = [:]

    /// Those of a folder.
    init(_ folder: PlaylistFolder) { self.folder = folder }

    /// Copies what a piece is made of into a bundle. Where a ledger stands beside the file, it has to be what that says.
    ///
    /// - Throws: `missing` for what is not there, or no file; `wrongLength` for too few bytes; `contentChanged` for what
    ///   the ledger denies.
    mutating func add(_ piece: Intake.Piece, to bundle: StagedBundle) throws(StoreError) {
        let path = "\(folder.name(piece.source)) (\(piece.namedBy))"
        let file = folder.openFile(piece.source)
        guard file >= 0 else {
            throw StoreError(
                .missing, path: path, detail: errno == ELOOP ? "a link, which is not followed" : Self.reason)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.missing, path: path, detail: "not a file")
        }
        let size = Int64(status.st_size)
        let range = piece.range ?? 0..<size
        guard range.upperBound <= size, piece.length ?? Int64(range.count) == Int64(range.count), !range.isEmpty else {
            throw StoreError(.wrongLength, path: path, detail: "not as long as it has to be")
        }
        let known = piece.range == nil ? ledger(beside: piece.source)?.entries[piece.source.components.last ?? ""] : nil
        guard known?.size ?? size == size else {
            throw StoreError(.contentChanged, path: path, detail: "not as long as \(Ledger.fileName) beside it says")
        }
        try bundle.add(piece.file, to: piece.folder, from: file, range, expecting: known?.digest, path: path)
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private mutating func ledger(beside place: PlaylistFolder.Place) -> Ledger? {
        let home = Array(place.components.dropLast())
        if let known = ledgers[home] { return known }
        let ledger = folder.contents(of: home + [Ledger.fileName], limit: 64 << 20).map { Ledger($0) }
        ledgers[home] = .some(ledger)
        return ledger
    }
}
