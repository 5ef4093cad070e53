import EventLoop
import Fetching
package import HLS
package import HTTPMessage

/// The names of all that a rendition's playlist lists, in its bundle and for players. Pure, so that a large playlist is written on
/// any thread.
package struct MediaNames: Equatable, Sendable {
    /// The files of the segments, by index; empty if `rule` names them.
    let segments: [String]
    let rule: Rendition.SegmentNames
    let sections: [String]
    /// Numbers by index of the key; nil for keys that cannot be fetched.
    let keys: [Int?]
    /// URIs of interstitials by index of the date range; nil for those that the playlist must not name.
    package var presentations: [Int: String] = [:]
    package var lists: [Int: String] = [:]
    /// Files of partial segments and of hinted resources; nil without a name.
    package var parts: [String?] = []
    package var hints: [String?] = []
    /// Paths in the asset's folder of the playlists that are reported on; nil for those that the multivariant playlist does not list.
    package var reports: [String?] = []
    /// In front of each file of the rendition, and of each path in the asset's folder. Without a change the URIs are relative to a
    /// playlist in the rendition's folder: short, and the same wherever that is.
    package var rendition = ""
    package var asset = "../"
    /// The URL against which a key's URI is resolved that has no number; nil to keep such a URI.
    package var base: WebURL?
    /// Indexes of segments that are missing for good, which get EXT-X-GAP.
    package var gaps: Set<Int> = []
    /// True to list gaps. Those of cues take no time from other renditions, which go on meanwhile.
    package var keepsGaps = false

    /// A file that does not exist. Players treat a hint that leads to a 404 as a hint that did not come true (rfc8216bis §6.2.6).
    private static let none = "none"

    /// Writes the playlist with these names.
    package func text(
        of playlist: MediaPlaylist, as view: MediaPlaylistView, cut: MediaPlaylistCut? = nil
    ) throws(PlaylistError) -> [UInt8] {
        var view = view
        view.keepsGaps = view.keepsGaps || keepsGaps
        return try playlist.rendered(view, cut: cut, gaps: gaps) { reference in
            switch reference {
            case .segment(let segment): rendition + (element(segment.index, of: segments) ?? rule.file(of: segment))
            case .map(let map): element(map.index, of: sections).map { rendition + $0 }
            case .key(let key): uri(of: key)
            case .assetURI(let range): presentations[range.index]
            case .assetList(let range): lists[range.index]
            case .part(let part): rendition + (name(part.index, parts) ?? Self.none)
            case .preloadHint(let hint): rendition + (name(hint.index, hints) ?? Self.none)
            case .renditionReport(let report):
                if let report = name(report.index, reports) {
                    asset + report
                } else {
                    rendition + Self.none
                }
            }
        }
    }

    private func uri(of key: Key) -> String? {
        if let number = element(key.index, of: keys) ?? nil {
            return "\(asset)keys/\(KeyRing.name(number))"
        }
        // Weir does not serve it: its METHOD is unknown, for instance.
        guard let base, WebURL.isRelative(key.uri), !key.uri.isEmpty else { return nil }
        return (try? base.resolving(key.uri))?.text
    }

    private func element<Element>(_ index: Int, of elements: [Element]) -> Element? {
        guard elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    private func name(_ index: Int, _ names: [String?]) -> String? { element(index, of: names) ?? nil }
}

extension Rendition {
    /// The names in one of its playlists, without those of interstitials and of a low-latency playlist.
    package func names(in source: Source) -> MediaNames {
        let playlist = source.playlist
        if source.isDurable, let known = self.source, known.isDurable, known.playlist == playlist {
            return MediaNames(
                segments: segmentFiles, rule: segmentNames(), sections: sectionFiles, keys: keyNumbers)
        }
        // The parser limits what has no prepared names.
        return MediaNames(
            segments: [], rule: segmentNames(in: source),
            sections: playlist.maps.map { name(of: $0, in: source).description },
            keys: playlist.keys.map { number(of: $0, in: source) })
    }
}
