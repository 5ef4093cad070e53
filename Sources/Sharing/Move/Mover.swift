public import Assets
public import EventLoop
import Fetching
public import Orders
import SafeText
package import Store

/// Moves the bundles of assets to other volumes and back. Playback and fetches continue meanwhile.
@LoopActor package final class Mover {
    /// The moves. Each is sent when it begins, and again when it has ended.
    package let jobs: MoveRegister
    private let library: Library
    /// The number of exports in progress, by asset id: these assets are not moved.
    private var exports: [String: Int] = [:]

    package init(_ library: Library, _ jobs: MoveRegister) {
        self.library = library
        self.jobs = jobs
    }

    /// Begins to move an asset's bundle, or returns the running move to the same target.
    ///
    /// - Parameter path: the absolute path of a folder on the other volume, created if missing; nil for the store's own
    ///   folder.
    /// - Throws: `busy` while the asset is recorded, exported or moved elsewhere, or its new content is fetched;
    ///   `store` if nothing can be written, or the volume is away. An unusable target fails the move itself, later.
    package func move(_ asset: Asset, to path: String?) throws(ExchangeError) -> Move {
        if let reason = library.readOnlyReason {
            throw ExchangeError(reason, about: "\(asset.name) stays where it is")
        }
        if let known = jobs[asset], known.state == .running {
            guard known.path == path else { throw busy(asset, "it is being moved already") }
            return known
        }
        do throws(LibraryError) { try library.volumes.checkPresence(of: asset) } catch { throw ExchangeError(error) }
        if asset.isRecording {
            throw busy(asset, "it is being recorded")
        }
        if exports[asset.id] != nil {
            throw busy(asset, "it is being exported")
        }
        if asset.revision != nil || asset.isRevision {
            throw busy(asset, "its new content is being fetched")
        }
        let move: Move
        do {
            move = Move(of: asset, to: path, at: try ReadingPace(bytesPerSecond: 0))
        } catch {
            throw ExchangeError(error, about: "\(asset.name) stays where it is")
        }
        jobs.insert(move)
        jobs.changes.send(move)
        Task { @LoopActor in await run(move) }
        return move
    }

    private func busy(_ asset: Asset, _ reason: String) -> ExchangeError {
        ExchangeError(.busy, "\(asset.name) stays where it is for now: \(reason)")
    }

    // MARK: Exports

    /// Waits for the end of a running move, then keeps the asset from being moved until `endExport`.
    func beginExport(of asset: Asset) async {
        await jobs.waitForMove(of: asset)
        exports[asset.id, default: 0] += 1
    }

    func endExport(of asset: Asset) {
        guard let count = exports[asset.id] else { return }
        if count > 1 {
            exports[asset.id] = count - 1
        } else {
            exports[asset.id] = nil
        }
    }

    // MARK: Moving

    private func run(_ move: Move) async {
        let name = move.asset.name
        do throws(StoreError) {
            try await perform(move)
            move.state = .complete
        } catch {
            move.state = move.pace.isCancelled ? .cancelled : .failed
            move.failure = ExchangeError(move: error, of: name)
        }
        if move.leftOut > 0 {
            library.report(
                "\(name): \(move.leftOut) damaged pieces were left out when it was moved")
            library.rectify(move.asset)
            library.events.send(.pieceLost(move.asset))
        }
        jobs.changes.send(move)
    }

    private func perform(_ move: Move) async throws(StoreError) {
        guard let path = move.path else { return try await perform(move, to: library.store.home) }
        let store = library.store
        let occupied = library.volumes.occupiedMarks
        let target = try await DiskWork.run { () throws(StoreError) in
            try store.beginMove(to: path, occupied: occupied)
        }
        do throws(StoreError) {
            try await perform(move, to: target)
        } catch {
            try? await DiskWork.run { store.endMove(to: target, isUsed: false) }
            throw error
        }
        try? await DiskWork.run { store.endMove(to: target, isUsed: true) }
        library.volumes.watchSoon()
    }

    private func perform(_ move: Move, to target: Volume) async throws(StoreError) {
        let asset = move.asset
        let bundle = asset.bundle
        let source = asset.bundle.volume
        guard target !== source else { return }
        if !asset.isPersistent {
            await library.records.saveNew(asset)
        }
        if let failure = asset.saveFailure {
            throw failure
        }
        defer { bundle.resumeWrites() }
        // Before the folder is looked for: the first pieces of a download that begins meanwhile would be left behind.
        let era = await freeze(bundle)
        try checkUnchanged(bundle, since: era)
        guard bundle.exists else { return try await commit(asset, in: target, other: nil) }
        let isNear = target.isOnDisk(of: source)
        if !isNear {
            try checkRoom(for: asset, in: target)
        }
        // From here on the catalogue names both volumes, so that the next start finds the bundle after a crash.
        try await record(asset, in: source, other: target)
        bundle.other = target
        do throws(StoreError) {
            var isRenamed = false
            if isNear {
                isRenamed = try await rename(move, to: target, since: era)
            }
            if !isRenamed {
                // The copy may take long; writes wait only for its end.
                bundle.resumeWrites()
                try await copy(move, to: target)
            }
            bundle.resumeWrites()
        } catch {
            if !bundle.isRemoved, (try? await record(asset, in: source, other: nil)) != nil {
                bundle.other = nil
            }
            throw error
        }
        guard bundle.other != nil, await library.volumes.clear(asset.id, in: source) else { return }
        bundle.other = nil
        await library.records.saveVolume(of: asset)
    }

    private func checkRoom(for asset: Asset, in target: Volume) throws(StoreError) {
        let bytes = asset.bytes
        guard let room = library.store.room(in: target), room < bytes else { return }
        let size = Quantity.bytes(Int(bytes))
        let free = Quantity.bytes(Int(room))
        throw StoreError(
            .diskFull, path: target.path, detail: "\(asset.name) takes \(size), and the disk has room for \(free)")
    }

    /// Makes new pieces wait until the bundle is released, and waits for earlier ones, with their ledger lines.
    ///
    /// - Returns: the bundle's era, which changes when all of the bundle is deleted.
    private func freeze(_ bundle: Bundle) async -> Int {
        bundle.suspendWrites()
        await library.loader.committer.finish()
        await library.store.flush()
        return bundle.era
    }

    private func checkUnchanged(_ bundle: Bundle, since era: Int) throws(StoreError) {
        guard !bundle.isRemoved, bundle.era == era else {
            throw StoreError(.missing, path: bundle.id, detail: "it was deleted meanwhile")
        }
    }

    /// Renames a frozen bundle.
    /// - Returns: false if the two folders are on different file systems, so that the bundle has to be copied.
    private func rename(_ move: Move, to target: Volume, since era: Int) async throws(StoreError) -> Bool {
        let asset = move.asset
        let bundle = move.asset.bundle
        let source = move.asset.bundle.volume
        let id = move.asset.id
        try checkUnchanged(bundle, since: era)
        guard !move.pace.isCancelled else { throw StoreError(.busy, path: target.path, detail: "given up") }
        guard try await DiskWork.run({ () throws(StoreError) in try target.moveBundle(id, from: source) }) else {
            return false
        }
        do throws(StoreError) {
            try checkUnchanged(bundle, since: era)
            try await commit(asset, in: target, other: nil)
        } catch {
            // A removal waits for the end of the move, and removes the folder wherever it is.
            if !bundle.isRemoved {
                _ = try? await DiskWork.run { () throws(StoreError) in try source.moveBundle(id, from: target) }
            }
            throw error
        }
        return true
    }

    private func copy(_ move: Move, to target: Volume) async throws(StoreError) {
        let (bundle, source, id, pace, store) = (
            move.asset.bundle, move.asset.bundle.volume, move.asset.id, move.pace, library.store
        )
        let era = bundle.era
        let transit = try await DiskWork.run { () throws(StoreError) in
            try BundleTransit(of: id, from: source, to: target, noting: store.ownChanges) { PieceName($0) != nil }
        }
        do throws(StoreError) {
            // Twice: the first pass may take long, and leaves little to the second.
            for _ in 0..<2 {
                try await DiskWork.run { () throws(StoreError) in
                    _ = try transit.pass(pace) { () throws(StoreError) in try store.checkRoom(in: target) }
                    try transit.sync()
                }
            }
            _ = await freeze(bundle)
            try checkUnchanged(bundle, since: era)
            try await DiskWork.run { () throws(StoreError) in try transit.commit(pace) }
            try checkUnchanged(bundle, since: era)
            try await commit(move.asset, in: target, other: source)
        } catch {
            try? await DiskWork.run { transit.discard() }
            throw error
        }
        move.leftOut = transit.faults.count
        for (folder, file) in transit.faults {
            move.asset.folder(folder)?.removeFromList(file)
        }
    }

    // MARK: Catalogue

    private func record(_ asset: Asset, in volume: Volume, other: Volume?) async throws(StoreError) {
        try await library.store.catalogue.save(
            .init(volumes: [VolumeRecord(asset: asset.id, in: volume, other: other)]))
    }

    /// In the catalogue first, then in memory.
    private func commit(_ asset: Asset, in target: Volume, other: Volume?) async throws(StoreError) {
        try await record(asset, in: target, other: other)
        guard !asset.isRemoved else { throw StoreError(.missing, path: asset.id, detail: "it was removed meanwhile") }
        asset.bundle.relocate(to: target, other: other)
        for folder in asset.folders {
            folder.closeDirectory()
        }
    }
}

/// One move of an asset's bundle to another volume: its target and its progress.
@LoopActor public final class Move: AssetJob {
    /// The asset that is moved.
    public let asset: Asset
    /// The folder on the target volume; nil for the store's own folder.
    package let path: String?
    /// Counts the bytes that are copied, and cancels the copying.
    package let pace: ReadingPace
    /// The number of bytes to copy, as known at the start.
    package let totalBytes: Int64
    /// The state; unless it is `complete`, the bundle stays where it was.
    public internal(set) var state = JobState.running
    package internal(set) var failure: ExchangeError?
    /// The number of damaged pieces, which are not moved.
    package internal(set) var leftOut = 0

    init(of asset: Asset, to path: String?, at pace: ReadingPace) {
        self.asset = asset
        self.path = path
        self.pace = pace
        totalBytes = asset.bytes
    }

    /// Cancels the move: the bundle stays where it was, and the copy is deleted.
    package func cancel() {
        if state == .running {
            pace.cancel()
        }
    }
}

/// The latest move of each asset. Made before the library, which asks it whether an asset is being moved.
package typealias MoveRegister = JobRegister<Move>

extension JobRegister: MoveStatus where Job == Move {
    /// See `MoveStatus`.
    public func isMoving(_ asset: Asset) -> Bool { self[asset]?.state == .running }

    /// See `MoveStatus`.
    public func waitForMove(of asset: Asset) async {
        while let move = self[asset], move.state == .running {
            var end: Subscription?
            await withCheckedContinuation { continuation in
                end = changes.subscribe { changed in
                    guard changed === move, move.state != .running else { return }
                    end?.cancel()
                    continuation.resume()
                }
            }
        }
    }

    /// See `MoveStatus`.
    public func forget(_ asset: Asset) async {
        self[asset]?.cancel()
        await waitForMove(of: asset)
        remove(asset)
    }
}
