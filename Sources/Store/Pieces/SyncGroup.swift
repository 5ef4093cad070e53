import CLinux
import Glibc

struct SyncGroup: ~Copyable {
    private var pieces: [(arrival: SyncThread.Arrival, file: SharedDescriptor)] = []
    private let all: [SyncThread.Arrival]

    /// Opens the files that are not open. Skips pieces that were removed meanwhile.
    init(_ arrivals: [SyncThread.Arrival]) {
        all = arrivals
        for arrival in arrivals {
            guard let file = arrival.descriptor ?? Self.open(arrival) else {
                arrival.pieces.endWait(for: arrival)
                continue
            }
            pieces.append((arrival, file))
        }
    }

    deinit {
        for piece in pieces {
            piece.file.release()
        }
    }

    private static func open(_ arrival: SyncThread.Arrival) -> SharedDescriptor? {
        arrival.pieces.directory.openIfPresent(arrival.file).map { SharedDescriptor($0) }
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
        for (arrival, file) in pieces where arrival.number != nil {
            entries.append((arrival, try entry(of: arrival, file.number)))
        }
        return entries
    }

    private func entry(
        of arrival: SyncThread.Arrival, _ descriptor: Int32
    ) throws(StoreError) -> Ledger.Entry {
        if let entry = arrival.entry {
            return entry
        }
        guard let arrived = arrival.identity else {
            let length = FileIdentity(of: descriptor)?.size ?? arrival.size
            return try Ledger.Entry(reading: descriptor, length: length, path: path(of: arrival))
        }
        let entry = try Ledger.Entry(
            reading: descriptor, length: arrived.size, isWhole: true, path: path(of: arrival))
        // Another program has written to the piece before its digest was known. No content has the digest of zeros, so the
        // next verification finds the piece damaged.
        if let found = FileIdentity(of: descriptor), found != arrived,
            !arrival.pieces.ownChanges.explain(arrived, found)
        {
            return Ledger.Entry(size: found.size, digest: Digest.ofNothing)
        }
        return entry
    }

    private func syncFiles() throws(StoreError) {
        if pieces.count > SyncThread.mostSingly {
            return try syncFileSystems()
        }
        for (arrival, file) in pieces where fdatasync(file.number) != 0 {
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
        for (arrival, file) in pieces {
            var status = stat()
            guard fstat(file.number, &status) == 0, seen.insert(UInt(status.st_dev)).inserted else { continue }
            guard weir_syncfs(file.number) == 0 else { throw StoreError(path: path(of: arrival)) }
        }
    }

    private func path(of arrival: SyncThread.Arrival) -> String { arrival.pieces.directory.path + "/" + arrival.file }
}
