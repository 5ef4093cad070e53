import CLinux
import Glibc

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

    deinit {
        for piece in pieces {
            close(piece.descriptor)
        }
    }

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
            let found = FileIdentity(of: descriptor)
            var entry = try Ledger.Entry(
                reading: descriptor, length: found?.size ?? arrival.size, path: path(of: arrival))
            // Another program has written to the piece before its digest was known. No content has the digest of zeros, so the
            // next verification finds the piece damaged.
            if let arrived = arrival.identity, let found = FileIdentity(of: descriptor), found != arrived,
                !arrival.pieces.ownChanges.explain(arrived, found)
            {
                entry = Ledger.Entry(size: entry.size, digest: Digest.ofNothing)
            }
            entries.append((arrival, entry))
        }
        return entries
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
