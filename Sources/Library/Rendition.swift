public import EventLoop
public import HTTPMessage
public import Playlist

/// One media playlist's worth of media, whether a variant's own or an EXT-X-MEDIA's: its playlist, its resources by name,
/// and the pieces that are there.
@LoopActor public final class Rendition {
    /// A media playlist as fetched, and what its references are relative to.
    public struct Source: Sendable {
        /// The playlist.
        public let playlist: MediaPlaylist
        /// The URL that it came from, after redirects.
        public let base: WebURL
        /// How many segments there are to fetch.
        let needed: Int

        init(playlist: MediaPlaylist, base: WebURL) {
            self.playlist = playlist
            self.base = base
            needed = playlist.segments.count { !$0.isGap }
        }

        /// Its keys that can be fetched, in the playlist's order.
        var keyURLs: [WebURL] {
            playlist.keys.filter(\.isFetchable).compactMap { try? base.resolving($0.uri) }
        }

        /// Whether it has ended, so that it may be kept.
        public var isDurable: Bool { !playlist.isLive }
    }

    /// Its name in URLs and on disk, and what it carries.
    public let name: RenditionNaming.Name
    /// Where its pieces lie.
    public let folder: PieceFolder
    /// The asset's keys.
    public let keys: KeyRing
    /// The playlist as it was last fetched; nil before that.
    public private(set) var source: Source?
    /// When that was, for live playlists.
    private(set) var fetched: ContinuousClock.Instant?
    /// The fetch under way, which others join.
    var loading: Task<Result<Source, LibraryError>, Never>?

    /// Whether the catalogue has its playlist and its keys' numbers: only then may its pieces be kept.
    var isSaved = false

    /// `isWhole` as it was found at these counts of changes.
    private var wholeness: (folder: Int, keys: Int, isWhole: Bool)?
    private var liveMaps: [LiveMap: Int] = [:]
    private var recent: [PieceName: Resource] = [:]
    private var recentOrder: [PieceName] = []

    /// What an initialization section of a live playlist is known by.
    private struct LiveMap: Hashable {
        let url: WebURL
        let range: SubRange?
    }

    init(_ name: RenditionNaming.Name, bundle: Bundle, keys: KeyRing) {
        self.name = name
        self.keys = keys
        folder = PieceFolder(id: name.id, in: bundle)
    }

    /// Takes a playlist that was fetched or restored.
    func adopt(_ source: Source) {
        self.source = source
        fetched = .now
        wholeness = nil
        fileNames = nil
        // Numbers go to keys in the playlist's order, so that they are the same whoever asks for one first.
        for url in source.keyURLs { keys.add(url) }
        guard !source.isDurable else { return }
        numberMaps(of: source)
        remember(source)
    }

    /// How long a live playlist counts before it is asked for again: half its target duration.
    var reloadInterval: Duration { .seconds(Double(max(source?.playlist.targetDuration ?? 2, 1)) / 2) }

    // MARK: Names

    /// What the segments' files are called, by their place in a playlist that has ended; made once.
    private var fileNames: [String]?

    /// What the segment's file is called.
    public func file(of segment: Segment) -> String {
        guard source?.isDurable ?? false else { return name(of: segment).description }
        if fileNames == nil { fileNames = source?.playlist.segments.map { name(of: $0).description } }
        guard let fileNames, fileNames.indices.contains(segment.index) else { return name(of: segment).description }
        return fileNames[segment.index]
    }

    /// What the segment's file is called.
    public func name(of segment: Segment) -> PieceName {
        let path = Self.path(of: segment.uri)
        let fileExtension = PieceName.segmentExtension(forPath: path, content: name.content, hasMap: segment.map != nil)
        return PieceName(.segment(segment.mediaSequenceNumber), fileExtension: fileExtension)
    }

    /// What the initialization section's file is called.
    public func name(of map: Map) -> PieceName {
        PieceName(.initialization(liveNumber(of: map) ?? map.index), fileExtension: "mp4")
    }

    /// The number of a key; nil where it is none that can be fetched (DRM, `data:`), or where its URI is no URL.
    public func number(of key: Key) -> Int? {
        guard key.isFetchable, let url = try? source?.base.resolving(key.uri) else { return nil }
        return keys.number(for: url)
    }

    /// By bytes, which is much faster than by characters.
    private nonisolated static func path(of uri: String) -> String {
        let end = uri.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end.map { String(uri[..<$0]) } ?? uri
    }

    // MARK: Resources

    /// The resource behind a name that a rendered playlist of this rendition contains, or contained of late.
    public func resource(named name: PieceName) -> Resource? {
        guard let source else { return nil }
        switch name.role {
        case .segment(let number):
            let index = number.subtractingReportingOverflow(source.playlist.mediaSequence)
            let segments = source.playlist.segments
            guard !index.overflow, segments.indices.contains(index.partialValue) else { return recent[name] }
            let resource = resource(of: segments[index.partialValue])
            return resource?.name == name ? resource : nil
        case .initialization(let index):
            guard let map = source.playlist.maps.first(where: { (liveNumber(of: $0) ?? $0.index) == index }) else {
                return recent[name]
            }
            let resource = resource(of: map)
            return resource?.name == name ? resource : nil
        case .key: return nil
        }
    }

    /// The segment as a resource; nil where there is nothing to fetch: a gap, or a URI that is no URL.
    public func resource(of segment: Segment) -> Resource? {
        guard !segment.isGap else { return nil }
        return resource(name(of: segment), segment.uri, segment.byteRange)
    }

    /// The initialization section as a resource.
    public func resource(of map: Map) -> Resource? { resource(name(of: map), map.uri, map.byteRange) }

    private func resource(_ name: PieceName, _ uri: String, _ range: SubRange?) -> Resource? {
        guard let url = try? source?.base.resolving(uri) else { return nil }
        return Resource(name: name, url: url, range: range.map { Int64($0.offset)..<Int64($0.end) })
    }

    /// Everything but the segments: what must be there before any of them plays.
    public var preliminaries: [(folder: PieceFolder, resource: Resource)] {
        guard let playlist = source?.playlist else { return [] }
        let numbers = playlist.keys.compactMap { number(of: $0) }
        return numbers.compactMap { number in keys.resource(number).map { (keys.folder, $0) } }
            + playlist.maps.compactMap { map in resource(of: map).map { (folder, $0) } }
    }

    /// Whether every segment, initialization section and key is there, so that it plays without the origin.
    public var isWhole: Bool {
        let state = (folder.changes, keys.folder.changes)
        if let known = wholeness, known.folder == state.0, known.keys == state.1 { return known.isWhole }
        let isWhole = findWhole()
        wholeness = (state.0, state.1, isWhole)
        return isWhole
    }

    private func findWhole() -> Bool {
        guard let source, source.isDurable else { return false }
        // Most often too few files are there, and no name has to be made to know it.
        guard folder.sizes.count >= source.needed else { return false }
        guard source.playlist.segments.allSatisfy({ $0.isGap || folder.contains(file(of: $0)) }) else {
            return false
        }
        return preliminaries.allSatisfy { $0.folder.contains($0.resource.name.description) }
    }

    /// Whether its media can be kept, but not be played without a content decryption module.
    public var needsDRM: Bool { source?.playlist.keys.contains(where: \.needsDRM) ?? false }

    // MARK: Live

    /// In a window that slides, a section's place changes; a player must never see one name for two sections.
    private func numberMaps(of source: Source) {
        for map in source.playlist.maps {
            guard let url = try? source.base.resolving(map.uri) else { continue }
            let known = LiveMap(url: url, range: map.byteRange)
            if liveMaps[known] == nil { liveMaps[known] = liveMaps.count }
        }
    }

    /// nil in a playlist that has ended: there the place is for ever.
    private func liveNumber(of map: Map) -> Int? {
        guard let source, !source.isDurable, let url = try? source.base.resolving(map.uri) else { return nil }
        return liveMaps[LiveMap(url: url, range: map.byteRange)]
    }

    /// Keeps the resources that a live playlist named, for the players that ask for one just after it slid out.
    private func remember(_ source: Source) {
        let segments = source.playlist.segments.compactMap { resource(of: $0) }
        let maps = source.playlist.maps.compactMap { resource(of: $0) }
        for resource in segments + maps where recent.updateValue(resource, forKey: resource.name) == nil {
            recentOrder.append(resource.name)
        }
        let excess = recentOrder.count - 3 * (segments.count + maps.count) - 8
        guard excess > 0 else { return }
        for name in recentOrder.prefix(excess) { recent[name] = nil }
        recentOrder.removeFirst(excess)
    }
}
