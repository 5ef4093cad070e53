import EventLoop
import Fetching
package import HLS
import HTTPMessage
import Orders
package import Store

/// The content of an asset beside its own presentation: tracks that the user attached, and stored interstitials. Its renditions
/// are folders of the bundle like others, so that they are counted, verified, moved and removed with the asset.
package struct Additions {
    package internal(set) var attachments: [BundleIdentity.Attachment] = []
    package internal(set) var interstitials: [BundleIdentity.Interstitial] = []
    /// True if a download stores the interstitials: those that it could not store stream while the origin may be asked.
    package internal(set) var keepsInterstitials = false
    /// The renditions of both, by id.
    package internal(set) var renditions: [String: Rendition] = [:]

    /// The renditions in a fixed order.
    package var sorted: [Rendition] { renditions.isEmpty ? [] : renditions.sorted { $0.key < $1.key }.map(\.value) }

    /// The prefix of the folder of an attached track.
    static let attachedPrefix = "attached-"
    /// The prefix of the folder of an interstitial's rendition.
    static let interstitialPrefix = "interstitial-"
}

extension Asset {
    /// The part of the bundle beside the presentation. It is read from the bundle at the first use.
    package var additions: Additions {
        get { content.additions ?? readAdditions() }
        set { content.additions = newValue }
    }

    private func readAdditions() -> Additions {
        // An unmounted volume may have some.
        guard !isPreview, !isRemoved, bundle.absence == nil else { return Additions() }
        let text = bundle.readOnce { (try? bundle.directory(create: false).read(BundleIdentity.fileName)) ?? nil }
        let identity = text.flatMap { try? BundleIdentity($0, at: id) }
        restoreAdditions(identity ?? BundleIdentity(id: id, name: name, title: nil, created: created))
        return additions
    }

    /// Restores the additions that a bundle's identity lists.
    func restoreAdditions(_ identity: BundleIdentity) {
        var additions = Additions()
        additions.attachments = identity.attachments ?? []
        additions.interstitials = identity.interstitials ?? []
        additions.keepsInterstitials = identity.interstitials != nil
        for attachment in additions.attachments {
            let rendition = rendition(of: attachment)
            if let text = rendition.folder.read("media.m3u8"), let source = attachedSource(text) {
                rendition.adopt(source)
            }
            additions.renditions[attachment.id] = rendition
        }
        for id in additions.interstitials.flatMap(\.renditions) where additions.renditions[id] == nil {
            additions.renditions[id] = interstitialRendition(id)
        }
        self.additions = additions
    }

    /// Reads the additions again, because the volume of the bundle has come or gone. Known renditions stay, because folders
    /// and playlists belong to them.
    func reloadAdditions() {
        guard let former = loadedContent?.additions?.renditions else { return }
        loadedContent?.additions = nil
        guard !former.isEmpty, bundle.absence == nil else { return }
        for (id, rendition) in former where additions.renditions[id] != nil {
            additions.renditions[id] = rendition
        }
    }

    /// Makes the rendition of an attached track, without a playlist.
    func rendition(of attachment: BundleIdentity.Attachment) -> Rendition {
        let content: PieceName.Content = attachment.kind == .thumbnails ? .images : .subtitles
        return addition(.init(id: attachment.id, content: content, isIFramesOnly: false))
    }

    /// Makes the rendition of an interstitial, without a playlist.
    func interstitialRendition(_ id: String) -> Rendition {
        let isText = id.contains("-subtitles")
        return addition(.init(id: id, content: isText ? .subtitles : .media, isIFramesOnly: false))
    }

    private func addition(_ name: RenditionNaming.Name) -> Rendition {
        let rendition = Rendition(name, bundle: bundle, keys: keys)
        // No place in the presentation's own playlist.
        rendition.place = -1
        return rendition
    }

    /// The source of an attached track: its URIs are names of pieces, which no origin has.
    func attachedSource(_ text: [UInt8]) -> Rendition.Source? {
        guard let nowhere = try? WebURL.nowhere(id), case .media(let playlist)? = try? Playlist.parse(text) else {
            return nil
        }
        return Rendition.Source(playlist: playlist, base: nowhere, isRecorded: true)
    }

    /// The attached tracks as lines of a multivariant playlist, with URIs relative to the bundle or to a session. Only complete
    /// tracks are listed: a player that cannot load one may stop.
    package var addedTracks: AddedTracks {
        var tracks = AddedTracks()
        for attachment in additions.attachments {
            guard let rendition = additions.renditions[attachment.id], rendition.isComplete else { continue }
            let uri = "\(attachment.id)/media.m3u8"
            switch attachment.kind {
            case .subtitles:
                var subtitles = AddedTracks.Subtitles(name: attachment.name, language: attachment.language, uri: uri)
                subtitles.isForced = attachment.isForced ?? false
                subtitles.isDefault = attachment.isDefault ?? false
                tracks.subtitles.append(subtitles)
            case .chapters:
                let file = AttachmentFiles.chapterFile.description
                if rendition.folder.contains(file) {
                    tracks.chapters = "\(attachment.id)/\(file)"
                }
            case .thumbnails:
                guard let size = attachment.size, size.count == 2 else { continue }
                tracks.images.append(
                    .init(
                        resolution: Resolution(width: size[0], height: size[1]), bandwidth: Int(rendition.peakBitRate),
                        uri: uri))
            }
        }
        return tracks
    }
}
