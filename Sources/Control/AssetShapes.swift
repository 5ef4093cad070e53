import Assets
import Downloads
import EventLoop
import Fetching
import HLS
import Orders
import Store
import WeirAPI

/// Converts an asset's tracks to the API's shapes.
@LoopActor struct AssetShapes {
    private let asset: Asset
    /// The asset looks for it in all renditions.
    private let duration: Double?
    /// The bandwidths of renditions that are also variants. Playlists give none for other renditions.
    private let bandwidths: [Int: BitRate]

    init(_ asset: Asset) {
        self.asset = asset
        duration = asset.duration
        let variants = asset.multivariant?.variants ?? []
        bandwidths = Dictionary(
            variants.map { ($0.renditionIndex, $0.averageBandwidth ?? $0.bandwidth) },
            uniquingKeysWith: { first, _ in first })
    }

    var tracks: API.Tracks {
        var tracks = ownTracks
        let attached = { (kind: AttachmentKind) in
            asset.content.additions.attachments.filter { $0.kind == kind }.map(shape)
        }
        tracks.subtitles += attached(.subtitles)
        let chapters = attached(.chapters)
        let thumbnails = attached(.thumbnails)
        tracks.chapters = chapters.isEmpty ? nil : chapters
        tracks.thumbnails = thumbnails.isEmpty ? nil : thumbnails
        return tracks
    }

    private func shape(_ attachment: BundleIdentity.Attachment) -> API.Rendition {
        var shape = API.Rendition(
            id: attachment.id, group: "attached", name: attachment.name, language: attachment.language,
            isDefault: attachment.isDefault ?? false)
        shape.isForced = attachment.kind == .subtitles ? attachment.isForced ?? false : nil
        shape.isAttached = true
        guard let rendition = asset.content.additions.renditions[attachment.id] else { return shape }
        shape.stored = stored(of: rendition)
        shape.isComplete = rendition.isComplete
        shape.bytes = bytes(rendition)
        return shape
    }

    private var ownTracks: API.Tracks {
        guard let playlist = asset.multivariant else {
            return API.Tracks(variants: asset.renditions.map(variant))
        }
        var tracks = API.Tracks(
            variants: playlist.variants.map(shape), audio: renditions(.audio, of: playlist),
            subtitles: renditions(.subtitles, of: playlist))
        let captions = renditions(.closedCaptions, of: playlist)
        tracks.captions = captions.isEmpty ? nil : captions
        return tracks
    }

    func tracks(of ids: [String]) -> API.Tracks {
        var tracks = tracks
        // Several lines may name one rendition, but a download of it has one. The latest request comes first.
        tracks.variants = ids.compactMap { id in tracks.variants.first { $0.id == id } }
        // Audio that is also a variant of its own is listed as audio.
        let audio = Set(tracks.audio.compactMap(\.id))
        if !tracks.variants.allSatisfy({ audio.contains($0.id) }) {
            tracks.variants.removeAll { audio.contains($0.id) }
        }
        tracks.audio.removeAll { $0.id.map { !ids.contains($0) } ?? true }
        tracks.subtitles.removeAll { $0.id.map { !ids.contains($0) } ?? true }
        tracks.chapters = nil
        tracks.thumbnails = nil
        return tracks
    }

    func tracks(besides ids: [String]) -> API.Tracks {
        var tracks = tracks
        tracks.variants.removeAll { ids.contains($0.id) }
        tracks.audio.removeAll { $0.id.map { ids.contains($0) } ?? true }
        tracks.subtitles.removeAll { $0.id.map { ids.contains($0) } ?? true }
        tracks.subtitles.removeAll { $0.isAttached ?? false }
        // They are in the variants' own segments, or attached already.
        tracks.captions = nil
        tracks.chapters = nil
        tracks.thumbnails = nil
        return tracks
    }

    /// The tracks that a selection chooses, with reasons; nil if there is no choice.
    func explanation(of selection: Selection) throws(Selection.NoMatch) -> API.Explanation? {
        guard let playlist = asset.multivariant, !playlist.variants.isEmpty else { return nil }
        let explanation = try selection.explanation(of: playlist)
        let reason = { (index: Int, reason: String) in
            let rendition = asset.renditions[playlist.variants[index].renditionIndex]
            return API.Explanation.Reason(index: index, id: rendition.name.id, reason: reason)
        }
        let media = explanation.media.map { playlist.media[$0] }
        let chosen = API.Tracks(
            variants: [shape(playlist.variants[explanation.variant])],
            audio: media.filter { $0.type == .audio }.map(shape),
            subtitles: media.filter { $0.type == .subtitles }.map(shape))
        return API.Explanation(
            chosen: reason(explanation.variant, explanation.reason),
            others: explanation.others.map { reason($0.variant, $0.reason) }, selection: chosen)
    }

    private func shape(_ variant: Variant) -> API.Variant {
        let rendition = asset.renditions[variant.renditionIndex]
        var shape = self.variant(rendition)
        shape.width = variant.resolution?.width
        shape.height = variant.resolution?.height
        shape.codecs = variant.attributes["CODECS"]
        shape.bandwidth = Int(variant.bandwidth)
        shape.averageBandwidth = variant.averageBandwidth.map { Int($0) }
        shape.frameRate = variant.frameRate
        shape.videoRange = variant.videoRange
        shape.estimatedBytes = estimate(bandwidth: variant.averageBandwidth ?? variant.bandwidth)
        return shape
    }

    private func renditions(_ type: Media.Kind, of playlist: MultivariantPlaylist) -> [API.Rendition] {
        playlist.media.filter { $0.type == type }.map(shape)
    }

    private func shape(_ media: Media) -> API.Rendition {
        let rendition = media.renditionIndex.map { asset.renditions[$0] }
        var shape = API.Rendition(
            id: rendition?.name.id, group: media.groupID, name: media.name, language: media.language,
            isDefault: media.isDefault)
        shape.isForced = media.type == .subtitles ? media.isForced : nil
        shape.channels = media.channels
        shape.instreamID = media.instreamID
        shape.estimatedBytes = media.renditionIndex.flatMap { bandwidths[$0] }.flatMap(estimate)
        guard let rendition else { return shape }
        shape.stored = stored(of: rendition)
        shape.isComplete = rendition.isComplete
        shape.bytes = bytes(rendition)
        return shape
    }

    private func estimate(bandwidth: BitRate) -> Int? {
        duration.map { Int(bandwidth.bytes(in: MediaDuration(seconds: $0))) }
    }

    /// A variant with what is stored of it, without the attributes of its line in the playlist.
    private func variant(_ rendition: Rendition) -> API.Variant {
        API.Variant(
            id: rendition.name.id, stored: stored(of: rendition), isComplete: rendition.isComplete,
            bytes: bytes(rendition))
    }

    /// The word for what is stored of a track. A complete track of which playback cached a part is only partly saved: that part may
    /// be evicted.
    private func stored(of rendition: Rendition) -> AssetState {
        let bytes = rendition.folder.bytes
        guard bytes > 0 else { return rendition.isComplete ? .saved : .notStored }
        let cachedBytes = rendition.folder.cachedBytes
        guard cachedBytes < bytes else { return .cached }
        return rendition.isComplete && cachedBytes == 0 ? .saved : .partlySaved
    }

    private func bytes(_ rendition: Rendition) -> Int { Int(rendition.folder.bytes) }
}
