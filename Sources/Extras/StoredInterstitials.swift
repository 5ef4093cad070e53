package import Assets
package import EventLoop
import Fetching
import HLS
import Store

/// The interstitials that are stored with an asset, with the names that players see.
@LoopActor package struct StoredInterstitials {
    private let asset: Asset
    private var additions: Additions { asset.content.additions }

    package init(of asset: Asset) { self.asset = asset }

    /// The stored file of an interstitial, with relative URIs: a multivariant playlist, or a list in JSON.
    private func text(of name: Interstitials.Name) -> [UInt8]? {
        guard additions.hasStored(name) else { return nil }
        let bundle = asset.bundle
        return bundle.readOnce {
            (try? bundle.directory(create: false).subdirectory(Interstitials.folder).read(name.description)) ?? nil
        }
    }

    /// The stored presentation of an interstitial as a multivariant playlist; nil if it is not stored.
    /// - Parameter naming: makes the URI of a rendition's playlist from the rendition's id.
    package func playlist(_ name: Interstitials.Name, naming: (String) -> String) -> [UInt8]? {
        guard name.kind == .presentation, let text = text(of: name),
            case .multivariant(let playlist)? = try? Playlist.parse(text)
        else { return nil }
        return try? playlist.rendered { reference in
            guard let index = reference.renditionIndex else { return nil }
            let parts = playlist.renditionURIs[index].split(separator: "/")
            // `../ID/media.m3u8`, as it was stored.
            guard parts.count > 1 else { return naming("") }
            return naming(String(parts[1]))
        }
    }

    /// The stored list of an interstitial; nil if it is not stored.
    /// - Parameter naming: makes the URI of a presentation from its name.
    package func list(_ name: Interstitials.Name, naming: (Interstitials.Name) -> String) -> [UInt8]? {
        guard name.kind == .list, let text = text(of: name), let list = try? AssetList(text) else { return nil }
        return try? list.rendered { Interstitials.Name(list.uris[$0]).map(naming) }
    }

    /// The texts of the folder `interstitials`, for an export.
    package var texts: [(file: String, bytes: [UInt8])] {
        additions.interstitials.compactMap { stored in
            guard let name = Interstitials.Name(stored.file), let text = text(of: name) else { return nil }
            return (stored.file, text)
        }
    }
}
