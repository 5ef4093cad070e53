package import Assets
package import EventLoop
import Fetching
package import Store

/// Adds the additions of an imported bundle to an asset that is not registered yet.
@LoopActor package struct ImportedAdditions {
    private let content: AssetContent

    package init(of asset: Asset) { content = asset.content }

    /// Adds an attached track. Returns its rendition; nil if its playlist cannot be read.
    package func adopt(_ attachment: BundleIdentity.Attachment, playlist text: [UInt8]) -> Rendition? {
        guard attachment.id.hasPrefix(Additions.attachedPrefix), AssetNaming.isID(attachment.id),
            let source = content.attachedSource(text)
        else { return nil }
        let rendition = content.makeRendition(of: attachment)
        rendition.adopt(source)
        content.additions.attachments.append(attachment)
        content.additions.renditions[attachment.id] = rendition
        return rendition
    }

    /// Adds a rendition of stored interstitials, without a playlist; nil for an id that none has.
    package func adopt(interstitialRendition id: String) -> Rendition? {
        guard id.hasPrefix(Additions.interstitialPrefix), AssetNaming.isID(id) else { return nil }
        let rendition = content.additions.renditions[id] ?? content.makeRendition(ofInterstitial: id)
        content.additions.renditions[id] = rendition
        return rendition
    }

    /// Adds stored interstitials whose renditions are known.
    package func adopt(_ interstitials: [BundleIdentity.Interstitial]) {
        content.additions.interstitials += interstitials
        content.additions.keepsInterstitials = true
    }
}
