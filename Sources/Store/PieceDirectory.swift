import Glibc
import Synchronization

/// A folder of pieces, with the ledger of what they are.
///
/// A piece that has come is there at once; a moment later it is synced together with others, and then a line of the ledger
/// says what it is. So **what has a line outlives a loss of power**, and what has none was written shortly before the end
/// of a process, or by others. Sendable: from any thread.
public final class PieceDirectory: Sendable {
    /// The folder itself.
    public let directory: Directory
    /// Where files for it grow, and what is wrong is put aside: on the same file system; nil where nothing is written.
    let temporary: Directory?
    private let syncThread: SyncThread?
    private let lost: @Sendable (String, StoreError) -> Void
    private let state = Mutex(State())
    private let lines = Mutex(Lines())

    private struct State {
        /// Files that are to get a line, and for which of their arrivals.
        var expected: [String: Int] = [:]
        var arrivals = 0
    }

    /// Who writes lines holds this while the disk is waited for, and never `state`, which the loop takes.
    private struct Lines {
        /// Lines that the disk had no room for.
        var unwritten: [UInt8] = []
        /// Whether this process has written lines here before.
        var isBegun = false
    }

    /// - Parameters:
    ///   - syncThread: nil where nothing is synced, and no line is written.
    ///   - temporary: see there.
    ///   - lost: see `Store.pieces`.
    init(
        _ directory: Directory, _ syncThread: SyncThread? = nil, by temporary: Directory? = nil,
        lost: @escaping @Sendable (String, StoreError) -> Void = { _, _ in }
    ) {
        (self.directory, self.syncThread, self.temporary, self.lost) = (directory, syncThread, temporary, lost)
    }

    // MARK: Coming

    /// Takes note that a piece is about to be put in its place: what the ledger says of the one before is void from now on.
    /// `came` or `failed` follows.
    func coming(_ file: String) {
        guard syncThread != nil else { return }
        state.withLock { state in
            state.arrivals += 1
            state.expected[file] = state.arrivals
        }
    }

    /// Takes note that it was not put there.
    func failed(_ file: String) { state.withLock { $0.expected[file] = nil } }

    /// Whether a file is to get a line that it has not yet.
    func isExpected(_ file: String) -> Bool { state.withLock { $0.expected[file] != nil } }

    /// Takes note of a piece that is in its place.
    ///
    /// - Parameters:
    ///   - size: its length in bytes.
    ///   - descriptor: of the file, open; this owns it from now on. Nil where it is opened by its name later.
    func came(_ file: String, size: Int64, descriptor: Int32?) {
        guard let syncThread else {
            if let descriptor { close(descriptor) }
            return
        }
        let arrival = state.withLock { state in
            state.arrivals += 1
            state.expected[file] = state.arrivals
            return state.arrivals
        }
        syncThread.sync(SyncThread.Arrival(pieces: self, file: file, number: arrival, size: size, descriptor: descriptor))
    }

    /// Takes note that a text has grown, which is synced with the pieces that it lists. It is no piece, and gets no line.
    ///
    /// - Parameter descriptor: as `came` takes it.
    func grew(_ file: String, descriptor: Int32?) {
        guard let syncThread else {
            if let descriptor { close(descriptor) }
            return
        }
        syncThread.sync(SyncThread.Arrival(pieces: self, file: file, number: nil, size: 0, descriptor: descriptor))
    }

    /// Takes note of a small piece that was written in its place, over another one perhaps.
    ///
    /// - Parameter size: its length in bytes.
    public func arrived(_ file: String, size: Int64) { came(file, size: size, descriptor: nil) }

    /// A file that no line is about: it gets one, in its turn.
    func adopt(_ file: String) {
        guard let syncThread else { return }
        syncThread.adopt(SyncThread.Arrival(pieces: self, file: file, number: 0, size: 0, descriptor: nil))
    }

    /// Writes the lines of pieces that were synced. What the disk has no room for now is written with the next ones.
    func writeLines(_ pieces: [(arrival: SyncThread.Arrival, entry: Ledger.Entry)]) {
        lines.withLock { lines in
            for (arrival, entry) in pieces { lines.unwritten += Ledger.lines(of: arrival.file, entry) }
            if append(lines.unwritten, isFirst: !lines.isBegun) { (lines.unwritten, lines.isBegun) = ([], true) }
        }
        for (arrival, _) in pieces { forget(arrival) }
    }

    /// Takes note that nothing more is to be waited for about a piece, unless another has come in its place.
    func forget(_ arrival: SyncThread.Arrival) {
        state.withLock { state in
            if state.expected[arrival.file] == arrival.number { state.expected[arrival.file] = nil }
        }
    }

    /// Takes back a piece whose bytes the disk has lost, unless another has come in its place.
    func discard(_ arrival: SyncThread.Arrival, _ error: StoreError) {
        let isCurrent = state.withLock { state in
            guard arrival.number != nil else { return false }
            guard arrival.number == 0 || state.expected[arrival.file] == arrival.number else { return false }
            state.expected[arrival.file] = nil
            return true
        }
        guard isCurrent else { return }
        try? directory.remove(arrival.file)
        lost(arrival.file, error)
    }

    private func append(_ lines: [UInt8], isFirst: Bool) -> Bool {
        guard let file = try? directory.open(Ledger.fileName, flags: O_RDWR | O_CREAT | O_APPEND) else { return false }
        defer { close(file) }
        let end = lseek(file, 0, SEEK_END)
        var last: UInt8 = 0
        // A crash may have cut the last line.
        let isCut = end > 0 && pread(file, &last, 1, end - 1) == 1 && last != UInt8(ascii: "\n")
        guard Directory.write((isCut ? Array("\n".utf8) : []) + lines, to: file), fdatasync(file) == 0 else {
            ftruncate(file, end)
            return false
        }
        if isFirst { syncNames() }
        return true
    }

    /// Writes the ledger anew with one line for each piece that is here, if it has more than twice as many.
    ///
    /// - Throws: `StoreError` when the disk does not take it; the ledger is as it was then.
    func compact() throws(StoreError) {
        try lines.withLock { _ throws(StoreError) in
            guard let ledger = try ledger() else { return }
            let kept = ledger.entries.filter { directory.size(of: $0.key) != nil }
            guard ledger.lineCount > 2 * kept.count else { return }
            let text = kept.sorted { $0.key < $1.key }.flatMap { Ledger.lines(of: $0.key, $0.value) }
            try directory.replace(Ledger.fileName, by: text)
        }
    }

    /// Makes this folder's name, and that of the bundle, outlive a loss of power.
    private func syncNames() {
        fsync(directory.descriptor)
        for parent in ["..", "../.."] {
            let opened = openat(directory.descriptor, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { return }
            fsync(opened)
            close(opened)
        }
    }

    // MARK: Looking

    /// The ledger as it is now; nil where there is none.
    public func ledger() throws(StoreError) -> Ledger? { try directory.read(Ledger.fileName).map { Ledger($0) } }

    /// Makes an empty ledger where there is none: before the first piece, so that a loss of power leaves no folder without.
    public func begin() { if let file = try? directory.open(Ledger.fileName, flags: O_RDWR | O_CREAT) { close(file) } }

    /// The pieces that are here, by file name.
    ///
    /// One that has not the length any more that the ledger says is deleted. One that no line is about gets one, unless
    /// the power was lost: then it is deleted.
    ///
    /// - Parameters:
    ///   - former: what is known already of lengths, and need not be looked up.
    ///   - isPiece: whether a file of that name is a piece.
    ///   - isDoubtful: whether the power was lost before anybody has looked here.
    public func pieces(
        knowing former: [String: Int64] = [:], isDoubtful: Bool = false, where isPiece: (String) -> Bool
    ) throws(StoreError) -> [String: Directory.Entry] {
        var pieces: [String: Directory.Entry] = [:]
        for entry in try directory.entries() where !entry.isDirectory && isPiece(entry.name) {
            pieces[entry.name] = entry
        }
        guard pieces.contains(where: { former[$0.key] != $0.value.size }) else { return pieces }
        let ledger = try ledger()
        let expected = state.withLock { Set($0.expected.keys) }
        for (file, piece) in pieces where former[file] != piece.size && !expected.contains(file) {
            if let entry = ledger?.entries[file] {
                guard entry.size != piece.size else { continue }
            } else if ledger == nil || !isDoubtful {
                adopt(file)
                continue
            }
            guard syncThread != nil else { continue }
            try? directory.remove(file)
            pieces[file] = nil
        }
        return pieces
    }
}
