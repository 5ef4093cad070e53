import EventLoop
import Fetching
import Store

/// Reading what is stored against what had come.
extension Library {
    /// A verification of an asset, which has not begun.
    ///
    /// - Parameter bytesPerSecond: the most that is read; 0 for as much as the disk gives.
    /// - Throws: `store` when the system gives no descriptor, or the asset's disk is not there; `busy` where it is being
    ///   moved.
    public func verification(of asset: Asset, bytesPerSecond: Int64) throws(LibraryError) -> Verification {
        try checkPresence(of: asset)
        try checkStill(asset)
        do {
            return Verification(of: asset, at: try ReadingPace(bytesPerSecond: bytesPerSecond))
        } catch {
            throw LibraryError(error, about: "\(asset.name) cannot be verified")
        }
    }

    /// Reads every piece, on a thread of the store's. What is wrong is set aside as soon as that is seen, and is a hole from
    /// then on; the bundle's own playlists are made right. Nothing is fetched.
    ///
    /// - Parameter now: what the bundle notes as the time of it, in seconds since 1970; where it was given up, nothing.
    /// - Throws: `store` when something cannot be read; what was found till then stays found.
    public func verify(_ verification: Verification, at now: Int64) async throws(LibraryError) {
        let asset = verification.asset
        defer { asset.letGo() }
        // So that what has just come has its line, and is read as well.
        await store.flush()
        var failure: StoreError?
        for folder in asset.folders where !verification.pace.isCancelled && failure == nil {
            do throws(StoreError) {
                try await folder.verify(verification, by: store)
            } catch {
                failure = error
            }
        }
        rectify(asset)
        if let failure { throw LibraryError(failure, about: "\(asset.name) is not wholly verified") }
        guard !verification.pace.isCancelled, !asset.isRemoved else { return }
        verification.isComplete = true
        asset.note(verifiedAt: now)
    }

    /// What a verification has found, as it stands now.
    public func report(on verification: Verification) -> VerificationReport {
        let pins = playCache.pins(of: verification.asset)
        return VerificationReport(of: verification.asset, faults: verification.faults, pins: pins)
    }

    /// Takes out of the bundle's own playlists what is not whole any more.
    package func rectify(_ asset: Asset) {
        guard readOnlyReason == nil, !asset.isRemoved else { return }
        for rendition in asset.renditions where !rendition.isWhole && rendition.folder.hasPlaylist {
            do throws(StoreError) {
                try withdraw(rendition, of: asset)
            } catch {
                report("\(asset.name): the bundle's own playlists could not be made right: \(error)")
            }
        }
        publish(asset)
    }
}

extension Asset {
    private static let verifiedFile = "verified"

    /// When all of it was last verified, in seconds since 1970; nil where it never was. The bundle has it, so that it moves
    /// with the pieces.
    public var verified: Int64? {
        if let knownVerified { return knownVerified }
        let bytes = bundle.glance { (try? bundle.directory(create: false).read(Self.verifiedFile)) ?? nil }
        let time = bytes.flatMap { Int64(String(decoding: $0, as: UTF8.self).filter { $0 != "\n" }) }
        knownVerified = .some(time)
        return time
    }

    /// Notes when all of it was verified.
    func note(verifiedAt time: Int64) {
        knownVerified = .some(time)
        bundle.changed()
        // Where it cannot be written it is verified anew a little sooner.
        try? bundle.directory(create: false).write(Array("\(time)\n".utf8), as: Self.verifiedFile)
    }
}

/// Whose turn it is by time.
extension Library {
    /// So many bundles are looked into at a time for when they were verified.
    private static let mostLooks = 64

    /// The asset that was verified the longest ago, or made and never verified, if that is before a time; what is not known
    /// of many is found out over several calls.
    ///
    /// - Parameters:
    ///   - limit: in seconds since 1970.
    ///   - now: what lies behind this is a mistake of a clock, and counts as long ago.
    public func assetToVerify(before limit: Int64, at now: Int64, isPassedOver: (Asset) -> Bool) -> Asset? {
        var looks = 0
        var oldest: (asset: Asset, time: Int64)?
        for asset in assets where asset.isPersistent && asset.created < limit && !isPassedOver(asset) {
            if asset.bundle.absence != nil || isMoving(asset) { continue }
            if asset.knownVerified == nil { looks += 1 }
            guard looks <= Self.mostLooks else { break }
            let verified = asset.verified.map { $0 > now ? 0 : $0 } ?? asset.created
            if verified < limit, verified < oldest?.time ?? .max { oldest = (asset, verified) }
        }
        return oldest?.asset
    }
}
