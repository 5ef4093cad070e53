import Fetching
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
        self.additions = additions
        return rendition
    }

    /// Adds a rendition of stored interstitials, without a playlist; nil for an id that none has.
    package func adopt(interstitialRendition id: String) -> Rendition? {
        guard id.hasPrefix(Additions.interstitialPrefix), AssetNaming.isName(id) else { return nil }
        var additions = additions
        let rendition = additions.renditions[id] ?? interstitialRendition(id)
        additions.renditions[id] = rendition
        self.additions = additions
        return rendition
    }

    /// Adds stored interstitials whose renditions are known.
    package func adopt(_ interstitials: [BundleIdentity.Interstitial]) {
        var additions = additions
        additions.interstitials += interstitials
        additions.keepsInterstitials = true
        self.additions = additions
    }
}
