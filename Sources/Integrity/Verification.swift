package import Assets
package import EventLoop
import Fetching
import Orders
import Retention
package import Store

/// A verification of all stored pieces of an asset: its progress and its findings.
@LoopActor package final class Verification {
    package let asset: Asset
    /// Limits, pauses and cancels the reading, and counts the bytes read.
    package let pace: ReadingPace
    /// Bytes stored at the beginning.
    package let totalBytes: Int64
    /// The faults by folder and file.
    package private(set) var faults: [String: [String: PieceFault]] = [:]
    /// True once everything is read.
    package internal(set) var isComplete = false
    private let retention: RetentionService

    init(of asset: Asset, at pace: ReadingPace, _ retention: RetentionService) {
        self.asset = asset
        self.pace = pace
        self.retention = retention
        totalBytes = asset.bytesByName
    }

    package var faultCount: Int { faults.values.reduce(0) { $0 + $1.count } }

    /// The findings, as of the latest call of `workOutReport`.
    package private(set) var report = VerificationReport()

    /// Works the findings out from the playlists and the folders, for a long playlist on a worker.
    package func workOutReport() async {
        report = await VerificationReport.make(of: asset, faults: faults, pinned: retention.pinned(of: asset))
    }

    func record(_ fault: PieceFault, of file: String, in folder: PieceFolder) {
        faults[folder.id, default: [:]][file] = fault
    }
}

extension PieceFolder {
    /// Damaged pieces become holes.
    ///
    /// - Throws: `StoreError` if the folder exists and cannot be read.
    func verify(_ verification: Verification, by store: BundleStore) async throws(StoreError) {
        _ = sizes
        let directory: PieceDirectory
        do throws(StoreError) {
            directory = try self.directory(create: false)
        } catch {
            // Another program has deleted the folder, with all pieces.
            if error.code == .missing {
                reread()
            }
            return
        }
        let result = try await store.verify(
            directory, at: verification.pace, where: { PieceName($0) != nil },
            found: { [weak self, weak verification] file, fault in
                Task { @LoopActor in
                    guard let self else { return }
                    verification?.record(fault, of: file, in: self)
                    self.removeIfGone(file, directory)
                }
            })
        // A folder may have a million pieces.
        var slice = LoopSlice()
        for (file, fault) in result.faults {
            verification.record(fault, of: file, in: self)
            removeIfGone(file, directory)
            await slice.giveWay()
        }
        var isAdded = false
        for (file, identity) in result.sound {
            recordVerified(file, identity)
            // Other programs may have added pieces.
            isAdded = isAdded || !contains(file) && directory.directory.size(of: file) != nil
            await slice.giveWay()
        }
        guard result.isComplete else { return }
        for file in sizes.keys {
            if result.sound[file] == nil {
                removeIfGone(file, directory)
            }
            await slice.giveWay()
        }
        if isAdded {
            reread()
        }
        releaseElsewhere(consume result)
    }

    /// Forgets a piece whose file is gone, unless a new piece was stored since.
    private func removeIfGone(_ file: String, _ directory: PieceDirectory) {
        if directory.directory.size(of: file) == nil {
            removeFromList(file)
        }
    }
}

extension IntegrityService {
    /// - Throws: `store` if the system has no descriptor left or the volume is absent; `busy` while the asset is moved.
    func verification(of asset: Asset, bytesPerSecond: Int64) throws(LibraryError) -> Verification {
        try library.volumes.checkPresence(of: asset)
        try library.volumes.checkNotMoving(asset)
        do {
            return Verification(of: asset, at: try ReadingPace(bytesPerSecond: bytesPerSecond), retention)
        } catch {
            throw LibraryError(error, about: "\(asset.name) cannot be verified")
        }
    }

    /// Reads every piece on a thread of the store. A damaged piece is set aside at once and is a hole from then on.
    ///
    /// - Parameter now: recorded in the bundle unless the verification is cancelled, in seconds since 1970.
    /// - Throws: `store` if something cannot be read; the faults found so far stay.
    func verify(_ verification: Verification, at now: Int64) async throws(LibraryError) {
        let asset = verification.asset
        defer { asset.close() }
        // Recently stored pieces get their ledger lines, so that they are verified too.
        await library.store.flush()
        // Most of thousands of tracks have no folder, and to look for each takes long. One that had pieces may have been deleted.
        let names = asset.bundle.names
        let folders = asset.folders.filter { folder in
            let hasPieces = folder.known?.isEmpty == false
            return hasPieces || names?.contains(folder.id) ?? true
        }
        var failure: StoreError?
        for folder in folders where !verification.pace.isCancelled && failure == nil {
            do throws(StoreError) {
                try await folder.verify(verification, by: library.store)
            } catch {
                failure = error
            }
        }
        library.rectify(asset)
        await verification.workOutReport()
        if let failure {
            throw LibraryError(failure, about: "\(asset.name) is not completely verified")
        }
        guard !verification.pace.isCancelled, !asset.isRemoved else { return }
        verification.isComplete = true
        asset.record(verifiedAt: now)
    }
}

extension Asset {
    private static let verifiedFile = "verified"

    /// Time of the last complete verification, in seconds since 1970; nil if there was none. Stored in the bundle.
    package var verified: Int64? {
        if let knownVerified {
            return knownVerified
        }
        let bytes = bundle.readOnce { (try? bundle.directory(create: false).read(Self.verifiedFile)) ?? nil }
        let time = bytes.flatMap { Int64(String(decoding: $0, as: UTF8.self).filter { $0 != "\n" }) }
        knownVerified = .some(time)
        return time
    }

    func record(verifiedAt time: Int64) {
        knownVerified = .some(time)
        bundle.changed()
        // If the file cannot be written, the asset is verified again a little earlier.
        try? bundle.directory(create: false).write(Array("\(time)\n".utf8), as: Self.verifiedFile)
    }
}

extension IntegrityService {
    private static let repairWidth = 6

    /// Repairs by the asset's download, then by fetching other damaged pieces. Returns why a piece is still missing.
    func repair(_ job: VerificationJob) async -> JobFailure? {
        if let reason = library.readOnlyReason {
            return JobFailure(LibraryError(reason, about: "\(job.asset.name) cannot be repaired"))
        }
        if let failure = await downloads?.fillHoles(for: job) {
            return failure
        }
        guard !job.state.isFinal else { return nil }
        do throws(LibraryError) {
            try await fetchAgain(job.verification)
            return nil
        } catch {
            return JobFailure(error)
        }
    }

    /// Fetches the verification's damaged pieces again if they are still missing.
    ///
    /// - Throws: the first error that would stop other pieces as well, or else the first error; fetched pieces stay.
    func fetchAgain(_ verification: Verification) async throws(LibraryError) {
        let asset = verification.asset
        var failure: LibraryError?
        var wanted = missing(verification, &failure)[...]
        while !wanted.isEmpty, !verification.pace.isCancelled {
            let batch = wanted.prefix(Self.repairWidth)
            wanted = wanted.dropFirst(batch.count)
            var fetches: [Fetch] = []
            defer {
                for fetch in fetches {
                    fetch.release()
                }
            }
            // A player may have brought one meanwhile.
            for (folder, resource) in batch where !folder.contains(resource.name.description) {
                fetches.append(try library.fetch(resource, in: folder, of: asset, urgency: .background))
            }
            for fetch in fetches {
                guard let error = await fetch.failure() else { continue }
                if error.concernsEverything {
                    throw error
                }
                failure = failure ?? error
            }
        }
        library.publish(asset)
        if let failure {
            throw failure
        }
    }

    private func missing(_ verification: Verification, _ failure: inout LibraryError?) -> [(PieceFolder, Resource)] {
        let asset = verification.asset
        var wanted: [(PieceFolder, Resource)] = []
        for (id, faults) in verification.faults.sorted(by: { $0.key < $1.key }) {
            guard let folder = asset.folder(id) else { continue }
            for file in faults.keys.sorted() where !folder.contains(file) {
                if let resource = PieceName(file).flatMap({ asset.resource($0, in: folder) }) {
                    wanted.append((folder, resource))
                } else {
                    let sentence = "\(asset.name): \(id)/\(file) cannot be had again, since no playlist says from where"
                    failure = failure ?? LibraryError(.missing, sentence)
                }
            }
        }
        return wanted
    }
}

extension Fetch {
    fileprivate func failure() async -> LibraryError? {
        let result = await withCheckedContinuation { continuation in
            whenEnded { continuation.resume(returning: $0) }
        }
        if case .failure(let error) = result {
            return LibraryError(error)
        }
        if let contentError {
            return LibraryError(contentError)
        }
        return keepFailure.map { LibraryError($0, about: "\(resource.name) cannot be stored") }
    }
}
