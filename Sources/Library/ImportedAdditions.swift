import Fetching
import HTTPMessage
import Playlist
package import Store

/// The additions of an imported bundle, for an asset that is not registered yet.
extension Asset {
    /// Adds an attached track. Returns its rendition; nil if its playlist cannot be read.
    package func adopt(_ attachment: BundleIdentity.Attachment, playlist text: [UInt8]) -> Rendition? {
        guard attachment.id.hasPrefix(Additions.attachedPrefix), AssetNaming.isName(attachment.id),
            let source = attachedSource(text)
        else { return nil }
        let rendition = rendition(of: attachment)
        rendition.adopt(source)
        var additions = additions
        additions.attachments.append(attachment)
        additions.renditions[attachment.id] = rendition
        knownAdditions = additions
        return rendition
    }

    /// Adds a rendition of stored interstitials, without a playlist; nil for an id that none has.
    package func adopt(interstitialRendition id: String) -> Rendition? {
        guard id.hasPrefix(Additions.interstitialPrefix), AssetNaming.isName(id) else { return nil }
        var additions = additions
        let rendition = additions.renditions[id] ?? interstitialRendition(id)
        additions.renditions[id] = rendition
        knownAdditions = additions
        return rendition
    }

    /// Adds stored interstitials whose renditions are known.
    package func adopt(_ interstitials: [BundleIdentity.Interstitial]) {
        var additions = additions
        additions.interstitials += interstitials
        additions.keepsInterstitials = true
        knownAdditions = additions
    }

    /// The files in the folder `interstitials` that the playlists name, and the names that they have by the URLs of this asset.
    package var interstitialFiles: [(file: String, name: Interstitials.Name)] {
        var found: [(file: String, name: Interstitials.Name)] = []
        for source in renditions.compactMap(\.source) {
            for range in source.playlist.dateRanges {
                for (uri, kind) in [(range.assetURI, Interstitials.Kind.presentation), (range.assetList, .list)] {
                    guard let uri, uri.hasPrefix("../\(Interstitials.folder)/"),
                        let url = try? source.base.resolving(uri)
                    else { continue }
                    let file = String(uri.dropFirst(Interstitials.folder.utf8.count + 4))
                    guard Interstitials.Name(file)?.kind == kind else { continue }
                    let name = interstitials.name(url, kind)
                    if !found.contains(where: { $0.name == name }) { found.append((file, name)) }
                }
            }
        }
        return found
    }
}
