package import EventLoop
package import Fetching
package import HLS
package import HTTPMessage
import Orders
package import Store

/// The part of a bundle beside its asset's own presentation: an image, tracks that the user attached, and stored interstitials. Its
/// renditions are folders of the bundle like others, so that they are counted, verified, moved and removed with the asset.
@LoopActor package struct Additions {
    /// The format of the image that represents the asset in lists; nil if there is none.
    package var artwork: Artwork.Kind?
    package var attachments: [BundleIdentity.Attachment] = []
    package var interstitials: [BundleIdentity.Interstitial] = []
    /// True if a download stores the interstitials: those that it could not store stream while the origin may be asked.
    package var keepsInterstitials = false
    /// The renditions of tracks and interstitials, by id.
    package var renditions: [String: Rendition] = [:]

    /// The renditions in a fixed order.
    package var sorted: [Rendition] {
        guard !renditions.isEmpty else { return [] }
        return renditions.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The prefix of the folder of an attached track.
    package nonisolated static let attachedPrefix = "attached-"
    /// The prefix of the folder of an interstitial's rendition.
    package nonisolated static let interstitialPrefix = "interstitial-"
    /// The file of chapters in JSON, beside the pieces of the playlist.
    package nonisolated static let chapterFile = PieceName(.data(0), fileExtension: "json")
    /// The file of thumbnails' times in WebVTT, beside the pieces of the playlist.
    package nonisolated static let timesFile = PieceName(.data(0), fileExtension: "vtt")

    /// The attached tracks as lines of a multivariant playlist, with URIs relative to the bundle or to a session. Only complete
    /// tracks are listed: a player that cannot load one may stop.
    package var tracks: AddedTracks {
        var tracks = AddedTracks()
        for attachment in attachments {
            guard let rendition = renditions[attachment.id], rendition.isComplete else { continue }
            let uri = "\(attachment.id)/media.m3u8"
            switch attachment.kind {
            case .subtitles:
                var subtitles = AddedTracks.Subtitles(name: attachment.name, language: attachment.language, uri: uri)
                subtitles.isForced = attachment.isForced ?? false
                subtitles.isDefault = attachment.isDefault ?? false
                tracks.subtitles.append(subtitles)
            case .chapters:
                let file = Self.chapterFile.description
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

    package func interstitial(_ name: Interstitials.Name) -> BundleIdentity.Interstitial? {
        let file = name.description
        return interstitials.first { $0.file == file }
    }

    /// True if an interstitial plays from the store alone.
    package func hasStored(_ name: Interstitials.Name) -> Bool {
        guard let stored = interstitial(name) else { return false }
        return stored.renditions.allSatisfy { renditions[$0]?.isComplete ?? false }
            && (name.kind == .list || !stored.renditions.isEmpty)
    }
}

extension AssetContent {
    /// The part of the bundle beside the presentation. It is read from the bundle at the first use.
    package var additions: Additions {
        get {
            if let knownAdditions {
                return knownAdditions
            }
            // A preview has no bundle, and an unmounted volume may have one.
            guard isStored, !bundle.isRemoved, bundle.absence == nil else { return Additions() }
            let text = bundle.readOnce { (try? bundle.directory(create: false).read(BundleIdentity.fileName)) ?? nil }
            let read = additions(text.flatMap { try? BundleIdentity($0, at: bundle.id) })
            knownAdditions = read
            return read
        }
        set { knownAdditions = newValue }
    }

    /// Restores the additions that the bundle's identity lists.
    func restoreAdditions(_ identity: BundleIdentity) { knownAdditions = additions(identity) }

    /// Reads the additions again at the next use, because the bundle was emptied.
    func forgetAdditions() { knownAdditions = nil }

    /// Reads the additions again, because the volume of the bundle has come or gone. Known renditions stay, because folders
    /// and playlists belong to them.
    func reloadAdditions() {
        let former = knownAdditions?.renditions ?? [:]
        knownAdditions = nil
        guard !former.isEmpty, bundle.absence == nil else { return }
        for (id, rendition) in former where additions.renditions[id] != nil {
            additions.renditions[id] = rendition
        }
    }

    private func additions(_ identity: BundleIdentity?) -> Additions {
        var additions = Additions()
        additions.artwork = bundle.readOnce {
            let folder = try? bundle.directory(create: false)
            return Artwork.Kind.allCases.first { folder?.size(of: $0.fileName) != nil }
        }
        additions.attachments = identity?.attachments ?? []
        additions.interstitials = identity?.interstitials ?? []
        additions.keepsInterstitials = identity?.interstitials != nil
        for attachment in additions.attachments {
            let rendition = makeRendition(of: attachment)
            if let text = rendition.folder.read("media.m3u8"), let source = attachedSource(text) {
                rendition.adopt(source)
            }
            additions.renditions[attachment.id] = rendition
        }
        for id in additions.interstitials.flatMap(\.renditions) where additions.renditions[id] == nil {
            additions.renditions[id] = makeRendition(ofInterstitial: id)
        }
        return additions
    }

    /// Makes the rendition of an attached track, without a playlist.
    package func makeRendition(of attachment: BundleIdentity.Attachment) -> Rendition {
        let content: PieceName.Content = attachment.kind == .thumbnails ? .images : .subtitles
        return makeAddition(.init(id: attachment.id, content: content, isIFramesOnly: false))
    }

    /// Makes the rendition of an interstitial, without a playlist.
    package func makeRendition(ofInterstitial id: String) -> Rendition {
        let content: PieceName.Content = id.contains("-subtitles") ? .subtitles : .media
        return makeAddition(.init(id: id, content: content, isIFramesOnly: false))
    }

    private func makeAddition(_ name: RenditionNaming.Name) -> Rendition {
        let rendition = Rendition(name, bundle: bundle, keys: keys)
        // No index in the presentation's own playlist.
        rendition.index = -1
        return rendition
    }

    /// The source of an attached track: its URIs are names of pieces, which no origin has.
    package func attachedSource(_ text: [UInt8]) -> Rendition.Source? {
        guard let placeholder = try? WebURL.placeholder(for: bundle.id),
            case .media(let playlist)? = try? Playlist.parse(text)
        else { return nil }
        return Rendition.Source(playlist: playlist, base: placeholder, isRecorded: true)
    }
}
