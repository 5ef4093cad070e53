public import EventLoop
import Fetching
public import Library
public import Retention
import Store

/// Verifies stored pieces against their ledgers, and fetches damaged ones again.
@LoopActor public final class Integrity {
    let library: Library
    private let retention: Retention

    /// - Parameter retention: knows the content that downloads pin.
    public init(of library: Library, _ retention: Retention) { (self.library, self.retention) = (library, retention) }

    // MARK: Verification

    /// A verification of an asset that has not begun.
    ///
    /// - Parameter bytesPerSecond: the most that is read; 0 for no limit.
    /// - Throws: `store` if the system has no descriptor left, or the asset's volume is not mounted; `busy` while the asset
    ///   is moved.
    public func verification(of asset: Asset, bytesPerSecond: Int64) throws(LibraryError) -> Verification {
        try library.checkPresence(of: asset)
        try library.checkStill(asset)
        do {
            return Verification(of: asset, at: try ReadingPace(bytesPerSecond: bytesPerSecond))
        } catch {
            throw LibraryError(error, about: "\(asset.name) cannot be verified")
        }
    }

    /// Reads every piece, on a thread of the store. A damaged piece is set aside as soon as it is found, and is a hole from
    /// then on; the bundle's own playlists are corrected. Nothing is fetched.
    ///
    /// - Parameter now: the time that the bundle records, in seconds since 1970; it records nothing if the verification is
    ///   cancelled.
    /// - Throws: `store` if something cannot be read; the faults found so far stay.
    public func verify(_ verification: Verification, at now: Int64) async throws(LibraryError) {
        let asset = verification.asset
        defer { asset.letGo() }
        // So that pieces stored just now have their ledger lines, and are read as well.
        await library.store.flush()
        var failure: StoreError?
        for folder in asset.folders where !verification.pace.isCancelled && failure == nil {
            do throws(StoreError) {
                try await folder.verify(verification, by: library.store)
            } catch {
                failure = error
            }
        }
        library.rectify(asset)
        if let failure { throw LibraryError(failure, about: "\(asset.name) is not wholly verified") }
        guard !verification.pace.isCancelled, !asset.isRemoved else { return }
        verification.isComplete = true
        asset.note(verifiedAt: now)
    }

    /// The findings of a verification, as they stand now.
    public func report(on verification: Verification) -> VerificationReport {
        let pinned = retention.pinned(of: verification.asset)
        return VerificationReport(of: verification.asset, faults: verification.faults, pinned: pinned)
    }

    // MARK: Scrubbing

    /// The most bundles that one call reads for the time of their last verification.
    private static let mostLooks = 64

    /// The asset whose last verification, or creation if it was never verified, is the longest ago, if that is before a
    /// time. Large stores are read over several calls.
    ///
    /// - Parameters:
    ///   - limit: in seconds since 1970.
    ///   - now: a later time of verification is a clock's mistake, and counts as long ago.
    public func assetToVerify(before limit: Int64, at now: Int64, isPassedOver: (Asset) -> Bool) -> Asset? {
        var looks = 0
        var oldest: (asset: Asset, time: Int64)?
        for asset in library.assets where asset.isPersistent && asset.created < limit && !isPassedOver(asset) {
            if asset.bundle.absence != nil || library.isMoving(asset) { continue }
            if asset.knownVerified == nil { looks += 1 }
            guard looks <= Self.mostLooks else { break }
            let verified = asset.verified.map { $0 > now ? 0 : $0 } ?? asset.created
            if verified < limit, verified < oldest?.time ?? .max { oldest = (asset, verified) }
        }
        return oldest?.asset
    }
}

extension Asset {
    private static let verifiedFile = "verified"

    /// The time when all of it was last verified, in seconds since 1970; nil if it never was. The bundle has it, so that it
    /// moves with the pieces.
    public var verified: Int64? {
        if let knownVerified { return knownVerified }
        let bytes = bundle.glance { (try? bundle.directory(create: false).read(Self.verifiedFile)) ?? nil }
        let time = bytes.flatMap { Int64(String(decoding: $0, as: UTF8.self).filter { $0 != "\n" }) }
        knownVerified = .some(time)
        return time
    }

    func note(verifiedAt time: Int64) {
        knownVerified = .some(time)
        bundle.changed()
        // If the file cannot be written, the asset is verified again a little sooner.
        try? bundle.directory(create: false).write(Array("\(time)\n".utf8), as: Self.verifiedFile)
    }
}
