public import EventLoop
import Fetching
public import Library
public import Retention
import Store

/// Verifies stored pieces against their ledgers, and fetches damaged ones again.
@LoopActor public final class Integrity {
    let library: Library
    private let retention: Retention

    /// - Parameter retention: knows the content pinned by downloads.
    public init(of library: Library, _ retention: Retention) { (self.library, self.retention) = (library, retention) }

    // MARK: Verification

    /// Creates a verification of an asset, which has not begun.
    ///
    /// - Parameter bytesPerSecond: maximum reading rate; 0 for no limit.
    /// - Throws: `store` if the system has no descriptor left or the asset's volume is not mounted; `busy` while the
    ///   asset is moved.
    public func verification(of asset: Asset, bytesPerSecond: Int64) throws(LibraryError) -> Verification {
        try library.checkPresence(of: asset)
        try library.checkStill(asset)
        do {
            return Verification(of: asset, at: try ReadingPace(bytesPerSecond: bytesPerSecond))
        } catch {
            throw LibraryError(error, about: "\(asset.name) cannot be verified")
        }
    }

    /// Reads every piece on a thread of the store. A damaged piece is set aside as soon as it is found, and is a hole
    /// from then on; the bundle's own playlists are corrected. Nothing is fetched.
    ///
    /// - Parameter now: the time that the bundle records, in seconds since 1970. A cancelled verification is not
    ///   recorded.
    /// - Throws: `store` if something cannot be read; the faults found so far stay.
    public func verify(_ verification: Verification, at now: Int64) async throws(LibraryError) {
        let asset = verification.asset
        defer { asset.letGo() }
        // Recently stored pieces get their ledger lines, so that they are verified too.
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

    /// The current findings of a verification.
    public func report(on verification: Verification) -> VerificationReport {
        let pinned = retention.pinned(of: verification.asset)
        return VerificationReport(of: verification.asset, faults: verification.faults, pinned: pinned)
    }

    // MARK: Scrubbing

    /// Maximum number of bundles per call whose time of the last verification is read.
    private static let mostLooks = 64

    /// The asset with the oldest verification before a time limit. For an asset that was never verified, its creation
    /// counts. Large stores are searched over several calls.
    ///
    /// - Parameters:
    ///   - limit: the time limit, in seconds since 1970.
    ///   - now: a verification after this time is due to a wrong clock, and counts as old.
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

    /// Time of the last complete verification, in seconds since 1970; nil if there was none. It is stored in the
    /// bundle, so that it moves with the pieces.
    public var verified: Int64? {
        if let knownVerified { return knownVerified }
        let bytes = bundle.readOnce { (try? bundle.directory(create: false).read(Self.verifiedFile)) ?? nil }
        let time = bytes.flatMap { Int64(String(decoding: $0, as: UTF8.self).filter { $0 != "\n" }) }
        knownVerified = .some(time)
        return time
    }

    func note(verifiedAt time: Int64) {
        knownVerified = .some(time)
        bundle.changed()
        // If the file cannot be written, the asset is verified again a little earlier.
        try? bundle.directory(create: false).write(Array("\(time)\n".utf8), as: Self.verifiedFile)
    }
}
