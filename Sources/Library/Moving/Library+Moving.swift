import EventLoop
import Fetching
import Store

/// Bundles that go to another disk and come back. Who plays goes on, and so does what is fetched.
extension Library {
    /// The last moving of an asset in this process, over or not.
    public func move(of asset: Asset) -> Move? { moves[asset.id].flatMap { $0.asset === asset ? $0 : nil } }

    /// Begins to move an asset's bundle, or attaches to the moving to that place which is under way.
    ///
    /// - Parameter path: the absolute path of a folder on the other disk, made if it is not there; nil for the store's own
    ///   folder.
    /// - Throws: `busy` while it is recorded, exported, verified or moved elsewhere, or its new content is fetched; `store`
    ///   when nothing can be written, or its disk is not there. What is wrong with the place is told by the move's end.
    public func move(_ asset: Asset, to path: String?) throws(LibraryError) -> Move {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) stays where it is") }
        if let known = move(of: asset), known.state == .running {
            guard known.path == path else { throw busy(asset, "it is being moved already") }
            return known
        }
        try checkPresence(of: asset)
        if asset.isRecording { throw busy(asset, "it is being recorded") }
        if asset.exports > 0 { throw busy(asset, "it is being exported") }
        if asset.revision != nil || asset.isRevision { throw busy(asset, "its new content is being fetched") }
        let move: Move
        do {
            move = Move(of: asset, to: path, at: try ReadingPace(bytesPerSecond: 0))
        } catch {
            throw LibraryError(error, about: "\(asset.name) stays where it is")
        }
        moves[asset.id] = move
        moveChanged(move)
        Task { @LoopActor in await run(move) }
        return move
    }

    /// Gives a move up: the bundle stays where it was, and what was copied goes.
    public func cancel(_ move: Move) {
        if move.state == .running { move.pace.cancel() }
    }

    /// Throws `busy` while an asset is being moved.
    package func checkStill(_ asset: Asset) throws(LibraryError) {
        if move(of: asset)?.state == .running { throw busy(asset, "it is being moved") }
    }

    /// Waits until an asset is not moved any more.
    func moved(_ asset: Asset) async {
        guard let move = move(of: asset), move.state == .running else { return }
        await withCheckedContinuation { move.waiting.append($0) }
    }

    private func busy(_ asset: Asset, _ reason: String) -> LibraryError {
        LibraryError(.busy, "\(asset.name) stays where it is for now: \(reason)")
    }

    // MARK: The work

    private func run(_ move: Move) async {
        let name = move.asset.name
        do throws(StoreError) {
            try await carry(move)
            move.state = .done
        } catch {
            move.state = move.pace.isCancelled ? .cancelled : .failed
            move.failure = LibraryError(move: error, of: name)
        }
        if move.leftOut > 0 {
            report("\(name): \(move.leftOut) pieces were not what had come, and were left out when it was moved")
            rectify(move.asset)
            events.send(.pieceLost(move.asset))
        }
        let waiting = move.waiting
        move.waiting = []
        for continuation in waiting { continuation.resume() }
        moveChanged(move)
    }

    private func carry(_ move: Move) async throws(StoreError) {
        let (store, path) = (store, move.path)
        let (target, isNew) =
            if let path {
                try await DiskWork.run { () throws(StoreError) in try store.annex(at: path) }
            } else { (store.home, false) }
        do throws(StoreError) {
            try await carry(move, to: target)
        } catch {
            if isNew { try? await DiskWork.run { store.discard(annex: target) } }
            throw error
        }
        placeTurn?.schedule(after: .seconds(2))
    }

    private func carry(_ move: Move, to target: BundlePlace) async throws(StoreError) {
        let asset = move.asset
        let (bundle, source) = (asset.bundle, asset.bundle.place)
        guard target !== source else { return }
        if !asset.isPersistent { await saveNew(asset) }
        if let failure = asset.saveFailure { throw failure }
        guard bundle.exists else { return try await settle(asset, in: target, other: nil) }
        let isNear = target.isOnDisk(of: source)
        if !isNear { try checkRoom(for: asset, in: target) }
        // Whatever ends the process from now on, it is known where to look.
        try await note(asset, in: source, other: target)
        bundle.other = target
        do throws(StoreError) {
            defer { bundle.release() }
            let isRenamed = isNear ? try await rename(move, to: target) : false
            if !isRenamed { try await copy(move, to: target) }
        } catch {
            if !bundle.isRemoved, (try? await note(asset, in: source, other: nil)) != nil { bundle.other = nil }
            throw error
        }
        guard bundle.other != nil, await clear(asset.id, in: source) else { return }
        bundle.other = nil
        await notePlace(of: asset)
    }

    /// Takes a bundle away, and returns when all its files are gone: only then may its place be forgotten.
    ///
    /// - Returns: whether they are.
    func clear(_ id: String, in place: BundlePlace) async -> Bool {
        await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            do throws(StoreError) {
                try store.removeBundle(id, in: place) { done.resume(returning: true) }
            } catch {
                done.resume(returning: false)
            }
        }
    }

    private func checkRoom(for asset: Asset, in target: BundlePlace) throws(StoreError) {
        guard let room = store.room(in: target), room < asset.bytes else { return }
        throw StoreError(
            .diskFull, path: target.path,
            detail: "\(asset.name) takes \(asset.bytes >> 20) MB, and the disk has room for \(room >> 20) MB")
    }

    /// Nothing is on its way into the bundle when this returns, and all its pieces have their lines. Until it is released
    /// what comes waits.
    ///
    /// - Returns: what tells whether all of it was deleted since.
    private func hold(_ bundle: Bundle) async -> Int {
        bundle.hold()
        await loader.committer.settle()
        await store.flush()
        return bundle.era
    }

    private func checkUnchanged(_ bundle: Bundle, since era: Int) throws(StoreError) {
        guard !bundle.isRemoved, bundle.era == era else {
            throw StoreError(.missing, path: bundle.id, detail: "it was deleted meanwhile")
        }
    }

    /// - Returns: whether one disk has both places, so that it could be.
    private func rename(_ move: Move, to target: BundlePlace) async throws(StoreError) -> Bool {
        let (asset, bundle, source, id) = (move.asset, move.asset.bundle, move.asset.bundle.place, move.asset.id)
        let era = await hold(bundle)
        try checkUnchanged(bundle, since: era)
        guard !move.pace.isCancelled else { throw StoreError(.busy, path: target.path, detail: "given up") }
        guard try await DiskWork.run({ () throws(StoreError) in try target.take(id, from: source) }) else {
            bundle.release()
            return false
        }
        do throws(StoreError) {
            try checkUnchanged(bundle, since: era)
            try await settle(asset, in: target, other: nil)
        } catch {
            if bundle.isRemoved {
                try? store.removeBundle(id, in: target)
            } else {
                _ = try? await DiskWork.run { () throws(StoreError) in try source.take(id, from: target) }
            }
            throw error
        }
        return true
    }

    private func copy(_ move: Move, to target: BundlePlace) async throws(StoreError) {
        let (bundle, source, id, pace, store) = (
            move.asset.bundle, move.asset.bundle.place, move.asset.id, move.pace, store
        )
        let era = bundle.era
        let transit = try await DiskWork.run { () throws(StoreError) in
            try BundleTransit(of: id, from: source, to: target) { PieceName($0) != nil }
        }
        do throws(StoreError) {
            // Twice: what came during the first pass, which may be long, is little for the second.
            for _ in 0..<2 {
                try await DiskWork.run { () throws(StoreError) in
                    _ = try transit.pass(pace) { () throws(StoreError) in try store.checkRoom(in: target) }
                    try transit.sync()
                }
            }
            _ = await hold(bundle)
            try checkUnchanged(bundle, since: era)
            try await DiskWork.run { () throws(StoreError) in try transit.settle(pace) }
            try checkUnchanged(bundle, since: era)
            try await settle(move.asset, in: target, other: source)
        } catch {
            try? await DiskWork.run { transit.discard() }
            throw error
        }
        move.leftOut = transit.faults.count
        for (folder, file) in transit.faults { move.asset.folder(folder)?.went(file) }
    }

    // MARK: Where it lies

    private func note(_ asset: Asset, in place: BundlePlace, other: BundlePlace?) async throws(StoreError) {
        try await store.catalogue.save(.init(places: [PlaceRecord(asset: asset.id, in: place, other: other)]))
    }

    /// From now on the bundle lies there, in the catalogue and then in memory.
    private func settle(_ asset: Asset, in target: BundlePlace, other: BundlePlace?) async throws(StoreError) {
        try await note(asset, in: target, other: other)
        guard !asset.isRemoved else { throw StoreError(.missing, path: asset.id, detail: "it was removed meanwhile") }
        asset.bundle.settle(in: target, other: other)
        for folder in asset.folders { folder.letGo() }
    }
}

extension LibraryError {
    /// Why a move did not come about. Where its place is to blame, the code says so.
    fileprivate init(move error: StoreError, of name: String) {
        let code: Code? =
            switch error.code {
            case .exists, .notWritable, .badName, .newer, .missing, .away: .badTarget
            case .busy: .busy
            default: nil
            }
        guard let code else { self = LibraryError(error, about: "\(name) is not moved"); return }
        self.init(code, "\(name) is not moved: \(error)", underlying: error)
    }
}
