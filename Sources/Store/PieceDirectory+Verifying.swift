import CLinux
import Glibc

/// Reading pieces against what the ledger says of them.
extension PieceDirectory {
    /// What one piece turned out to be.
    private enum Outcome {
        case sound(Int64)
        case adopted(Int64)
        case wrong(PieceFault)
        /// It was deleted meanwhile: made way, or is a hole.
        case gone
        case cancelled
    }

    /// Reads every piece that is here, one after the other, on the calling thread.
    ///
    /// One that is not what the ledger says is set aside at once, so that nobody is served from it any more. What comes, is
    /// replaced or is deleted meanwhile is none of those. A ledger most of whose lines do not count any more is written anew.
    ///
    /// - Parameters:
    ///   - aside: where to put what is wrong, on the same file system; nil to leave it where it is.
    ///   - isPiece: whether a file of that name is a piece.
    ///   - found: told at once of each piece that is wrong.
    func verify(
        at pace: ReadingPace, aside: Directory?, where isPiece: (String) -> Bool, found: (String, PieceFault) -> Void
    ) throws(StoreError) -> PieceVerification {
        var result = PieceVerification()
        var reader = try LedgerReader(self)
        defer { if aside != nil, !result.faults.isEmpty { fsync(directory.descriptor) } }
        for entry in try directory.entries() where !entry.isDirectory && isPiece(entry.name) {
            switch try verify(entry.name, &reader, at: pace, aside: aside) {
            case .sound(let size): result.sound[entry.name] = size
            case .adopted(let size):
                result.sound[entry.name] = size
                result.adopted += 1
            case .wrong(let fault):
                result.faults[entry.name] = fault
                found(entry.name, fault)
            case .gone: break
            case .cancelled: return result
            }
        }
        result.isComplete = true
        if aside != nil, reader.lineCount > 2 * result.sound.count { try compact() }
        return result
    }

    private func verify(
        _ file: String, _ reader: inout LedgerReader, at pace: ReadingPace, aside: Directory?
    ) throws(StoreError) -> Outcome {
        guard pace.goOn() else { return .cancelled }
        guard let opened = try open(file) else { return .gone }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw StoreError(path: directory.path + "/" + file) }
        let size = Int64(status.st_size)
        if isExpected(file) { return .sound(size) }
        var entry = reader.entry(of: file)
        if entry == nil { entry = try reader.latestEntry(of: file) }
        guard let entry else {
            adopt(file)
            return .adopted(size)
        }
        guard let fault = fault(of: opened, file, size, entry, at: pace) else { return .sound(size) }
        if pace.isCancelled { return .cancelled }
        // Another one may have come, and even got its line, since this one was opened.
        if isExpected(file) { return .sound(size) }
        guard try reader.latestEntry(of: file) == entry else { return .sound(size) }
        guard let aside else { return .wrong(fault) }
        return setAside(file, status, to: aside) ? .wrong(fault) : .gone
    }

    /// The piece, open; nil if it is not there.
    private func open(_ file: String) throws(StoreError) -> Int32? {
        do throws(StoreError) {
            let opened = try directory.open(file)
            // What is read here is not to push out of memory what is played; and what is on the disk is what counts.
            posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED)
            return opened
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    private func fault(
        of opened: Int32, _ file: String, _ size: Int64, _ entry: Ledger.Entry, at pace: ReadingPace
    ) -> PieceFault? {
        guard size == entry.size else { return .length }
        defer { posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED) }
        do throws(StoreError) {
            let digest = try Digest(of: opened, path: file) { count throws(StoreError) in
                guard pace.goOn(after: count) else { throw StoreError(.busy, path: file) }
            }
            return digest == entry.digest ? nil : .bytes
        } catch {
            return .unreadable
        }
    }

    /// Takes a piece away from those that are served, if it is still the file that was read.
    ///
    /// It is deleted only there: what has come in its place in the same moment goes back.
    private func setAside(_ file: String, _ read: stat, to aside: Directory) -> Bool {
        let name = "aside.\(UInt64.random(in: 0 ... .max))"
        guard (try? directory.move(file, to: aside, as: name)) != nil else { return false }
        var moved = stat()
        let isKnown = fstatat(aside.descriptor, name, &moved, AT_SYMLINK_NOFOLLOW) == 0
        if isKnown, moved.st_ino != read.st_ino || moved.st_dev != read.st_dev {
            try? aside.move(name, to: directory, as: file)
            return false
        }
        try? aside.remove(name)
        return true
    }
}

/// Reading pieces, away from whoever asks for it.
extension Store {
    /// Reads a folder's pieces against its ledger, on a thread of the store's own; folders one after the other.
    ///
    /// - Parameters:
    ///   - isPiece: whether a file of that name is a piece.
    ///   - found: told at once, on that thread, of each piece that is wrong.
    /// - Throws: `StoreError` when the folder, or its ledger, cannot be read, or no descriptor or thread is to be had.
    public func verify(
        _ folder: PieceDirectory, at pace: ReadingPace, where isPiece: @escaping @Sendable (String) -> Bool,
        found: @escaping @Sendable (String, PieceFault) -> Void
    ) async throws(StoreError) -> PieceVerification {
        let (reader, aside) = (try self.reader(), folder.temporary)
        let result: Result<PieceVerification, StoreError> = await withCheckedContinuation { continuation in
            reader.submit {
                continuation.resume(
                    returning: Result { () throws(StoreError) in
                        try folder.verify(at: pace, aside: aside, where: isPiece, found: found)
                    })
            }
        }
        return try result.get()
    }
}
