import EventLoop
import Fetching
import FoundationEssentials
import Playheads
package import Store

/// Expiry and playbacks of assets.
extension Library {
    /// Throws `expired` if the asset has expired, and `newerBundle` if its bundle has a newer format.
    package func checkExpiry(of asset: Asset) throws(LibraryError) {
        try checkBundle(of: asset)
        guard let end = asset.life.expiration, end <= date() else { return }
        let option = end == asset.life.policy.expires ? "--expires" : "--after-first-play"
        throw LibraryError(
            .expired,
            "\(asset.name) has expired (\(Self.instant(end))); \"weir policy \(asset.name) \(option) never\" lets it play again"
        )
    }

    /// Formats a time for users, in UTC: `2026-12-24T18:00:00Z`.
    package static func instant(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    /// Records the beginning or end of a session.
    func recordPlay(_ change: SessionChange) {
        guard let asset = asset(id: change.asset) else { return }
        let isFirst = asset.life.firstPlayed == nil
        asset.life.recordPlay(at: date())
        events.send(.assetChanged(asset))
        noteKeyUse(of: asset)
        guard asset.isPersistent, readOnlyReason == nil else { return }
        if isFirst, asset.life.policy.afterFirstPlay != nil, asset.bundle.exists { writeBundle(of: asset) }
        Task { await saveLife(of: asset) }
    }

    /// Writes the policy, playbacks and purge of an asset to the catalogue.
    package func saveLife(of asset: Asset) async {
        guard asset.isPersistent else { return }
        await write(.init(storage: [asset.storageRecord]), about: asset)
    }
}

extension Asset {
    /// The catalogue record of its policy, playbacks and purge.
    package var storageRecord: StorageRecord { StorageRecord(asset: id, life) }
}
