import EventLoop
package import Store

/// Verification of stored pieces before they are played: since the last start and within a week, each piece is read once.
///
/// A piece that this process stored is sound. The next segments are read ahead of the player, so that a player waits only for
/// its first one. A damaged piece is set aside and is a hole from then on. A piece that another program has changed since it was
/// verified shows at its next open, and is verified again.
extension PieceFolder {
    /// Number of segments that are verified ahead of the player, and of those left at which more are.
    private static let ahead = 8
    private static let aheadLeft = 4
    /// Bytes that are verified ahead of the player: what is read too early has left the page cache before it is sent.
    private static let aheadBytes: Int64 = 64 << 20

    static var now: Int64 { BootClock.seconds }

    /// True if the piece need not be verified before it is sent, or is not stored.
    package func isVerified(_ file: String) -> Bool { verified.contains(file, at: Self.now) || sizes[file] == nil }

    /// Verifies a piece for a player that waits for it, and calls `done` once it is verified, not stored any more, or has
    /// blocks that are verified while they are sent.
    /// - Parameters:
    ///   - isWhole: true if a large piece must be verified as a whole.
    ///   - isUrgent: false to let those that players wait for go first.
    package func verify(
        _ file: String, isWhole: Bool = false, isUrgent: Bool = true, done: @escaping @LoopActor () -> Void
    ) {
        if !isWhole, blocks(of: file) != nil {
            return done()
        }
        guard let directory = try? directory(create: false) else { return done() }
        if let waiting = checks[file], !isWhole || waiting.isWhole {
            checks[file]?.done.append(done)
            if isUrgent {
                bundle.store.expediteCheck(file, in: directory)
            }
        } else {
            begin(file, in: directory, isUrgent: isUrgent, isWhole: isWhole, done: (checks[file]?.done ?? []) + [done])
        }
    }

    /// Verifies pieces that are about to be handed out as files, as far as they are not known to be sound as they are now. Returns the
    /// files that were verified, by name: one that is missing is not stored, is damaged, or cannot be read.
    package func verifiedIdentities(of files: [String]) async -> PieceTable<FileIdentity> {
        var found = PieceTable<FileIdentity>()
        var slice = LoopSlice()
        for file in files {
            found[file] = await verifiedIdentity(of: file)
            await slice.giveWay()
        }
        return found
    }

    /// Verifies a piece on which a decision depends, unless that was done. Returns false if it is not stored, or is damaged. One of which
    /// the ledger cannot be read counts as sound, as for players.
    package func isFoundSound(_ file: String) async -> Bool {
        let identity = await verifiedIdentity(of: file)
        return identity != nil || contains(file) && verified.contains(file, at: Self.now)
    }

    private func verifiedIdentity(of file: String) async -> FileIdentity? {
        // The second look is at what was verified in between.
        for isVerified in [false, true] {
            guard let identity = identity(of: file) else { return nil }
            if case .verified = state(of: file, identity), verified.contains(file, at: Self.now) {
                return identity
            }
            guard !isVerified else { return nil }
            await withCheckedContinuation { continuation in
                verify(file, isWhole: true, isUrgent: false) { continuation.resume() }
            }
        }
        return nil
    }

    /// Verifies the segments after this one, unless that was done before.
    package func verifyAhead(of file: String) {
        guard let known, verified.count < known.count else { return }
        guard let name = PieceName(file), case .segment(let number) = name.role, number <= .max - Self.ahead else {
            return
        }
        if let last = verifiedAhead, number >= last - Self.ahead, number < last - Self.aheadLeft {
            return
        }
        guard let directory = try? directory(create: false) else { return }
        var bytes: Int64 = 0
        verifiedAhead = number + Self.ahead
        for next in 1...Self.ahead {
            let file = PieceName(.segment(number + next), fileExtension: name.fileExtension).description
            guard let size = known[file], checks[file] == nil, !verified.contains(file, at: Self.now) else { continue }
            bytes += size
            guard bytes <= Self.aheadBytes else { return }
            begin(file, in: directory, isUrgent: false, isWhole: false, done: [])
        }
    }

    private func begin(
        _ file: String, in directory: PieceDirectory, isUrgent: Bool, isWhole: Bool, done: [@LoopActor () -> Void]
    ) {
        checkCount += 1
        let number = checkCount
        checks[file] = Check(number: number, isWhole: isWhole, done: done)
        bundle.store.check(file, in: directory, isUrgent: isUrgent, isWhole: isWhole) { result in
            Task { @LoopActor in self.finish(file, check: number, result, in: directory) }
        }
    }

    private func finish(_ file: String, check number: Int, _ result: PieceCheck, in directory: PieceDirectory) {
        // Another check, of the whole piece, has begun since.
        guard checks[file]?.number == number, let check = checks.removeValue(forKey: file) else { return }
        // The asset was moved meanwhile: the result is of the copy that is deleted then.
        if let present = try? self.directory(create: false), present !== directory {
            if check.done.isEmpty {
                return
            }
            return begin(file, in: present, isUrgent: true, isWhole: check.isWhole, done: check.done)
        }
        switch result {
        case .sound(let identity):
            verifiedBlocks[file] = nil
            verified.insert(file, identity, at: Self.now)
        case .blocks(let digests, let identity):
            verifiedBlocks[file] = VerifiedBlocks(digests, of: identity, at: Self.now)
        case .unknown: verified.excuse(file, at: Self.now)
        case .gone:
            if !verified.contains(file, at: Self.now) {
                removeFromList(file)
            }
        case .damaged(let fault): setAside(file, fault)
        }
        for done in check.done {
            done()
        }
    }

    private func setAside(_ file: String, _ fault: PieceFault) {
        // A piece that was stored meanwhile is another file, and sound.
        guard !verified.contains(file, at: Self.now) else { return }
        removeFromList(file)
        bundle.owner?.bundle(bundle, damagedPiece: "\(id)/\(file)", fault)
    }

    // MARK: Large pieces

    /// The digests of a large piece's blocks, which are verified while they are sent; nil for any other piece.
    package func blocks(of file: String) -> [Digest]? {
        guard let blocks = verifiedBlocks[file], !blocks.isOutdated(at: Self.now) else { return nil }
        return blocks.digests
    }

    /// True if a block of a large piece was verified, in the file that is open.
    package func isSound(block number: Int, of file: String, _ identity: FileIdentity) -> Bool {
        if let blocks = verifiedBlocks[file] {
            return blocks.identity == identity && blocks.verified.contains(number)
        }
        return verified.identity(of: file) == identity && verified.contains(file, at: Self.now)
    }

    /// Verifies a block of an open large piece. `done` is called later, with false if it is damaged: the piece is set aside
    /// then, if it is still stored. Until then the caller keeps the descriptor open.
    /// - Parameters:
    ///   - identity: the open file's.
    ///   - digest: the block's, when the piece was opened.
    package func verify(
        block number: Int, of file: String, in descriptor: Int32, _ identity: FileIdentity, digest: Digest,
        done: @escaping @LoopActor (Bool) -> Void
    ) {
        let start = Int64(number) * Ledger.Entry.blockSize
        let range = start..<min(identity.size, start + Ledger.Entry.blockSize)
        bundle.store.check(block: range, of: descriptor, digest) { isSound in
            Task { @LoopActor in
                if isSound {
                    self.recordSound(block: number, of: file, identity)
                } else {
                    self.reject(file)
                }
                done(isSound)
            }
        }
    }

    private func recordSound(block number: Int, of file: String, _ identity: FileIdentity) {
        // Another file, or another state of it, is verified by itself.
        guard verifiedBlocks[file]?.identity == identity else { return }
        verifiedBlocks[file]?.insert(number)
        guard verifiedBlocks[file]?.isComplete ?? false else { return }
        verifiedBlocks[file] = nil
        verified.insert(file, identity, at: Self.now)
    }

    /// Reads the whole piece, which sets it aside.
    private func reject(_ file: String) {
        guard verifiedBlocks.removeValue(forKey: file) != nil else { return }
        verify(file, isWhole: true) {}
    }

    /// Forgets what was verified of a piece that is not stored any more, or is another file now.
    func forgetVerification(of file: String) {
        verified.remove(file)
        verifiedBlocks[file] = nil
    }

    func forgetVerifications() {
        verified.removeAll()
        verifiedBlocks = [:]
        verifiedAhead = nil
    }

    /// Records that a verification of the whole folder has found a piece sound: the file that it has read.
    package func recordVerified(_ file: String, _ identity: FileIdentity) {
        if contains(file) {
            verified.insert(file, identity, at: Self.now)
        }
    }

    // MARK: Changes

    /// The file that a piece was when it was verified; nil if it was not, or could not be read.
    private func remembered(_ file: String) -> FileIdentity? {
        verified.identity(of: file) ?? verifiedBlocks[file]?.identity
    }

    /// Compares the file that was just opened as a piece with what is remembered of it.
    func state(of file: String, _ identity: FileIdentity) -> OpenPiece.State {
        guard let before = remembered(file) else {
            if let size = known?[file], size != identity.size {
                return .lost
            }
            return .unverified
        }
        if before != identity {
            guard before.size == identity.size else { return .lost }
            guard bundle.store.ownChanges.explain(before, identity) else {
                forgetVerification(of: file)
                return .changed
            }
            verified.renew(file, identity)
            verifiedBlocks[file]?.renew(identity)
        }
        if verifiedBlocks.isEmpty {
            return .verified
        }
        if let blocks = blocks(of: file) {
            return .verifiedByBlocks(blocks)
        }
        return .verified
    }

    /// A verification in progress.
    struct Check {
        let number: Int
        let isWhole: Bool
        /// Called once it has ended. Closures, because each is called once, and they have nothing in common.
        var done: [@LoopActor () -> Void]
    }
}
