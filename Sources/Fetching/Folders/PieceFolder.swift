public import EventLoop
import Glibc
package import Store

/// The pieces of one rendition, or the keys of an asset, on disk.
///
/// The disk is authoritative. The list in memory is read from the folder once, updated with each commit, and corrected
/// when a file turns out to be missing.
@LoopActor public final class PieceFolder: FolderHolder {
    /// The folder's name in the bundle: the rendition's id, or `keys`.
    public let id: String
    let bundle: Bundle
    private var opened: PieceDirectory? {
        didSet {
            guard let opened else { return }
            latest = opened
        }
    }
    /// The folder that was open last, as long as it is in use. It knows the pieces that still get their ledger lines.
    private weak var latest: PieceDirectory?
    var latestUse = 0
    var isOpen: Bool { opened != nil }
    /// The pieces; nil before the first read.
    private var list: PieceList?
    /// Caches `sizes`; nil before the first read.
    package var known: PieceTable<Int64>? { list?.sizes }
    /// Sizes before the last `reread()`: for a piece whose length has not changed, the ledger is not read again.
    private var former = PieceTable<Int64>()
    /// Increases with each stored or deleted piece, so that values derived from `sizes` can be cached.
    package private(set) var changes = 0 { didSet { bundle.changed() } }

    // See `PieceFolder+Verifying`.
    var verified = VerifiedPieces()
    var verifiedBlocks: [String: VerifiedBlocks] = [:]
    var checks: [String: Check] = [:]
    var checkCount = 0
    /// The number of the last segment that was verified ahead of a player; nil before the first.
    var verifiedAhead: Int?

    package init(id: String, in bundle: Bundle) {
        self.id = id
        self.bundle = bundle
    }

    /// The pieces' lengths in bytes, by file name.
    package var sizes: PieceTable<Int64> {
        if let known {
            return known
        }
        let wasOpen = opened != nil
        let pieces = bundle.readOnce {
            (try? directory(create: false).pieces(knowing: former, isDoubtful: bundle.isDoubtful) {
                PieceName($0) != nil
            })
                ?? [:]
        }
        if !wasOpen {
            opened = nil
        }
        former = [:]
        let list = Self.list(of: pieces)
        self.list = list
        bundle.observer?.folder(self, lists: pieces)
        return list.sizes
    }

    /// Notes that it has no piece because its bundle has no folder of its name, so that nobody looks for the folder.
    package func noteAbsence() {
        guard known == nil, opened == nil else { return }
        former = [:]
        list = PieceList()
        bundle.observer?.folder(self, lists: [:])
    }

    /// Reads the folder outside the loop, unless its pieces are known.
    package func load() async {
        guard known == nil, let directory = try? directory(create: false) else { return }
        let former = former
        let isDoubtful = bundle.isDoubtful
        let changes = changes
        let read = try? await DiskWork.run { () throws(StoreError) in
            let pieces = try directory.pieces(knowing: former, isDoubtful: isDoubtful) { PieceName($0) != nil }
            return Contents(list: Self.list(of: pieces), batches: Self.batches(of: pieces))
        }
        // The folder was moved, read or changed meanwhile.
        guard let read, known == nil, self.changes == changes, (try? self.directory(create: false)) === directory else {
            return
        }
        self.former = [:]
        list = read.list
        var slice = LoopSlice()
        for batch in read.batches {
            let present = batch.filter { known?[$0.key] == $0.value.size }
            bundle.observer?.folder(self, finds: present)
            await slice.giveWay()
        }
        releaseElsewhere(consume read)
    }

    /// A folder as it was read from the disk.
    private struct Contents: Sendable {
        let list: PieceList
        /// The pieces with their facts, some at a time.
        let batches: [[(key: String, value: Directory.Entry)]]
    }

    private nonisolated static func list(of pieces: [String: Directory.Entry]) -> PieceList {
        var list = PieceList()
        for (file, entry) in pieces {
            list.insert(file, size: entry.size, sharing: entry.shared)
        }
        return list
    }

    /// So many pieces are reported between two looks at the length of a slice.
    private nonisolated static let batch = 256

    private nonisolated static func batches(
        of pieces: [String: Directory.Entry]
    ) -> [[(key: String, value: Directory.Entry)]] {
        let all = Array(pieces)
        return stride(from: 0, to: all.count, by: batch).map { Array(all[$0..<min($0 + batch, all.count)]) }
    }

    /// Total size of the cached pieces, in bytes.
    package var cachedBytes: Int64 { bundle.observer?.evictableBytes(in: self) ?? 0 }
    /// Total size of the pieces, in bytes. Those of the same bytes, which are one file, count once.
    public var bytes: Int64 { pieceList.bytes }
    /// Its pieces, for the size of several folders together.
    package var pieceList: PieceList {
        _ = sizes
        return list ?? PieceList()
    }
    /// The file of a piece in the list that has further names; nil for one with a single name. Does not read the folder.
    package func sharedFile(of file: String) -> FileIdentity.File? { list?.file(of: file) }
    /// The id of the asset that owns the pieces.
    package var asset: String { bundle.id }
    var volume: Volume { bundle.volume }
    var isSuspended: Bool { bundle.isSuspended }

    func performWrite(_ body: @escaping () -> Void) { bundle.performWrite(body) }
    /// Closes the folder, because the bundle has moved or is not in use. The list of pieces stays in memory.
    package func closeDirectory() {
        opened = nil
        latest = nil
    }

    func park() { opened = nil }

    /// True if media segments are stored; nil if the folder was not read yet.
    package var hasSegments: Bool? {
        known?.keys.contains { file in
            if case .segment? = PieceName(file)?.role {
                true
            } else {
                false
            }
        }
    }

    /// True if the piece is stored, according to the list in memory.
    public func contains(_ file: String) -> Bool { sizes[file] != nil }

    /// Makes the next access read the folder again, because other programs may have deleted files.
    public func reread() {
        if let known {
            former = known
        }
        list = nil
        changes += 1
    }

    /// Counts as a change: values that are derived from the pieces, and from what stands in for them, are computed again.
    package func recordChange() { changes += 1 }

    /// Opens a piece for reading; nil if it is not stored. The caller owns the descriptor.
    ///
    /// Files that other programs added are seen after `reread()`. If another program has changed the piece, it is not verified any
    /// more: ask for that before its bytes are sent.
    public func open(_ file: String) -> Int32? { openPiece(file)?.descriptor }

    /// Opens a piece to be sent; nil if it is not stored. The caller owns the descriptor.
    ///
    /// Most bytes take this path: open(2) and one fstat(2), by which a piece that another program has changed shows.
    package func openPiece(_ file: String) -> OpenPiece? {
        if let known, known[file] == nil {
            return nil
        }
        guard let folder = try? directory(create: false).directory, let found = folder.openIdentified(file) else {
            removeFromList(file)
            return nil
        }
        let state = state(of: file, found.identity)
        if case .lost = state {
            close(found.descriptor)
            removeFromList(file)
            return nil
        }
        bundle.observer?.folder(self, used: file)
        return OpenPiece(descriptor: found.descriptor, identity: found.identity, state: state)
    }

    /// The identity of a piece's file; nil if the piece is not stored.
    package func identity(of file: String) -> FileIdentity? {
        guard contains(file), let folder = try? directory(create: false).directory else { return nil }
        return folder.identity(of: file)
    }

    /// The first bytes of a piece; empty if it is not stored.
    package func beginning(of file: String, count: Int) -> [UInt8] { bytes(of: file, from: 0, count: count) }

    /// Bytes of a piece; empty if it is not stored.
    package func bytes(of file: String, from offset: Int64, count: Int) -> [UInt8] {
        guard let descriptor = open(file) else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }

    /// Records that a piece is read that was opened before.
    public func recordUse(of file: String) { bundle.observer?.folder(self, used: file) }

    /// Writes the time of a piece's last use to the disk, in seconds since 1970.
    package func recordUse(of file: String, at time: Int64) {
        guard let folder = try? directory(create: false).directory else { return }
        bundle.store.ownChanges.perform(on: file, in: folder) { folder.recordUse(of: file, at: time) }
    }

    func commit(_ growing: GrowingFile, as file: String) throws(StoreError) {
        let size = growing.written
        let identity: FileIdentity?
        _ = sizes  // Read the folder before the new file is in it, so that the observer gets the file once.
        do throws(StoreError) {
            identity = try growing.commit(to: directory(create: true), as: file)
        } catch  where error.code == .missing && growing.isKeepable && !bundle.isRemoved {
            // Another program deleted the folder and everything in it. Make the folder again.
            forget()
            identity = try growing.commit(to: directory(create: true), as: file)
        }
        recordStored(file, size: size, identity)
    }

    /// Commits gathered files as pieces, and calls back: with nil once the piece is stored and in the list, or with the
    /// error. Calls back at once if there is no folder.
    func commit(
        _ gathered: GatheredFile, as file: String, by committer: Committer, isAgain: Bool = false,
        ended: @escaping (StoreError?) -> Void
    ) {
        let folder: PieceDirectory
        do throws(StoreError) { folder = try directory(create: true) } catch { return ended(error) }
        let era = bundle.era
        committer.commit(gathered, to: folder, as: file) { [self] result in
            let isPresent = !bundle.isRemoved && bundle.era == era
            switch result {
            case .success(let identity):
                if isPresent {
                    recordStored(file, size: Int64(gathered.count), identity)
                }
                ended(nil)
            case .failure(let failure):
                guard failure.code == .missing, !isAgain, isPresent else { return ended(failure) }
                // Another program deleted the folder and everything in it. Make the folder again.
                forget()
                commit(gathered, as: file, by: committer, isAgain: true, ended: ended)
            }
        }
    }

    /// - Parameters:
    ///   - identity: the stored file's; nil if it is not known, so that the piece is verified before it is sent.
    ///   - isShared: true for a further name of a file.
    private func recordStored(_ file: String, size: Int64, _ identity: FileIdentity?, isShared: Bool = false) {
        var shared: FileIdentity.File?
        if isShared {
            shared = identity?.file
        }
        list?.insert(file, size: size, sharing: shared)
        forgetVerification(of: file)
        if let identity {
            verified.insert(file, identity, at: Self.now)
        }
        changes += 1
        bundle.observer?.folder(self, gained: file, size: size)
        bundle.owner?.folder(self, gained: file)
    }

    /// Makes a verified piece of the same bundle a piece of this folder too: the bytes are stored once. False if that is not possible.
    func link(_ file: String, of other: PieceFolder, as name: String) -> Bool {
        guard other.bundle === bundle, !bundle.isSuspended, !bundle.isRemoved, other.isVerified(file),
            let size = other.sizes[file], let source = try? other.directory(create: false)
        else { return false }
        _ = sizes
        guard let pieces = try? directory(create: true), source.link(file, to: pieces, as: name) else { return false }
        let identity = pieces.directory.identity(of: name)
        pieces.didWrite(name, size: size)
        if let identity, other.list?.file(of: file) == nil {
            other.list?.share(file, as: identity.file)
            bundle.observer?.folder(other, shares: file)
        }
        recordStored(name, size: size, identity, isShared: true)
        return true
    }

    /// Stores a few bytes as a piece: a key.
    ///
    /// Throws `busy` while the bundle is about to move: the copy would lack the file.
    package func put(_ bytes: [UInt8], as file: String) throws(StoreError) {
        try bundle.checkNotSuspended()
        _ = sizes
        let pieces = try directory(create: true)
        try pieces.directory.write(bytes, as: file)
        let identity = pieces.directory.identity(of: file)
        pieces.didWrite(file, size: Int64(bytes.count))
        recordStored(file, size: Int64(bytes.count), identity)
    }

    /// Stores files as pieces, and writes them outside the loop: they may have many megabytes.
    ///
    /// Throws `busy` while the bundle is about to move, and if it has moved or was removed meanwhile.
    package func put(_ files: [(name: PieceName, bytes: [UInt8])]) async throws(StoreError) {
        try bundle.checkNotSuspended()
        _ = sizes
        let pieces = try directory(create: true)
        let identities = try await DiskWork.run { () throws(StoreError) -> [FileIdentity?] in
            var found: [FileIdentity?] = []
            for (name, bytes) in files {
                try pieces.directory.write(bytes, as: name.description)
                found.append(pieces.directory.identity(of: name.description))
            }
            return found
        }
        try bundle.checkNotSuspended()
        guard !bundle.isRemoved, try directory(create: true) === pieces else {
            throw StoreError(.busy, path: id, detail: "the folder was moved or removed")
        }
        for ((name, bytes), identity) in zip(files, identities) {
            pieces.didWrite(name.description, size: Int64(bytes.count))
            recordStored(name.description, size: Int64(bytes.count), identity)
        }
    }

    /// The folder on disk, for reads outside the loop.
    package func pieces() throws(StoreError) -> PieceDirectory { try directory(create: false) }

    /// Writes a playlist of the bundle beside the pieces.
    package func write(_ bytes: [UInt8], as file: String) throws(StoreError) {
        try directory(create: true).directory.write(bytes, as: file)
    }

    /// Reads a text of the bundle beside the pieces; nil if it is not there. Does not keep the folder open.
    package func read(_ file: String) -> [UInt8]? { try? bundle.directory(create: false).subdirectory(id).read(file) }

    /// Opens a text beside the pieces for appending, truncated to its valid length in bytes.
    package func append(to file: String, length: Int64) throws(StoreError) -> AppendedFile {
        try AppendedFile(in: directory(create: true), named: file, length: length)
    }

    /// Deletes pieces. A reader of an open piece can read to its end.
    package func removePieces(where isMeant: (PieceName) -> Bool) {
        for file in sizes.keys where PieceName(file).map(isMeant) ?? false {
            do {
                try directory(create: false).directory.remove(file)
                list?.remove(file)
                forgetVerification(of: file)
                bundle.observer?.folder(self, lost: file)
            } catch {
                reread()
            }
        }
        changes += 1
    }

    /// Deletes a piece: from the list, then from the disk. A reader of the open piece can read to its end.
    /// - Parameter isGone: called in between. If it throws, or the file cannot be deleted, the piece stays.
    package func remove(_ file: String, isGone: () throws(StoreError) -> Void) throws(StoreError) {
        _ = sizes
        list?.remove(file)
        forgetVerification(of: file)
        changes += 1
        bundle.observer?.folder(self, lost: file)
        do {
            try isGone()
            try directory(create: false).directory.remove(file)
        } catch {
            reread()
            throw error
        }
    }

    /// Deletes a playlist of the bundle beside the pieces, if it exists.
    package func removeText(_ file: String) throws(StoreError) { try directory(create: false).directory.remove(file) }

    /// Compares pieces with the disk, outside the loop. Missing ones become holes; those of another length are deleted.
    package func survey() async {
        await load()
        let known = sizes
        guard !known.isEmpty else { return }
        guard let directory = try? directory(create: false) else { return reread() }
        let faults = await Task.detached { Self.faults(known, in: directory) }.value
        // The folder was moved meanwhile, so the result is about the old one.
        guard (try? self.directory(create: false)) === directory else { return }
        for (file, size) in faults {
            // A piece that was stored meanwhile is another file.
            guard directory.directory.size(of: file) == size else { continue }
            if size != nil {
                try? directory.directory.remove(file)
            }
            removeFromList(file)
        }
    }

    /// The pieces that were stored last, and when, in seconds since 1970. The disk is read outside the loop.
    /// - Parameter seconds: before the time of the last one.
    package func lastStored(within seconds: Double) async -> [(name: String, time: Double)] {
        guard !sizes.isEmpty, let directory = try? directory(create: false) else { return [] }
        return await Task.detached { [sizes] in
            var files: [(name: String, time: Double)] = []
            for file in sizes.keys {
                guard let time = directory.directory.writeTime(of: file) else { continue }
                files.append((file, time))
            }
            let last = files.map(\.time).max() ?? 0
            return files.filter { $0.time >= last - seconds }
        }.value
    }

    private nonisolated static func faults(
        _ sizes: PieceTable<Int64>, in folder: PieceDirectory
    ) -> [(file: String, size: Int64?)] {
        let ledger = try? folder.ledger()
        return sizes.compactMap { file, size in
            let found = folder.directory.size(of: file)
            let expected = ledger?.entries[file]?.size ?? size
            guard found != expected else { return nil }
            return (file, found)
        }
    }

    package func removeFromList(_ file: String) {
        forgetVerification(of: file)
        guard list?.remove(file) ?? false else { return }
        changes += 1
        bundle.observer?.folder(self, lost: file)
    }

    private func lost(_ file: String, _ error: StoreError) {
        removeFromList(file)
        bundle.owner?.bundle(bundle, lostPiece: error)
    }

    /// Clears the list: all pieces were deleted with the bundle, and the observer has forgotten them.
    package func clearList() {
        closeDirectory()
        list = PieceList()
        former = [:]
        forgetVerifications()
        changes += 1
    }

    /// Forgets the open folder and the list of pieces, for instance after the volume was mounted or unmounted.
    package func forget() {
        closeDirectory()
        bundle.close()
        forgetVerifications()
        reread()
    }

    /// The folder, opened on first use.
    package func directory(create: Bool) throws(StoreError) -> PieceDirectory {
        if let opened, !bundle.isRemoved {
            OpenFolders.shared.recordUse(of: self)
            return opened
        }
        if let latest, !bundle.isRemoved {
            opened = latest
            OpenFolders.shared.add(self)
            return latest
        }
        let pieces = try bundle.pieces(id, create: create) { [weak self] file, error in
            Task { @LoopActor in self?.lost(file, error) }
        }
        opened = pieces
        OpenFolders.shared.add(self)
        return pieces
    }
}
