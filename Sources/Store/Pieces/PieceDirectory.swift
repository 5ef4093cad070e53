import Glibc
import Synchronization

/// A folder of pieces with its ledger.
///
/// A new piece can be used at once. It is synced a moment later, together with others, and then gets its line in the ledger. So
/// **a piece with a line survives a power cut**; one without was written just before the process ended, or by another program.
public final class PieceDirectory: Sendable {
    /// The folder itself.
    public let directory: Directory
    /// The folder for growing files and damaged pieces, on the same file system; nil in a read-only store.
    let temporary: Directory?
    private let syncThread: SyncThread?
    private let lost: @Sendable (String, StoreError) -> Void
    let ownChanges: OwnChanges
    private let state = Mutex(State())
    private let lines = Mutex(Lines())
    /// The ledger as the check of pieces before they are played has read it last; locked during such a check.
    let reading = Mutex<LedgerReader?>(nil)

    deinit {
        guard let ledger = takeLedger(), ledger.lineCount > Self.longCount else { return }
        releaseElsewhere(consume ledger)
    }

    private func takeLedger() -> Ledger? {
        reading.withLock { reader in
            let ledger = reader?.ledger
            reader = nil
            return ledger
        }
    }

    private static let longCount = 50_000

    private struct State {
        /// Files whose line is still to be written.
        var expected: [String: Expected] = [:]
        var arrivals = 0
    }

    /// A piece whose line is still to be written.
    struct Expected {
        /// The number of the arrival that the line is for.
        let number: Int
        /// The file as it arrived; nil while it arrives, and if unknown.
        let identity: FileIdentity?
    }

    /// Locked during disk writes. `state` is never locked then, because the loop locks it.
    private struct Lines {
        /// Lines that did not fit on the disk.
        var unwritten: [UInt8] = []
        /// True if this process has written lines here before.
        var isBegun = false
    }

    init(
        _ directory: Directory, _ syncThread: SyncThread? = nil, by temporary: Directory? = nil,
        noting ownChanges: OwnChanges = OwnChanges(),
        lost: @escaping @Sendable (String, StoreError) -> Void = { _, _ in }
    ) {
        self.directory = directory
        self.syncThread = syncThread
        self.temporary = temporary
        self.ownChanges = ownChanges
        self.lost = lost
    }

    /// Call before a piece is added, and `didAdd` or `didFail` afterwards: the ledger's entry is outdated from now on.
    func willAdd(_ file: String) {
        if syncThread != nil {
            _ = expect(file, nil)
        }
    }

    private func expect(_ file: String, _ identity: FileIdentity?) -> Int {
        state.withLock { state in
            state.arrivals += 1
            state.expected[file] = Expected(number: state.arrivals, identity: identity)
            return state.arrivals
        }
    }

    func didFail(_ file: String) { state.withLock { $0.expected[file] = nil } }
    func expected(_ file: String) -> Expected? { state.withLock { $0.expected[file] } }

    /// Schedules the sync and the line of a new piece. Becomes an owner of `descriptor`; nil to open it by its name. Returns the
    /// identity of an open piece.
    /// - Parameter entry: that of its bytes, if it is known; otherwise the sync thread computes it from the file.
    @discardableResult func didAdd(
        _ file: String, size: Int64, descriptor: SharedDescriptor?, entry: Ledger.Entry? = nil
    ) -> FileIdentity? {
        let identity = descriptor.flatMap { FileIdentity(of: $0.number) }
        // Without a thread that syncs, nothing waits for the piece's line.
        var number = 0
        if syncThread != nil {
            number = expect(file, identity)
        }
        sync(
            .init(
                pieces: self, file: file, number: number, size: size, descriptor: descriptor, identity: identity,
                entry: entry))
        return identity
    }

    /// Schedules the sync of a text that has grown, together with the pieces that it lists. It is not a piece and gets no line.
    func didGrow(_ file: String, descriptor: Int32?) {
        let open = descriptor.map { SharedDescriptor($0) }
        sync(.init(pieces: self, file: file, number: nil, size: 0, descriptor: open))
    }

    private func sync(_ arrival: SyncThread.Arrival) {
        if let syncThread {
            syncThread.sync(arrival)
        } else {
            arrival.descriptor?.release()
        }
    }

    /// Schedules the sync and the line of a small piece that was written under its final name.
    public func didWrite(_ file: String, size: Int64) { didAdd(file, size: size, descriptor: nil) }

    /// Schedules the line of a piece that was found without one.
    func adopt(_ file: String) {
        syncThread?.adopt(.init(pieces: self, file: file, number: 0, size: 0, descriptor: nil))
    }

    /// Appends the lines of synced pieces. Lines that do not fit on the disk are written with the next ones.
    func writeLines(_ pieces: [(arrival: SyncThread.Arrival, entry: Ledger.Entry)]) {
        lines.withLock { lines in
            for (arrival, entry) in pieces {
                lines.unwritten += Ledger.lines(of: arrival.file, entry)
            }
            if append(lines.unwritten, isFirst: !lines.isBegun) {
                lines.unwritten = []
                lines.isBegun = true
            }
        }
        for (arrival, _) in pieces {
            endWait(for: arrival)
        }
    }

    /// Adds the blocks of a large piece, which was found sound, to its line.
    func writeBlocks(of file: String, _ entry: Ledger.Entry) {
        guard syncThread != nil else { return }
        lines.withLock { lines in
            // A line that does not fit on the disk is written after another verification.
            _ = append(Ledger.lines(of: file, entry), isFirst: false)
        }
    }

    /// Makes a hard link to a piece in a folder of the store's own, for a program that only reads it; false if it cannot be made,
    /// as on another disk. No user may be led there: what is written to the link is written to the piece.
    func link(_ file: String, into folder: Directory) -> Bool {
        ownChanges.perform(on: file, in: directory) {
            Directory.isName(file) && linkat(directory.descriptor, file, folder.descriptor, file, 0) == 0
        }
    }

    /// Makes a hard link to a piece as a piece of another folder of the same bundle: both are the same bytes, stored once. False if
    /// it cannot be made.
    package func link(_ file: String, to other: PieceDirectory, as name: String) -> Bool {
        ownChanges.perform(on: file, in: directory) {
            Directory.isName(file) && Directory.isName(name)
                && linkat(directory.descriptor, file, other.directory.descriptor, name, 0) == 0
        }
    }

    /// Removes such a link.
    func unlink(_ file: String, from folder: Directory) {
        ownChanges.perform(on: file, in: directory) {
            // A link that is left is removed with the folder.
            try? folder.remove(file)
        }
    }

    /// Ends the wait for a piece's line, unless the piece was replaced meanwhile.
    func endWait(for arrival: SyncThread.Arrival) {
        state.withLock { state in
            if state.expected[arrival.file]?.number == arrival.number {
                state.expected[arrival.file] = nil
            }
        }
    }

    /// Deletes a piece that the disk has lost, unless it was replaced meanwhile.
    func discard(_ arrival: SyncThread.Arrival, _ error: StoreError) {
        let isCurrent = state.withLock { state in
            guard arrival.number != nil else { return false }
            guard arrival.number == 0 || state.expected[arrival.file]?.number == arrival.number else { return false }
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
        var text: [UInt8] = []
        if isCut {
            text.append(UInt8(ascii: "\n"))
        }
        text += lines
        guard Directory.write(text, to: file), fdatasync(file) == 0 else {
            ftruncate(file, end)
            return false
        }
        if isFirst {
            syncNames()
        }
        return true
    }

    /// Rewrites a ledger that has more than two lines per piece. If it cannot be written it stays, and the error is thrown.
    func compact() throws(StoreError) {
        try lines.withLock { _ throws(StoreError) in
            guard let ledger = try ledger() else { return }
            let kept = ledger.entries.filter { directory.size(of: $0.key) != nil }
            guard ledger.lineCount > 2 * kept.count else { return }
            let text = kept.sorted { $0.key < $1.key }.flatMap { Ledger.lines(of: $0.key, $0.value) }
            try directory.replace(Ledger.fileName, by: text)
        }
    }

    /// Syncs the parent folders: the names of this folder and of the bundle survive a power cut.
    private func syncNames() {
        fsync(directory.descriptor)
        for parent in ["..", "../.."] {
            let opened = openat(directory.descriptor, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { return }
            fsync(opened)
            close(opened)
        }
    }

    /// Reads the ledger; nil if there is none.
    public func ledger() throws(StoreError) -> Ledger? { try directory.read(Ledger.fileName).map { Ledger($0) } }
    /// Creates a missing ledger. Called before the first piece, so that every folder has one after a power cut.
    public func begin() {
        guard let file = try? directory.open(Ledger.fileName, flags: O_RDWR | O_CREAT) else { return }
        close(file)
    }

    /// Lists the pieces by file name.
    ///
    /// A piece whose length differs from the ledger's is deleted. A piece without a line gets one; after a power cut it
    /// is deleted instead. `former` has the lengths that are already verified. `isPiece` returns true if a file of that
    /// name is a piece. `isDoubtful` is true after a power cut, until this folder is listed.
    public func pieces(
        knowing former: PieceTable<Int64> = [:], isDoubtful: Bool = false, where isPiece: (String) -> Bool
    ) throws(StoreError) -> [String: Directory.Entry] {
        var pieces: [String: Directory.Entry] = [:]
        for entry in try directory.entries() where !entry.isDirectory && isPiece(entry.name) {
            pieces[entry.name] = entry
        }
        guard pieces.contains(where: { former[$0.key] != $0.value.size }) else { return pieces }
        // In this order: a piece of the list that is not expected any more has its line, even if it came meanwhile.
        let expected = state.withLock { Set($0.expected.keys) }
        let ledger = try ledger()
        for (file, piece) in pieces where former[file] != piece.size && !expected.contains(file) {
            if let entry = ledger?.entries[file] {
                guard entry.size != piece.size else { continue }
                // It may have been replaced since the folder was listed.
                if let now = directory.entry(file), now.size == entry.size {
                    pieces[file] = now
                    continue
                }
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
