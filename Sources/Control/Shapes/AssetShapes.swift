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
    /// A part of a playlist, or of the additions, that becomes one track.
    private enum Line {
        case variant(Variant)
        /// The rendition of a lone media playlist.
        case lone(Rendition)
        case media(Media)
        case attachment(BundleIdentity.Attachment)
    }

    private let asset: Asset
    /// Those of the playlist that `lines` reads: the asset may get another one between two slices.
    private let renditions: [Rendition]
    private let playlist: MultivariantPlaylist?
    /// The asset looks for it in all renditions.
    private let duration: Double?
    /// The bandwidths of renditions that are also variants. Playlists give none for other renditions.
    private let bandwidths: [Int: BitRate]
    /// The codec of each group of sound, if its variants name one alone.
    private let soundCodecs: [String: String]

    init(_ asset: Asset) {
        self.asset = asset
        renditions = asset.renditions
        playlist = asset.multivariant
        duration = asset.duration
        let variants = playlist?.variants ?? []
        var bandwidths: [Int: BitRate] = [:]
        // Of several variants with the same video, the first.
        for variant in variants where bandwidths[variant.renditionIndex] == nil {
            bandwidths[variant.renditionIndex] = variant.averageBandwidth ?? variant.bandwidth
        }
        self.bandwidths = bandwidths
        soundCodecs = playlist?.soundCodecs ?? [:]
    }

    /// All tracks. A playlist may have 20,000 of them, so they are made in slices.
    func tracks() async -> API.Tracks {
        var tracks = API.Tracks()
        var slice = LoopSlice()
        for line in lines {
            await rendition(of: line)?.readCompleteness()
            add(line, to: &tracks)
            await slice.giveWay()
        }
        return tracks
    }

    /// The tracks of renditions, and captions. Only their lines are converted: events of downloads contain them.
    func tracks(of ids: [String]) -> API.Tracks {
        var tracks = API.Tracks()
        for line in lines(of: ids) {
            add(line, to: &tracks)
        }
        // Several lines may name one rendition, but a download of it has one. The latest request comes first.
        let variants = Dictionary(tracks.variants.map { ($0.id, $0) }) { first, _ in first }
        tracks.variants = ids.compactMap { variants[$0] }
        // Audio that is also a variant of its own is listed as audio.
        let audio = Set(tracks.audio.compactMap(\.id))
        if !tracks.variants.allSatisfy({ audio.contains($0.id) }) {
            tracks.variants.removeAll { audio.contains($0.id) }
        }
        return tracks
    }

    /// The tracks of the other renditions. Captions are in the variants' own segments, and what is attached is there already.
    func tracks(besides ids: [String]) -> API.Tracks {
        let left = Set(ids)
        var tracks = API.Tracks()
        for line in lines where isTrack(line, besides: left) {
            add(line, to: &tracks)
        }
        return tracks
    }

    /// The tracks of the other renditions, made in slices.
    func tracksInSlices(besides ids: [String]) async -> API.Tracks {
        let left = Set(ids)
        var tracks = API.Tracks()
        var slice = LoopSlice()
        for line in lines where isTrack(line, besides: left) {
            add(line, to: &tracks)
            await slice.giveWay()
        }
        return tracks
    }

    private func isTrack(_ line: Line, besides left: Set<String>) -> Bool {
        switch line {
        case .variant, .lone: return !left.contains(id(of: line) ?? "")
        case .media:
            guard let id = id(of: line) else { return false }
            return !left.contains(id)
        case .attachment: return false
        }
    }

    /// The variant with the first of these ids that one has; nil if none has any.
    func variant(firstOf ids: [String]) -> API.Variant? {
        var variants: [String: Line] = [:]
        for line in lines {
            switch line {
            case .variant, .lone:
                if let id = id(of: line), variants[id] == nil {
                    variants[id] = line
                }
            case .media, .attachment: break
            }
        }
        guard let id = ids.first(where: { variants[$0] != nil }), let line = variants[id] else { return nil }
        var tracks = API.Tracks()
        add(line, to: &tracks)
        return tracks.variants.first
    }

    /// The lines of renditions, of captions and of attached subtitles. Few of thousands, so that only these are copied.
    private func lines(of ids: [String]) -> [Line] {
        let wanted = Set(ids)
        var lines: [Line] = []
        if let playlist {
            let known = ids.compactMap { asset.rendition($0) }
            let own = known.filter { wanted.contains($0.name.id) && asset.content.has($0) }
            let indices = Set(own.map(\.index))
            for variant in playlist.variants where indices.contains(variant.renditionIndex) {
                lines.append(.variant(variant))
            }
            for media in playlist.media {
                let isOfRendition = media.renditionIndex.map(indices.contains) ?? false
                if isOfRendition || media.type == .closedCaptions {
                    lines.append(.media(media))
                }
            }
        } else {
            lines += renditions.filter { wanted.contains($0.name.id) }.map { .lone($0) }
        }
        let attached = asset.content.additions.attachments
        lines += attached.filter { $0.kind == .subtitles && wanted.contains($0.id) }.map { .attachment($0) }
        return lines
    }

    /// The lines in the order of the playlist.
    private var lines: some Sequence<Line> {
        // Each is made when it is looked at: a playlist may have 20,000.
        var parts: [LineParts] = []
        if let playlist {
            parts.append(LineParts(playlist.variants.count) { .variant(playlist.variants[$0]) })
            parts.append(LineParts(playlist.media.count) { .media(playlist.media[$0]) })
        } else {
            parts.append(LineParts(renditions.count) { .lone(renditions[$0]) })
        }
        let attachments = asset.content.additions.attachments
        parts.append(LineParts(attachments.count) { .attachment(attachments[$0]) })
        return parts.lazy.flatMap(\.lines)
    }

    /// Lines of one kind.
    private struct LineParts {
        private let count: Int
        private let make: (Int) -> Line

        init(_ count: Int, _ make: @escaping (Int) -> Line) {
            self.count = count
            self.make = make
        }

        var lines: LazyMapSequence<Range<Int>, Line> { (0..<count).lazy.map(make) }
    }

    /// The rendition of a line; nil if it has none.
    private func rendition(of line: Line) -> Rendition? {
        switch line {
        case .variant(let variant): renditions[variant.renditionIndex]
        case .lone(let rendition): rendition
        case .media(let media): media.renditionIndex.map { renditions[$0] }
        case .attachment(let attachment): asset.content.additions.renditions[attachment.id]
        }
    }

    private func id(of line: Line) -> String? { rendition(of: line)?.name.id }

    private func add(_ line: Line, to tracks: inout API.Tracks) {
        switch line {
        case .variant(let variant): tracks.variants.append(shape(variant))
        case .lone(let rendition): tracks.variants.append(self.variant(rendition))
        case .media(let media):
            switch media.type {
            case .audio: tracks.audio.append(shape(media))
            case .subtitles: tracks.subtitles.append(shape(media))
            case .closedCaptions: Self.append(shape(media), to: &tracks.captions)
            default: break
            }
        case .attachment(let attachment):
            switch attachment.kind {
            case .subtitles: tracks.subtitles.append(shape(attachment))
            case .chapters: Self.append(shape(attachment), to: &tracks.chapters)
            case .thumbnails: Self.append(shape(attachment), to: &tracks.thumbnails)
            }
        }
    }

    /// Appends to an array that is absent without elements.
    private static func append(_ shape: API.Rendition, to shapes: inout [API.Rendition]?) {
        if shapes == nil {
            shapes = []
        }
        shapes?.append(shape)
    }

    private func shape(_ attachment: BundleIdentity.Attachment) -> API.Rendition {
        var shape = API.Rendition(
            id: attachment.id, group: "attached", name: attachment.name, language: attachment.language,
            isDefault: attachment.isDefault ?? false)
        if attachment.kind == .subtitles {
            shape.isForced = attachment.isForced ?? false
        }
        shape.isAttached = true
        guard let rendition = asset.content.additions.renditions[attachment.id] else { return shape }
        shape.stored = stored(of: rendition)
        shape.isComplete = rendition.isComplete
        shape.bytes = bytes(rendition)
        return shape
    }

    /// The tracks that a selection chooses, with reasons; nil if there is no choice.
    func explanation(of selection: Selection) throws(Selection.NoMatch) -> API.Explanation? {
        guard let playlist, !playlist.variants.isEmpty else { return nil }
        let explanation = try selection.explanation(of: playlist)
        let reason = { (index: Int, reason: String) in
            let rendition = renditions[playlist.variants[index].renditionIndex]
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
        var shape = self.variant(renditions[variant.renditionIndex])
        shape.width = variant.resolution?.width
        shape.height = variant.resolution?.height
        shape.codecs = variant.attributes["CODECS"]
        if variant.bandwidth > .zero {
            shape.bandwidth = Int(variant.bandwidth)
        }
        shape.averageBandwidth = variant.averageBandwidth.map { Int($0) }
        shape.frameRate = variant.frameRate
        shape.videoRange = variant.videoRange
        shape.estimatedBytes = estimate(bandwidth: variant.averageBandwidth ?? variant.bandwidth)
        return shape
    }

    private func shape(_ media: Media) -> API.Rendition {
        let rendition = media.renditionIndex.map { renditions[$0] }
        var shape = API.Rendition(
            id: rendition?.name.id, group: media.groupID, name: media.name, language: media.language,
            isDefault: media.isDefault)
        if media.type == .subtitles {
            shape.isForced = media.isForced
        }
        if media.type == .audio {
            shape.codec = soundCodecs[media.groupID]
        }
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
        guard bandwidth > .zero else { return nil }
        return duration.map { Int(bandwidth.bytes(in: MediaDuration(seconds: $0))) }
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
        let isComplete = rendition.isComplete
        let bytes = rendition.folder.bytes
        guard bytes > 0 else { return isComplete ? .saved : .notStored }
        let cachedBytes = rendition.folder.cachedBytes
        guard cachedBytes < bytes else { return .cached }
        guard isComplete, cachedBytes == 0 else { return .partlySaved }
        return .saved
    }

    private func bytes(_ rendition: Rendition) -> Int { Int(rendition.folder.bytes) }
}
