public import EventLoop
public import Fetching
public import HTTPMessage
package import Playheads
public import Playlist

/// One media playlist's worth of media, whether a variant's own or an EXT-X-MEDIA's: its playlist, its resources by
/// name, and the pieces that are there.
@LoopActor public final class Rendition {
    /// A media playlist as fetched, and what its references are relative to.
    public struct Source: Sendable {
        /// The playlist.
        public let playlist: MediaPlaylist
        /// The URL that it came from, after redirects.
        public let base: WebURL
        /// The variables that it could import: those that the multivariant playlist had then; nil where none led to it.
        let imports: [String: String]?
        /// When the origin made it, as far as it told (RFC 9111 §5.1).
        public let born: ContinuousClock.Instant
        /// How many segments there are to fetch.
        let needed: Int
        /// Whether it is what a recording is made of, and not a whole presentation although it may say that it has
        /// ended.
        var isWindow = false
        /// What names add to its media sequence numbers: other than 0 where the origin began these anew while it was
        /// recorded.
        var shift = 0
        /// Whether it is the text of a recording, whose URIs are names of pieces: what is lost of it cannot be had
        /// again.
        public let isRecorded: Bool

        /// The text of a recording.
        ///
        /// - Parameter base: a URL of the origin.
        init(recorded playlist: MediaPlaylist, base: WebURL) {
            (self.playlist, self.base, imports, born, isRecorded) = (playlist, base, nil, .now, true)
            needed = playlist.segments.count { !$0.isGap }
        }

        package init(
            playlist: MediaPlaylist, base: WebURL, imports: [String: String]? = nil,
            born: ContinuousClock.Instant = .now
        ) {
            self.playlist = playlist
            self.base = base
            self.imports = imports
            self.born = born
            isRecorded = false
            needed = playlist.segments.count { !$0.isGap }
        }

        /// Its keys that can be fetched, in the playlist's order.
        var keyURLs: [WebURL] {
            if isRecorded { return [] }
            return playlist.keys.filter(\.isFetchable).compactMap { try? base.resolving($0.uri) }
        }

        /// Whether it has ended, so that it may be kept.
        public var isDurable: Bool { !playlist.isLive && !isWindow }

        /// The segment with a media sequence number, if it is listed.
        func segment(_ number: Int) -> Segment? {
            let index = number.subtractingReportingOverflow(playlist.firstSequenceNumber + shift)
            guard !index.overflow, playlist.segments.indices.contains(index.partialValue) else { return nil }
            return playlist.segments[index.partialValue]
        }
    }

    /// Its name in URLs and on disk, and what it carries.
    public let name: RenditionNaming.Name
    /// Where its pieces lie.
    public let folder: PieceFolder
    /// The asset's keys.
    public let keys: KeyRing
    /// The playlist as it was last fetched whole; nil before that.
    public private(set) var source: Source?
    /// What was last fetched: `source`, or a delta update after it, which stands for nothing by itself and is never
    /// kept.
    private(set) var latest: Source?
    /// The fetch under way, which others join.
    var loading: Task<Result<Source, LibraryError>, Never>?
    /// When it may be asked for again, while it is live.
    var schedule = ReloadSchedule()
    /// Whether the origin failed to give a newer one when it was last asked.
    var isOverdue = false
    /// Its place in `Asset.renditions`.
    public internal(set) var place = 0
    /// The place among its mirrors at which the origin last answered.
    var mirror = 0
    /// Whether the origin has another playlist now than the one, ended, that is known.
    var isOutdated = false
    /// The asking for fresh URLs that is under way, which others join, and how often it may be done.
    var renewal: Task<Source?, Never>?
    var pace = RenewalPace()
    /// Whether its playlist, which has ended, came again with other URLs.
    private(set) var hasMoved = false
    /// The mirrors' playlists under way, by their places, which others join.
    var visits: [Int: Task<Source?, Never>] = [:]
    /// What players asked of the origin by directives.
    var relay = Relay()

    /// Grows whenever another text takes the place of the playlist.
    private(set) var edition = 0

    /// Its recording, while that goes on.
    public internal(set) var recording: Recording?
    /// What the origin showed last before the recording was ended: to players of the live stream its end, since a media
    /// sequence number must not go back (RFC 8216 §6.2.2).
    public internal(set) var lastWindow: (source: Source, recording: Recording)?

    /// Whether its playlist is known, and goes on.
    public var isLive: Bool { source.map { !$0.isDurable } ?? false }

    /// Whether the catalogue has its playlist and its keys' numbers: only then may its pieces be kept.
    var isSaved = false

    /// `isWhole` as it was found at these counts of changes.
    private var wholeness: (folder: Int, keys: Int, isWhole: Bool)?
    /// The names that only a live playlist has.
    var live = LiveNames()

    init(_ name: RenditionNaming.Name, bundle: Bundle, keys: KeyRing, folder: PieceFolder? = nil) {
        self.name = name
        self.keys = keys
        self.folder = folder ?? PieceFolder(id: name.id, in: bundle)
    }

    /// Takes a playlist that was fetched or restored.
    ///
    /// - Parameter began: when its loading began.
    package func adopt(_ source: Source, began: ContinuousClock.Instant = .now) {
        let source = recording?.observe(source) ?? source
        let hasChanged = self.source?.playlist.text.write() != source.playlist.text.write()
        schedule.note(began: began, targetDuration: source.playlist.interval, hasChanged: hasChanged)
        self.source = source
        edition += 1
        wholeness = nil
        fileNames = nil
        knownTimeline = nil
        show(source)
        keyNumbers = []
        if source.isDurable { keyNumbers = source.playlist.keys.map { number(of: $0, in: source) } }
    }

    /// Takes a playlist that `isAgain` the known one, which has ended, for the URLs in it: all names stay.
    func move(to source: Source) {
        for (number, key) in zip(keyNumbers, source.playlist.keys) {
            if let number, let url = try? source.base.resolving(key.uri) { keys.move(number, to: url) }
        }
        (self.source, latest) = (source, source)
        (isOutdated, hasMoved) = (false, true)
    }

    /// Forgets a playlist of which nothing is stored.
    func forget() {
        (source, latest, keyNumbers, fileNames, wholeness) = (nil, nil, [], nil, nil)
        knownTimeline = nil
        edition += 1
        (isSaved, isOutdated) = (false, false)
    }

    /// Gives names to what a text names, so that players who read it find it: a whole one, or a delta update.
    func show(_ source: Source) {
        // Numbers go to keys in the playlist's order, so that they are the same whoever asks for one first.
        for url in source.keyURLs { keys.add(url) }
        let before = latest
        latest = source
        guard !source.isDurable || !(before?.isDurable ?? true) else { return }
        let passing = source.isDurable ? [] : passingResources(of: source)
        let gone = before.map { resources(of: $0, before: source.playlist.firstSequenceNumber) } ?? []
        live.replace(with: passing, gone: gone, named: passing.count + source.playlist.segments.count)
    }

    // MARK: Times

    private var knownTimeline: MediaTimeline?

    /// When its segments begin, by the playlist as it was last fetched whole; made once.
    package var timeline: MediaTimeline? {
        if knownTimeline == nil { knownTimeline = source.map { MediaTimeline($0.playlist) } }
        return knownTimeline
    }

    // MARK: Names

    /// What the segments' files are called, by their place in a playlist that has ended; made once.
    private var fileNames: [String]?

    /// What the segment's file is called.
    ///
    /// - Parameter other: the text that lists it, where that is not the known one.
    public func file(of segment: Segment, in other: Source? = nil) -> String {
        guard other == nil, source?.isDurable ?? false else { return name(of: segment, in: other).description }
        if fileNames == nil { fileNames = source?.playlist.segments.map { name(of: $0).description } }
        guard let fileNames, fileNames.indices.contains(segment.index) else { return name(of: segment).description }
        return fileNames[segment.index]
    }

    /// What the segment's file is called.
    public func name(of segment: Segment, in source: Source? = nil) -> PieceName {
        let source = source ?? self.source
        if source?.isRecorded ?? false, let name = PieceName(segment.uri) { return name }
        let number = segment.mediaSequenceNumber + (source?.shift ?? 0)
        return PieceName(.segment(number), fileExtension: fileExtension(segment.uri, segment.map))
    }

    /// What the initialization section's file is called. In a window that slides its place changes, and a player must
    /// never see one name for two sections; in a playlist that has ended the place is for ever.
    public func name(of map: Map, in source: Source? = nil) -> PieceName {
        let source = source ?? self.source
        if source?.isRecorded ?? false, let name = PieceName(map.uri) { return name }
        guard let source, !source.isDurable, let url = try? source.base.resolving(map.uri) else {
            return PieceName(.initialization(map.index), fileExtension: "mp4")
        }
        return (recording ?? lastWindow?.recording)?.name(ofMapAt: url, map.byteRange)
            ?? PieceName(.passing(live.number(url, map.byteRange)), fileExtension: "mp4")
    }

    /// What a segment's or part's file ends in.
    ///
    /// - Parameter map: the section in force, as far as the text tells: a delta update may have left its line out.
    func fileExtension(_ uri: String, _ map: Map?) -> String {
        let hasMap = map != nil || (latest?.playlist.isDeltaUpdate ?? false) && !(source?.playlist.maps.isEmpty ?? true)
        return PieceName.segmentExtension(forPath: Self.path(of: uri), content: name.content, hasMap: hasMap)
    }

    /// The numbers of the keys of a playlist that has ended, by their places in it: they stay when the URLs change.
    package private(set) var keyNumbers: [Int?] = []

    /// The number of a key; nil where it is none that can be fetched (DRM, `data:`), or where its URI is no URL.
    public func number(of key: Key, in source: Source? = nil) -> Int? {
        if keyNumbers.indices.contains(key.index) { return keyNumbers[key.index] }
        guard let source = source ?? self.source, key.isFetchable else { return nil }
        if source.isRecorded { return Self.number(ofRecordedKey: key.uri) }
        guard let url = try? source.base.resolving(key.uri) else { return nil }
        return keys.number(for: url)
    }

    /// By bytes, which is much faster than by characters.
    private nonisolated static func path(of uri: String) -> String {
        let end = uri.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end.map { String(uri[..<$0]) } ?? uri
    }

    // MARK: Presence

    /// Whether every segment, initialization section and key is there, so that it plays without the origin.
    public var isWhole: Bool {
        let state = (folder.changes, keys.changes)
        if let known = wholeness, known.folder == state.0, known.keys == state.1 { return known.isWhole }
        let isWhole = findWhole(keys.has)
        wholeness = (state.0, state.1, isWhole)
        return isWhole
    }

    /// Whether nothing is missing of it but keys that may not be used any more: of these none is fetched unless somebody
    /// renews it.
    public var isStored: Bool {
        if isWhole { return true }
        let unusable = keys.unusable
        return !unusable.isEmpty && findWhole { unusable.contains($0) || keys.has($0) }
    }

    /// - Parameter hasKey: whether nothing is to be had of a key.
    private func findWhole(_ hasKey: (Int) -> Bool) -> Bool {
        guard let source, source.isDurable else { return false }
        // Most often too few files are there, and no name has to be made to know it.
        guard folder.sizes.count >= source.needed else { return false }
        guard source.playlist.segments.allSatisfy({ $0.isGap || folder.contains(file(of: $0)) }) else {
            return false
        }
        return source.playlist.keys.compactMap { number(of: $0) }.allSatisfy(hasKey)
            && source.playlist.maps.allSatisfy { folder.contains(name(of: $0).description) }
    }

    /// Whether its media can be kept, but not be played without a content decryption module.
    public var needsDRM: Bool { source?.playlist.keys.contains(where: \.needsDRM) ?? false }
}
