import EventLoop
import Library
import Playlist

/// What an asset offers, in the API's shapes.
@LoopActor struct AssetShapes {
    private let asset: Asset

    init(_ asset: Asset) { self.asset = asset }

    /// Everything that the entry playlist names.
    var tracks: API.Tracks {
        guard let playlist = asset.multivariant else {
            return API.Tracks(
                variants: asset.renditions.map { API.Variant(id: $0.name.id, local: local($0), bytes: bytes($0)) })
        }
        return API.Tracks(
            variants: playlist.variants.map(shape), audio: renditions(.audio, of: playlist),
            subtitles: renditions(.subtitles, of: playlist))
    }

    /// What of it belongs to these renditions.
    func tracks(of ids: [String]) -> API.Tracks {
        var tracks = tracks
        tracks.variants.removeAll { !ids.contains($0.id) }
        // Several lines may name one rendition; a download of it is one.
        if let first = tracks.variants.first { tracks.variants = [first] }
        tracks.audio.removeAll { $0.id.map { !ids.contains($0) } ?? true }
        tracks.subtitles.removeAll { $0.id.map { !ids.contains($0) } ?? true }
        return tracks
    }

    private func shape(_ variant: Variant) -> API.Variant {
        let rendition = asset.renditions[variant.renditionIndex]
        var shape = API.Variant(id: rendition.name.id, local: local(rendition), bytes: bytes(rendition))
        shape.width = variant.resolution?.width
        shape.height = variant.resolution?.height
        shape.codecs = variant.attributes["CODECS"]
        shape.bandwidth = variant.bandwidth
        shape.averageBandwidth = variant.averageBandwidth
        shape.frameRate = variant.frameRate
        shape.videoRange = variant.videoRange
        shape.estimatedBytes = estimate(bandwidth: variant.averageBandwidth ?? variant.bandwidth)
        return shape
    }

    private func renditions(_ type: Media.Kind, of playlist: MultivariantPlaylist) -> [API.Rendition] {
        playlist.media.filter { $0.type == type }.map { media in
            let rendition = media.renditionIndex.map { asset.renditions[$0] }
            var shape = API.Rendition(
                id: rendition?.name.id, group: media.groupID, name: media.name, language: media.language,
                isDefault: media.isDefault)
            shape.isForced = type == .subtitles ? media.isForced : nil
            shape.channels = media.channels
            shape.local = rendition.map(local) ?? .none
            shape.bytes = rendition.map(bytes) ?? 0
            return shape
        }
    }

    private func estimate(bandwidth: Int) -> Int? {
        asset.duration.map { Int(min(Double(bandwidth) / 8 * $0, 1e15)) }
    }

    private func local(_ rendition: Rendition) -> API.Local {
        rendition.isWhole ? .complete : rendition.folder.bytes > 0 ? .partly : .none
    }

    private func bytes(_ rendition: Rendition) -> Int { Int(rendition.folder.bytes) }
}
