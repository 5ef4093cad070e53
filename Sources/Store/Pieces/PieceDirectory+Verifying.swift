import CLinux
import Glibc
import Synchronization

extension PieceDirectory {
    private enum Outcome {
        case sound(FileIdentity)
        case adopted(FileIdentity)
        case wrong(PieceFault)
        /// Deleted meanwhile.
        case gone
        case cancelled
    }

    /// Reads every piece, one after the other, on the calling thread. A damaged piece is removed at once, so that no player
    /// gets it any more. A piece that is stored, replaced or deleted meanwhile is not a fault. A ledger with mostly outdated
    /// lines is rewritten. `aside` is the folder through which damaged pieces are removed, on the same file system; nil to keep
    /// them. `isPiece` returns true if a file of that name is a piece. `found` is called at once for each damaged piece.
    func verify(
        at pace: ReadingPace, aside: Directory?, where isPiece: (String) -> Bool, found: (String, PieceFault) -> Void
    ) throws(StoreError) -> PieceVerification {
        var result = PieceVerification()
        var reader = try LedgerReader(self)
        defer {
            if aside != nil, !result.faults.isEmpty {
                fsync(directory.descriptor)
            }
        }
        for entry in try directory.entries() where !entry.isDirectory && isPiece(entry.name) {
            switch try verify(entry.name, &reader, at: pace, aside: aside) {
            case .sound(let identity): result.sound[entry.name] = identity
            case .adopted(let identity):
                result.sound[entry.name] = identity
                result.adopted += 1
            case .wrong(let fault):
                result.faults[entry.name] = fault
                found(entry.name, fault)
            case .gone: break
            case .cancelled: return result
            }
        }
        result.isComplete = true
        if aside != nil, reader.lineCount > 2 * result.sound.count {
            try compact()
        }
        return result
    }

    /// Verifies one piece before it is played, on the calling thread. A damaged piece is removed, as by `verify`.
    /// - Parameter isWhole: true to read a piece with blocks too.
    func check(_ file: String, isWhole: Bool) -> PieceCheck {
        reading.withLock { reader in
            do throws(StoreError) {
                var current = if let reader { reader } else { try LedgerReader(self) }
                defer { reader = current }
                if !isWhole, let entry = current.entry(of: file), !entry.blocks.isEmpty,
                    let identity = directory.identity(of: file), identity.size == entry.size
                {
                    return .blocks(entry.blocks, identity)
                }
                let pace = try ReadingPace(bytesPerSecond: 0)
                return switch try verify(file, &current, at: pace, aside: temporary, isForPlayer: true) {
                case .sound(let identity), .adopted(let identity): .sound(identity)
                case .wrong(let fault): .damaged(fault)
                case .gone, .cancelled: .gone
                }
            } catch {
                return .unknown
            }
        }
    }

    /// - Parameter isForPlayer: true if the piece is sent from the page cache next, so that its bytes there count.
    private func verify(
        _ file: String, _ reader: inout LedgerReader, at pace: ReadingPace, aside: Directory?, isForPlayer: Bool = false
    ) throws(StoreError) -> Outcome {
        guard pace.waitForTurn() else { return .cancelled }
        guard let opened = try open(file, isForPlayer: isForPlayer) else { return .gone }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw StoreError(path: directory.path + "/" + file) }
        // A change while it is read shows at the next open.
        let identity = FileIdentity(status)
        if let expected = expected(file) {
            guard let arrived = expected.identity, arrived != identity, !ownChanges.explain(arrived, identity) else {
                return .sound(identity)
            }
            // Another program has changed it before its digest was known, unless the store has replaced it since it was opened.
            guard let aside, directory.identity(of: file) == identity else { return .sound(identity) }
            guard setAside(file, status, to: aside) else { return .gone }
            return .wrong(.bytes)
        }
        var entry = reader.entry(of: file)
        if entry == nil {
            entry = try reader.latestEntry(of: file)
        }
        guard let entry else {
            adopt(file)
            return .adopted(identity)
        }
        let fault = fault(
            of: opened, named: file, size: identity.size, entry, at: pace, isForPlayer: isForPlayer)
        guard let fault else {
            return .sound(identity)
        }
        if pace.isCancelled {
            return .cancelled
        }
        // The piece may have been replaced, and its line written, since it was opened.
        if expected(file) != nil {
            return .sound(identity)
        }
        guard try reader.latestEntry(of: file) == entry else { return .sound(identity) }
        guard let aside else { return .wrong(fault) }
        guard setAside(file, status, to: aside) else { return .gone }
        return .wrong(fault)
    }

    private func open(_ file: String, isForPlayer: Bool) throws(StoreError) -> Int32? {
        do throws(StoreError) {
            let opened = try directory.open(file)
            // Read from the disk, not from the page cache; and keep played files in the page cache.
            let advice = isForPlayer ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_DONTNEED
            posix_fadvise(opened, 0, 0, advice)
            return opened
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    private func fault(
        of opened: Int32, named file: String, size: Int64, _ entry: Ledger.Entry, at pace: ReadingPace,
        isForPlayer: Bool
    ) -> PieceFault? {
        guard size == entry.size else { return .length }
        defer {
            if !isForPlayer {
                posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED)
            }
        }
        do throws(StoreError) {
            let found = try Ledger.Entry(reading: opened, length: size, path: file) { count throws(StoreError) in
                guard pace.waitForTurn(after: count) else { throw StoreError(.busy, path: file) }
            }
            guard found.digest == entry.digest else { return .bytes }
            // An earlier Weir, or an import, has written the line. Next time the piece is sent before its end is read.
            if entry.blocks.isEmpty, !found.blocks.isEmpty {
                writeBlocks(of: file, found)
            }
            return nil
        } catch {
            return .unreadable
        }
    }

    /// Removes a piece if it is still the file that was read; a new file that replaced it meanwhile is moved back.
    private func setAside(_ file: String, _ read: stat, to aside: Directory) -> Bool {
        let name = "aside.\(UInt64.random(in: 0 ... .max))"
        guard (try? directory.move(file, to: aside, as: name)) != nil else { return false }
        if let moved = aside.status(of: name), moved.st_ino != read.st_ino || moved.st_dev != read.st_dev {
            try? aside.move(name, to: directory, as: file)
            return false
        }
        try? aside.remove(name)
        return true
    }
}

extension BundleStore {
    /// Verifies a folder's pieces against its ledger on a thread of the store, one folder after the other. `isPiece` returns
    /// true if a file of that name is a piece. `found` is called at once, on that thread, for each damaged piece. Throws
    /// `StoreError` if the folder or its ledger cannot be read, or the system has no descriptor or thread left.
    public func verify(
        _ folder: PieceDirectory, at pace: ReadingPace, where isPiece: @escaping @Sendable (String) -> Bool,
        found: @escaping @Sendable (String, PieceFault) -> Void
    ) async throws(StoreError) -> PieceVerification {
        let aside = folder.temporary
        return try await reader().run { () throws(StoreError) in
            try folder.verify(at: pace, aside: aside, where: isPiece, found: found)
        }
    }
}

/// The damage of a stored piece. The raw values appear in JSON output and never change.
public enum PieceFault: String, Sendable {
    case length, bytes, unreadable
}

/// The result of verifying a folder's pieces.
public struct PieceVerification: Sendable {
    /// The sound pieces by file name, as they were when they were read. Includes pieces stored meanwhile, and pieces that had no
    /// line until now.
    package internal(set) var sound: [String: FileIdentity] = [:]
    /// The damaged pieces. In a writable store they are already removed.
    public internal(set) var faults: [String: PieceFault] = [:]
    /// The number of pieces that had no line and get one.
    public internal(set) var adopted = 0
    /// True if every piece was read; false after a cancellation.
    public internal(set) var isComplete = false
}
