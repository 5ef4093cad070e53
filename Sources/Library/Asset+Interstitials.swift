import HTTPMessage
import Playlist

extension Asset {
    /// Where an interstitial's name leads. After a restart only the playlists know it that are kept.
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
