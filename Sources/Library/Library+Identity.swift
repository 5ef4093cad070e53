import EventLoop
import Fetching
import HTTPMessage
import Origin

/// Finds known assets by a URL that has other tokens.
extension Library {
    /// Returns the asset whose content a URL leads to, if its known URL differs only in tokens. The playlists must
    /// agree segment by segment. From then on the asset uses the new URL. Returns nil if there is no such asset.
    ///
    /// The URL alone is never enough: a playlist that has ended must be known, and the new URL must lead to the same
    /// one.
    ///
    /// - Parameter isNamed: true if the user gave the URL.
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
    /// True if the content can be identified: a playlist of the origin that has ended is known.
    fileprivate var hasEndedPlaylist: Bool {
        renditions.contains { $0.source.map { $0.isDurable && !$0.isRecorded } ?? false }
    }
}

extension Destination {
    /// True if a playlist that has ended was found to be equal.
    fileprivate var isProven: Bool {
        sources.contains { $0.rendition.source?.isDurable ?? false && $0.source.isDurable }
    }
}
