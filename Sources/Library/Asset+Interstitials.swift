import HTTPMessage
import Playlist

extension Asset {
    /// The URL of an interstitial. After a restart it is known only if the playlist that names it is stored.
    func url(of interstitial: Interstitials.Name) -> WebURL? {
        if let url = interstitials.url(interstitial) { return url }
        for source in renditions.compactMap(\.source) {
            for range in source.playlist.dateRanges {
                let uri = interstitial.kind == .list ? range.assetList : range.assetURI
                guard let url = uri.flatMap({ try? source.base.resolving($0) }) else { continue }
                if interstitials.name(url, interstitial.kind) == interstitial { return url }
            }
        }
        return nil
    }
}
