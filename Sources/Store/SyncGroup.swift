import CLinux
import Glibc

/// The time at which a file was last written to.
struct ModificationTime: Equatable, Sendable {
    private let (seconds, nanoseconds): (Int, Int)

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

struct SyncGroup: ~Copyable {
    private var pieces: [(arrival: SyncThread.Arrival, descriptor: Int32)] = []
    private let all: [SyncThread.Arrival]

    /// Opens the files that are not open. Skips pieces that were removed meanwhile.
    init(_ arrivals: [SyncThread.Arrival]) {
        all = arrivals
        for arrival in arrivals {
            guard let descriptor = arrival.descriptor ?? arrival.pieces.directory.openIfPresent(arrival.file) else {
                arrival.pieces.endWait(for: arrival)
                continue
            }
            pieces.append((arrival, descriptor))
        }
    }

    deinit { for piece in pieces { close(piece.descriptor) } }

    /// Syncs the pieces and writes their ledger lines. If that fails, deletes the group's pieces and returns false.
    consuming func sync() -> Bool {
        do throws(StoreError) {
            let entries = try entries()
            try syncFiles()
            for entries in Dictionary(grouping: entries, by: { ObjectIdentifier($0.arrival.pieces) }).values {
                entries[0].arrival.pieces.writeLines(entries)
            }
            return true
        } catch {
            for arrival in all {
                arrival.pieces.discard(arrival, error)
            }
            return false
        }
    }

    private func entries() throws(StoreError) -> [(arrival: SyncThread.Arrival, entry: Ledger.Entry)] {
        var entries: [(arrival: SyncThread.Arrival, entry: Ledger.Entry)] = []
        for (arrival, descriptor) in pieces where arrival.number != nil {
            var size: Int64 = 0
            var digest = try Digest(of: descriptor, path: path(of: arrival)) { size += Int64($0) }
            var blocks = Self.blocks(of: descriptor, size: size)
            // Another program has written to the piece before its digest was known. No content has the digest of zeros, so the
            // next verification finds the piece damaged.
            if let modified = arrival.modified, ModificationTime(of: descriptor) != modified {
                digest = Digest.ofNothing
                blocks = []
            }
            entries.append((arrival, Ledger.Entry(size: size, digest: digest, blocks: blocks)))
        }
        return entries
    }

    /// The digests of a large piece's blocks; empty for a small one.
    private static func blocks(of descriptor: Int32, size: Int64) -> [Digest] {
        guard size > Ledger.Entry.blockLimit else { return [] }
        var digests: [Digest] = []
        for start in stride(from: 0, to: size, by: Int64.Stride(Ledger.Entry.blockSize)) {
            let end = min(size, start + Ledger.Entry.blockSize)
            guard let digest = Digest(of: descriptor, in: start..<end) else { return [] }
            digests.append(digest)
        }
        return digests
    }

    private func syncFiles() throws(StoreError) {
        if pieces.count > SyncThread.mostSingly {
            return try syncFileSystems()
        }
        for (arrival, descriptor) in pieces where fdatasync(descriptor) != 0 {
            throw StoreError(path: path(of: arrival))
        }
        var seen: Set<ObjectIdentifier> = []
        for (arrival, _) in pieces where seen.insert(ObjectIdentifier(arrival.pieces.directory)).inserted {
            let folder = arrival.pieces.directory
            guard fsync(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
        }
    }

    private func syncFileSystems() throws(StoreError) {
        var seen: Set<UInt> = []
        for (arrival, descriptor) in pieces {
            var status = stat()
            guard fstat(descriptor, &status) == 0, seen.insert(UInt(status.st_dev)).inserted else { continue }
            guard weir_syncfs(descriptor) == 0 else { throw StoreError(path: path(of: arrival)) }
        }
    }

    private func path(of arrival: SyncThread.Arrival) -> String { arrival.pieces.directory.path + "/" + arrival.file }
}
