public import Assets
import EventLoop

/// The features of this room, each a type of its own that works on a library.
extension Library {
    /// Opens the presentations that interstitials name.
    public var interstitials: InterstitialLoader { InterstitialLoader(library: self) }
    /// Stores interstitials with the assets that name them.
    package var interstitialFiles: InterstitialFiles { InterstitialFiles(library: self) }
    /// Fetches and stores images of assets.
    public var artwork: ArtworkFiles { ArtworkFiles(library: self) }
    /// Attaches tracks to assets.
    package var attachments: AttachmentFiles { AttachmentFiles(library: self) }
}
