public import EventLoop
package import Store

/// The pieces of one rendition, or the keys of an asset, on disk: which there are, and the location to them.
///
/// What is on disk counts; what is known here is read from the folder once, kept up with each commit, and mended when a
/// file turns out to be gone.
@LoopActor public final class PieceFolder {
    /// The folder's name in the bundle: the rendition's id, or `keys`.
    public let id: String

    private let bundle: Bundle
    private var opened: PieceDirectory?
    /// `sizes`, once they were read.
    package private(set) var known: [String: Int64]?
    /// What was known before it was forgotten: of what has this length still, no ledger is asked.
    private var former: [String: Int64] = [:]
    /// Grows with each piece that comes or goes, so that what is derived from `sizes` can be kept.
    package private(set) var changes = 0 {
        didSet { bundle.changed() }
    }

    package init(id: String, in bundle: Bundle) {
        self.id = id
        self.bundle = bundle
    }

    /// The pieces' lengths in bytes, by file name.
    public var sizes: [String: Int64] {
        if let known { return known }
        let wasOpen = opened != nil
        let pieces = bundle.glance {
            (try? directory(create: false).pieces(knowing: former, isDoubtful: bundle.isDoubtful) {
                PieceName($0) != nil
            })
                ?? [:]
        }
        if !wasOpen { opened = nil }
        former = [:]
        let sizes = pieces.mapValues(\.size)
        known = sizes
        bundle.observer?.folder(self, lists: pieces)
        return sizes
    }

    /// The sum of the lengths of pieces that were cached by playback, in bytes.
    package var cachedBytes: Int64 { bundle.observer?.evictableBytes(in: self) ?? 0 }

    /// The sum of the pieces' lengths.
    public var bytes: Int64 { sizes.values.reduce(0, +) }

    /// The id of the asset whose pieces these are.
    package var asset: String { bundle.id }

    /// Where they lie.
    var place: Volume { bundle.place }

    /// See `Bundle`.
    var isHeld: Bool { bundle.isHeld }

    /// See `Bundle`.
    func whenFree(_ body: @escaping () -> Void) { bundle.whenFree(body) }

    /// Forgets the open folder: the bundle lies elsewhere now, or nobody uses it at present. What is in it stays known.
    package func letGo() { opened = nil }

    /// The disk of the bundle is there again, or not any more.
    package func relook() { close() }

    /// Whether media segments are there; nil where nobody has looked.
    package var hasSegments: Bool? {
        known?.keys.contains { file in
            if case .segment? = PieceName(file)?.role { true } else { false }
        }
    }

    /// Whether the piece is there, as far as is known without asking the disk.
    public func contains(_ file: String) -> Bool { sizes[file] != nil }

    /// Reads the folder anew at the next occasion: before a plan is made, since files may have been deleted by others.
    public func reread() {
        if let known { former = known }
        known = nil
        changes += 1
    }

    /// Opens a piece for reading; nil if it is not there. The caller owns the descriptor.
    ///
    /// What others have put into the folder is seen after `reread()`.
    public func open(_ file: String) -> Int32? {
        if let known, known[file] == nil { return nil }
        guard let folder = try? directory(create: false).directory,
            let descriptor = folder.open(file, length: known?[file])
        else {
            went(file)
            return nil
        }
        bundle.observer?.folder(self, used: file)
        return descriptor
    }

    /// Takes note that a piece is read that was opened before.
    public func recordUse(of file: String) { bundle.observer?.folder(self, used: file) }

    /// Lets the disk know when a piece was last used, in seconds since 1970.
    package func recordUse(of file: String, at time: Int64) {
        (try? directory(create: false))?.directory.recordUse(of: file, at: time)
    }

    /// Makes a piece of a file that is whole.
    func commit(_ growing: GrowingFile, as file: String) throws(StoreError) {
        let size = growing.written
        _ = sizes  // Read the folder before the file is in it, or not at all.
        do throws(StoreError) {
            try growing.commit(to: directory(create: true), as: file)
        } catch  where error.code == .missing && growing.isKeepable && !bundle.isRemoved {
            // The folder was deleted behind our back, and all that was in it.
            close()
            try growing.commit(to: directory(create: true), as: file)
        }
        note(file, size: size)
    }

    /// Makes a piece of what was gathered, and calls back: with nil once it is one and known here, with what went wrong
    /// else. At once where there is no folder.
    func commit(
        _ gathered: GatheredFile, as file: String, by committer: Committer, isAgain: Bool = false,
        ended: @escaping (StoreError?) -> Void
    ) {
        let folder: PieceDirectory
        do throws(StoreError) { folder = try directory(create: true) } catch { return ended(error) }
        let era = bundle.era
        committer.commit(gathered, to: folder, as: file) { [self] failure in
            if failure?.code == .missing, !isAgain, !bundle.isRemoved, bundle.era == era {
                // The folder was deleted behind our back, and all that was in it.
                close()
                return commit(gathered, as: file, by: committer, isAgain: true, ended: ended)
            }
            if failure == nil, !bundle.isRemoved, bundle.era == era { note(file, size: Int64(gathered.count)) }
            ended(failure)
        }
    }

    private func note(_ file: String, size: Int64) {
        known?[file] = size
        changes += 1
        bundle.observer?.folder(self, gained: file, size: size)
        bundle.owner?.folder(self, gained: file)
    }

    /// Makes a piece of bytes that are few: a key.
    package func put(_ bytes: [UInt8], as file: String) throws(StoreError) {
        _ = sizes
        let pieces = try directory(create: true)
        try pieces.directory.write(bytes, as: file)
        pieces.didWrite(file, size: Int64(bytes.count))
        note(file, size: Int64(bytes.count))
    }

    /// The folder on disk, for who reads in it elsewhere than on the loop.
    package func pieces() throws(StoreError) -> PieceDirectory { try directory(create: false) }

    /// Writes a playlist of the bundle beside the pieces.
    package func write(_ bytes: [UInt8], as file: String) throws(StoreError) {
        try directory(create: true).directory.write(bytes, as: file)
    }

    /// A text of the bundle beside the pieces; nil if it is not there. The folder is not kept open.
    package func read(_ file: String) -> [UInt8]? {
        try? bundle.directory(create: false).subdirectory(id).read(file)
    }

    /// Opens a text beside the pieces for more of it.
    ///
    /// - Parameter length: what is known to be in it, in bytes; what stands behind is cut off.
    package func append(to file: String, length: Int64) throws(StoreError) -> AppendedFile {
        try AppendedFile(in: directory(create: true), named: file, length: length)
    }

    /// Takes pieces away. Who is in the middle of one reads on to its end.
    package func removePieces(where isMeant: (PieceName) -> Bool) {
        for file in sizes.keys where PieceName(file).map(isMeant) ?? false {
            do {
                try directory(create: false).directory.remove(file)
                known?[file] = nil
                bundle.observer?.folder(self, lost: file)
            } catch {
                reread()
            }
        }
        changes += 1
    }

    /// Takes a piece away: from what is known, and then from the disk. Who is in the middle of it reads on to its end.
    ///
    /// - Parameter isGone: told in between; where it throws, or the file cannot be deleted, the piece stays.
    package func remove(_ file: String, isGone: () throws(StoreError) -> Void) throws(StoreError) {
        _ = sizes
        known?[file] = nil
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

    /// Deletes a playlist of the bundle beside the pieces, if it is there.
    package func removeText(_ file: String) throws(StoreError) { try directory(create: false).directory.remove(file) }

    /// Compares the pieces with the disk, elsewhere than on the loop. Those that are gone count as absent from now on;
    /// those that have not their length any more are deleted, to be fetched again.
    package func survey() async {
        let known = sizes
        guard !known.isEmpty else { return }
        guard let directory = try? directory(create: false) else { return reread() }
        let faults = await Task.detached { Self.faults(known, in: directory) }.value
        // Moved meanwhile, it was not looked at where it is now.
        guard (try? self.directory(create: false)) === directory else { return }
        for (file, size) in faults {
            // What has come meanwhile is another file.
            guard directory.directory.size(of: file) == size else { continue }
            if size != nil { try? directory.directory.remove(file) }
            went(file)
        }
    }

    /// The pieces that are not there as they should be, with the lengths that they have.
    private nonisolated static func faults(
        _ sizes: [String: Int64], in folder: PieceDirectory
    ) -> [(file: String, size: Int64?)] {
        let ledger = try? folder.ledger()
        return sizes.compactMap { file, size in
            let found = folder.directory.size(of: file)
            return found == ledger?.entries[file]?.size ?? size ? nil : (file, found)
        }
    }

    /// A piece is not there any more.
    package func went(_ file: String) {
        guard known?.removeValue(forKey: file) != nil else { return }
        changes += 1
        bundle.observer?.folder(self, lost: file)
    }

    /// The disk has lost a piece that had come.
    private func lost(_ file: String, _ error: StoreError) {
        went(file)
        bundle.owner?.bundle(bundle, lostPiece: error)
    }

    /// Forgets all pieces: they were deleted with the bundle, and the observer has forgotten them.
    package func emptied() {
        (opened, known, former) = (nil, [:], [:])
        changes += 1
    }

    private func close() {
        opened = nil
        bundle.close()
        reread()
    }

    /// The folder, opened when it is first needed.
    package func directory(create: Bool) throws(StoreError) -> PieceDirectory {
        if let opened, !bundle.isRemoved { return opened }
        let pieces = try bundle.pieces(id, create: create) { [weak self] file, error in
            Task { @LoopActor in self?.lost(file, error) }
        }
        opened = pieces
        return pieces
    }
}
