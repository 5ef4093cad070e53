import Glibc
import PlaylistCheck
import Store

/// Copies files of an imported folder, and checks them against the ledgers beside them. Used on one thread.
struct ImportFiles {
    private let folder: PlaylistFolder
    /// Ledgers that were read, by folder; nil for a folder without one.
    private var ledgers: [[String]: Ledger?] = [:]

    init(_ folder: PlaylistFolder) { self.folder = folder }

    /// Copies the source of a piece into a bundle. The file must match the ledger beside it, if there is one.
    ///
    /// - Throws: `missing` if the source does not exist or is not a file; `wrongLength` if it is too short;
    ///   `contentChanged` if it does not match the ledger.
    mutating func add(_ piece: ImportPlan.Piece, to bundle: StagedBundle) throws(StoreError) {
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
