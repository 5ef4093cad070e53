import CLinux
import Glibc

/// Pieces that are synced together.
struct KeeperGroup: ~Copyable {
    private typealias Kept = (arrival: Keeper.Arrival, descriptor: Int32)

    private var pieces: [Kept] = []
    private let whole: [Keeper.Arrival]

    /// Opens what is not open. What is gone by now, evicted for instance, is none of them, and its folder is told.
    init(_ arrivals: [Keeper.Arrival]) {
        whole = arrivals
        for arrival in arrivals {
            guard let descriptor = arrival.descriptor ?? arrival.pieces.directory.openIfPresent(arrival.file) else {
                arrival.pieces.forget(arrival)
                continue
            }
            pieces.append((arrival, descriptor))
        }
    }

    deinit { for piece in pieces { close(piece.descriptor) } }

    /// Syncs them, and writes what they are; what fails is told to their folders.
    ///
    /// - Returns: whether they are synced.
    consuming func keep() -> Bool {
        do throws(StoreError) {
            let entries = try entries()
            try sync()
            for (folder, entries) in grouped(entries) { folder.enter(entries) }
            return true
        } catch {
            for arrival in whole { arrival.pieces.lose(arrival, error) }
            return false
        }
    }

    /// What the pieces are; a text goes on growing, and gets no line.
    private func entries() throws(StoreError) -> [(arrival: Keeper.Arrival, entry: Ledger.Entry)] {
        var entries: [(arrival: Keeper.Arrival, entry: Ledger.Entry)] = []
        for (arrival, descriptor) in pieces where arrival.number != nil {
            var size: Int64 = 0
            let digest = try Digest(of: descriptor, path: path(of: arrival)) { size += Int64($0) }
            entries.append((arrival, Ledger.Entry(size: size, digest: digest)))
        }
        return entries
    }

    private func sync() throws(StoreError) {
        if pieces.count > Keeper.mostSingly { return try syncAll() }
        for (arrival, descriptor) in pieces where fdatasync(descriptor) != 0 {
            throw StoreError(path: path(of: arrival))
        }
        var seen: Set<ObjectIdentifier> = []
        for (arrival, _) in pieces where seen.insert(ObjectIdentifier(arrival.pieces.directory)).inserted {
            let folder = arrival.pieces.directory
            guard fsync(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
        }
    }

    private func syncAll() throws(StoreError) {
        var seen: Set<UInt> = []
        for (arrival, descriptor) in pieces {
            var status = stat()
            guard fstat(descriptor, &status) == 0, seen.insert(UInt(status.st_dev)).inserted else { continue }
            guard weir_syncfs(descriptor) == 0 else { throw StoreError(path: path(of: arrival)) }
        }
    }

    private func grouped(
        _ entries: [(arrival: Keeper.Arrival, entry: Ledger.Entry)]
    ) -> [(PieceDirectory, [(arrival: Keeper.Arrival, entry: Ledger.Entry)])] {
        var groups: [(PieceDirectory, [(arrival: Keeper.Arrival, entry: Ledger.Entry)])] = []
        for entry in entries {
            if let place = groups.firstIndex(where: { $0.0 === entry.arrival.pieces }) {
                groups[place].1.append(entry)
            } else {
                groups.append((entry.arrival.pieces, [entry]))
            }
        }
        return groups
    }

    private func path(of arrival: Keeper.Arrival) -> String { arrival.pieces.directory.path + "/" + arrival.file }
}
