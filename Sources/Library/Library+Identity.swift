import EventLoop
import Fetching
import HTTPMessage
import Origin

/// Assets that are asked for by a URL with other tokens than the one by which they are known.
extension Library {
    /// The asset that a URL leads to although it is known by another one: both differ in tokens alone, and what the URL
    /// leads to is what the asset is, segment by segment. From then on the asset is asked for there; nil where there is
    /// none.
    ///
    /// Never by the URL alone: only where a playlist is known that has ended, and the one that is found says the same.
    ///
    /// - Parameter isNamed: whether the URL is the user's own.
    func assetWithOtherTokens(at url: WebURL, fields: UserFields?, isNamed: Bool) async -> Asset? {
        guard readOnlyReason == nil else { return nil }
        let identity = TokenlessURL(url)
        for known in assets where TokenlessURL(known.origin) == identity {
            let asset = known.revision ?? known
            guard asset.hasEndedPlaylist else { continue }
            let access = OriginAccess(
                to: url, with: fields ?? asset.fields, namesPeer: isNamed || asset.access.namesPeer)
            guard let destination = try? await Destination(of: asset, at: url, access, by: playlistFetcher),
                destination.isProven, !asset.isRemoved, self.asset(at: url) == nil
            else { continue }
            guard (try? await settle(asset, at: destination)) != nil else { continue }
            return known
        }
        return nil
    }
}

extension Asset {
    /// Whether there is anything to tell its content by: a playlist of the origin's that has ended.
    fileprivate var hasEndedPlaylist: Bool {
        renditions.contains { $0.source.map { $0.isDurable && !$0.isRecorded } ?? false }
    }
}

extension Destination {
    /// Whether a playlist that has ended was found to be the same.
    fileprivate var isProven: Bool {
        sources.contains { $0.rendition.source?.isDurable ?? false && $0.source.isDurable }
    }
}
