public import EventLoop
public import Fetching
public import HLS
public import HTTPMessage
package import Playheads
import Store

/// The media of one playlist, a variant's or an EXT-X-MEDIA's: the playlist, its resources by name, and its pieces.
@LoopActor public final class Rendition {
    /// A media playlist as fetched, and the base URL of its references.
    public struct Source: Sendable {
        /// The properties that never change. In a box, because a source is read a dozen times for each segment.
        private final class Fetched: Sendable {
            let playlist: MediaPlaylist
            let base: WebURL
            let imports: [String: String]?
            let born: ContinuousClock.Instant
            let needed: Int

            init(_ playlist: MediaPlaylist, base: WebURL, imports: [String: String]?, born: ContinuousClock.Instant) {
                self.playlist = playlist
                self.base = base
                self.imports = imports
                self.born = born
                needed = playlist.segments.count - playlist.gapCount
            }
        }

        private let fetched: Fetched
        /// The playlist.
        public var playlist: MediaPlaylist { fetched.playlist }
        /// The URL after redirects.
        public var base: WebURL { fetched.base }
        /// The variables that it could import from the multivariant playlist of that time; nil if none names it.
        package var imports: [String: String]? { fetched.imports }
        /// The time when the origin made it, from the response (RFC 9111 §5.1).
        public var born: ContinuousClock.Instant { fetched.born }
        var needed: Int { fetched.needed }
        /// See `prepared(as:owner:)`; nil for a small playlist.
        @Rare var preparations: PreparedPlaylist?
        /// True if it is the window of a recording, and not a complete presentation although it may have an end.
        package var isWindow = false
        /// The index of the mirror that it is from.
        var mirror = 0
        /// Added to its media sequence numbers in names: not 0 if the origin restarted its numbers, see `LiveNumbering`.
        package var shift = 0
        /// The `shift` that it has as the playlist of the channel, for that of a recording; nil for any other.
        package var channelShift: Int?
        /// True if it is a recorded playlist, whose URIs are names of pieces. A lost piece cannot be fetched again.
        public let isRecorded: Bool

        package init(
            playlist: MediaPlaylist, base: WebURL, imports: [String: String]? = nil,
            born: ContinuousClock.Instant = .now, isRecorded: Bool = false
        ) {
            fetched = Fetched(playlist, base: base, imports: imports, born: born)
            self.isRecorded = isRecorded
        }

        /// Its keys that can be fetched, in the playlist's order.
        package var keyURLs: [WebURL] {
            if isRecorded {
                return []
            }
            if let preparations {
                return preparations.keyURLs.compactMap(\.self)
            }
            return playlist.keys.compactMap { $0.url(base: base) }
        }

        /// True if it has ended, so that it may be stored.
        public var isDurable: Bool { !playlist.isLive && !isWindow }

        /// The number of its first segment in names.
        var firstNumber: SequenceNumber { playlist.firstSequenceNumber + shift }

        /// The segment with a number in names, if it is listed.
        package func segment(_ number: Int) -> Segment? {
            let index = SequenceNumber(number) - firstNumber
            guard playlist.segments.indices.contains(index) else { return nil }
            return playlist.segments[index]
        }
    }

    /// The use and the renewal of the URLs of a rendition.
    struct URLState {
        /// The index of the mirror that answered last.
        var mirror = 0
        var pace = RenewalPace()
        /// True if new URLs did not help against answers other than refusals.
        var isRenewalUseless = false
        /// True if the origin refused the playlist with 403 when it was last fetched for fresh URLs.
        var isPlaylistRefused = false
        /// The playlist of the latest renewal, if it had other content: a session with other advertisements may still name
        /// segments of this one, with fresh URLs.
        @Rare var otherSession: Source?
        /// True if the playlist has ended, and was fetched again with other URLs.
        fileprivate(set) var hasMoved = false
    }

    /// Computed from a playlist that has ended, and from its pieces.
    private struct Computed: Sendable {
        /// The segments' file names, by index.
        var segmentFiles: [String]?
        /// The initialization sections' file names, by index.
        var sectionFiles: [String]?
        /// Also of a live playlist.
        var timeline: MediaTimeline?
        var locations: SegmentLocations?
        /// The numbers of the keys, by index; they stay when the URLs change.
        var keyNumbers: [Int?] = []
        /// Caches `isComplete` for these counts of changes.
        var wholeness: (folder: Int, keys: Int, isComplete: Bool)?
        /// Caches `peakBitRate` for this count of the folder's changes.
        var peak: (folder: Int, rate: BitRate)?
    }

    /// The parts that are large where the playlist is.
    private struct Tables: Sendable {
        let source: Source?
        let computed: Computed
    }

    /// Its name in URLs and on disk, and its kind of content.
    public let name: RenditionNaming.Name
    /// The folder of its pieces.
    public let folder: PieceFolder
    /// The asset's keys.
    public let keys: KeyRing
    /// The latest full playlist; nil before the first.
    public private(set) var source: Source? {
        didSet {
            hasEnded = source?.isDurable ?? false
            least = source?.needed ?? 0
            isLive = source != nil && !hasEnded
            isRecorded = source?.isRecorded ?? false
        }
    }
    /// True if its playlist is known, and has ended, so that its resources may be stored. Asked many times for each segment.
    package private(set) var hasEnded = false
    /// The number of files without which it is not complete. Asked for each piece that is stored: `source` is a large value.
    private var least = 0
    /// True if its playlist is known, and has not ended.
    public private(set) var isLive = false
    /// True if its playlist is known. Asked for each of thousands of renditions: `source` is a large value.
    private var hasPlaylist: Bool { hasEnded || isLive }
    /// The length of its playlist in memory, in bytes.
    var textSize: Int {
        guard hasPlaylist, let source else { return 0 }
        return source.playlist.text.write().count
    }
    /// True if its playlist is known, and is a recorded one: see `Source.isRecorded`.
    package private(set) var isRecorded = false
    /// The latest playlist: `source`, or a delta update after it.
    var latest: Source? { live?.update ?? source }
    var schedule = ReloadSchedule()
    /// Its index in `Asset.renditions`.
    public internal(set) var index = 0
    /// True if the origin has another playlist than the known one, which has ended.
    var isOutdated = false
    /// The use and the renewal of its URLs.
    var urls = URLState()
    /// True if the origin refused the playlist with 403 when it was last fetched for fresh URLs.
    package var isPlaylistRefused: Bool { urls.isPlaylistRefused }
    /// Its state while the playlist is live, and after that; nil if it never was.
    package private(set) var live: LiveState?
    /// Names and times of `source`, each computed once.
    private var computed = Computed()
    /// Increases when the playlist is replaced.
    package private(set) var edition = 0 {
        didSet { editions.count += 1 }
    }
    private let editions: PlaylistEditions
    /// Its recording, while that runs.
    public package(set) var recording: (any RenditionRecording)?
    /// The numbers of the segments of subtitles that a download could not get from the origin. They count as stored: players get a
    /// file without cues in their place.
    package private(set) var givenUp: Set<Int> = []
    /// True if the catalogue has its playlist and its keys' numbers: only then may its pieces be stored.
    package var isSaved = false
    /// True if its playlist was once a live one, before the latest start too.
    var hasBeenLive = false
    /// True if its playlist ended while it was live: at its URL another broadcast may have begun.
    var isPastBroadcast: Bool { hasBeenLive && !isLive && source != nil && recording == nil }
    /// True if the catalogue has its playlist, or it has none.
    var canForgetPlaylist: Bool {
        if hasBeenLive || recording != nil || urls.otherSession != nil {
            return false
        }
        guard let source else { return true }
        return source.isDurable && !source.isRecorded && isSaved
    }
    /// True if it is the end of a live stream whose beginning has left the window. Playback stores nothing of it.
    var isTail: Bool {
        guard hasBeenLive, !isLive, recording == nil, let playlist = source?.playlist else { return false }
        return playlist.playlistType == nil && playlist.firstSequenceNumber > 0
    }

    init(
        _ name: RenditionNaming.Name, bundle: Bundle, keys: KeyRing, editions: PlaylistEditions = PlaylistEditions(),
        folder: PieceFolder? = nil
    ) {
        self.name = name
        self.keys = keys
        self.editions = editions
        self.folder = folder ?? PieceFolder(id: name.id, in: bundle)
    }

    /// Gives the tables of a large playlist back on another thread, as `MediaPlaylist` does.
    deinit {
        guard source?.preparations != nil else { return }
        let tables = Tables(source: source, computed: computed)
        source = nil
        computed = Computed()
        releaseElsewhere(consume tables)
    }

    /// Adopts a fetched or restored playlist whose load began at a time.
    package func adopt(_ source: Source, began: ContinuousClock.Instant = .now) {
        var source = source
        let before = latest
        if let recording {
            source = recording.observe(source)
        } else {
            let (numbered, order) = numbered(source)
            if order == .older, self.source != nil {
                return
            }
            source = numbered
        }
        if !source.isDurable {
            hasBeenLive = true
        }
        let hasChanged = self.source?.playlist.text.write() != source.playlist.text.write()
        schedule.record(began: began, targetDuration: source.playlist.interval, hasChanged: hasChanged)
        let former = self.source
        self.source = source
        edition += 1
        let prepared = source.isDurable ? source.preparations : nil
        computed = Computed(
            segmentFiles: prepared?.fileNames, timeline: source.preparations?.timeline, locations: prepared?.locations)
        if let timeShift = live?.timeShift {
            timeShift.follow(source, behind: former, of: self)
            computed.timeline = nil
        }
        live?.update = nil
        show(source, after: before)
        // Numbered when it was shown.
        if let prepared {
            computed.keyNumbers = prepared.keyURLs.map { url in
                guard let url else { return nil }
                return keys.number(for: url)
            }
        } else if source.isDurable {
            computed.keyNumbers = source.playlist.keys.map { number(of: $0, in: source) }
        }
    }

    /// Returns its state as a live playlist, and makes it if it has none.
    package func makeLive() -> LiveState {
        if let live {
            return live
        }
        let made = LiveState()
        live = made
        return made
    }

    /// Relation of a live playlist to the known one.
    enum LiveOrder { case newer, older, restarted }

    /// Gives a live playlist the numbers for its names: after a restart of the origin's numbers a name does not stand for
    /// another segment than before.
    /// - Parameter replaces: true if the known playlist is out of date, so that none is older.
    func numbered(_ source: Source, replaces: Bool = false) -> (source: Source, order: LiveOrder) {
        // The numbers of a playlist that has ended are those of its stored pieces.
        guard !source.isDurable else { return (source, .newer) }
        guard recording == nil else {
            // The recording gives its own numbers when the playlist is adopted.
            guard !replaces, let known = self.source else { return (source, .newer) }
            // Cheap where it continues the known one, as usual.
            let isStale =
                source.playlist.endSequenceNumber <= known.playlist.endSequenceNumber
                && source.playlist != known.playlist
                && source.playlist.relation(to: known.playlist) == .stale
            return (source, isStale ? .older : .newer)
        }
        return makeLive().numbered(source, after: self.source, replaces: replaces)
    }

    /// Adopts the URLs of a playlist with the same content as the known one, which has ended: all names stay.
    package func move(to source: Source) {
        for (number, key) in zip(keyNumbers, source.playlist.keys) {
            if let number, let url = key.url(base: source.base) {
                keys.move(number, to: url)
            }
        }
        self.source = source
        live?.update = nil
        isOutdated = false
        urls.hasMoved = true
    }

    /// Drops a playlist that has ended and has no stored pieces, for another broadcast. Its names stay valid for a while.
    func beginAnew() {
        if let source {
            let gone = source.playlist.segments.suffix(Self.mostGone).compactMap { resource(of: $0, in: source) }
            makeLive().names.replace(with: [], gone: gone, named: gone.count)
        }
        forget()
    }

    /// Drops a playlist that has no stored pieces.
    package func forget() {
        source = nil
        givenUp = []
        computed = Computed()
        live?.forgetPlaylists()
        edition += 1
        isSaved = false
        isOutdated = false
    }

    /// Shows players a delta update, which comes after the known playlist.
    func show(_ update: Source) {
        let before = latest
        makeLive().update = update
        show(update, after: before)
    }

    /// Assigns names to the resources of a playlist, full or delta update, so that its players can request them.
    private func show(_ source: Source, after before: Source?) {
        // Keys are numbered in the playlist's order, independent of the order of requests.
        for url in source.keyURLs {
            keys.add(url)
        }
        guard !source.isDurable || !(before?.isDurable ?? true) else { return }
        let listed = live?.timeShift?.extended(source) ?? source
        let passing = listed.isDurable ? [] : passingResources(of: listed)
        var gone: [Resource] = []
        if let before {
            gone = resources(of: before, before: source)
        }
        let count = min(source.playlist.segments.count, Self.mostGone)
        makeLive().names.replace(with: passing, gone: gone, named: passing.count + count)
    }

    /// The most segments whose names stay valid when a playlist drops them all at once; the last ones are still requested.
    static let mostGone = 1_000

    /// The times of its segments, from the latest full playlist as players get it; computed once.
    package var timeline: MediaTimeline? {
        if computed.timeline == nil {
            let shown = live?.timeShift?.source ?? source
            computed.timeline = shown.map { MediaTimeline($0.playlist) }
        }
        return computed.timeline
    }

    /// Its segments by file and range; nil unless the playlist has ended, and is not a recorded one. Computed once; nil for a long
    /// playlist for which no worker has done it.
    package var locations: SegmentLocations? {
        if let known = computed.locations {
            return known
        }
        guard let source, source.isDurable, !source.isRecorded,
            source.playlist.segments.count <= Self.mostLocatedOnLoop
        else { return nil }
        let locations = SegmentLocations(source.playlist)
        computed.locations = locations
        return locations
    }

    /// True if `locations` needs no computation.
    var hasLocations: Bool { computed.locations != nil }
    nonisolated static let mostLocatedOnLoop = 4096

    /// Computes `locations` on a worker, for a long playlist that was read on the loop.
    package func prepareLocations() async {
        guard locations == nil, let source, source.isDurable, !source.isRecorded else { return }
        let edition = edition
        let playlist = source.playlist
        let found = await PureWork.shared.run(size: 64 * playlist.segments.count, for: self) {
            SegmentLocations(playlist)
        }
        if let found, self.edition == edition {
            computed.locations = found
        }
    }

    /// Starts of the segments in seconds, and the end of the last one; nil if the playlist is unknown or has not ended.
    package var segmentTimes: [Double]? {
        guard let source, source.isDurable else { return nil }
        return timeline?.times
    }

    // MARK: Names

    /// The segment's file name; `other` is the playlist that lists it, if that is not the known one.
    public func file(of segment: Segment, in other: Source? = nil) -> String {
        guard other == nil, hasEnded else { return name(of: segment, in: other).description }
        let fileNames = segmentFiles
        guard fileNames.indices.contains(segment.index) else { return name(of: segment).description }
        return fileNames[segment.index]
    }

    /// The segments' file names, by index in the playlist; empty unless it has ended.
    public var segmentFiles: [String] {
        if let known = computed.segmentFiles {
            return known
        }
        guard let source, source.isDurable else { return [] }
        let names = source.playlist.segments.map { name(of: $0).description }
        computed.segmentFiles = names
        return names
    }

    /// The initialization sections' file names, by index in the playlist; empty unless it has ended.
    public var sectionFiles: [String] {
        if let known = computed.sectionFiles {
            return known
        }
        guard let source, source.isDurable else { return [] }
        let names = source.playlist.maps.map { name(of: $0).description }
        computed.sectionFiles = names
        return names
    }

    /// The rule for the names of a playlist's segments.
    public func segmentNames(in source: Source? = nil) -> SegmentNames {
        guard let source = source ?? self.source else {
            return SegmentNames(shift: 0, content: name.content, isRecorded: false, hasOmittedMap: hasOmittedMap)
        }
        return SegmentNames(
            shift: source.shift, content: name.content, isRecorded: source.isRecorded, hasOmittedMap: hasOmittedMap)
    }

    /// Names segments on any thread.
    public struct SegmentNames: Equatable, Sendable {
        let shift: Int
        let content: PieceName.Content
        /// True if the URIs are names of pieces.
        var isRecorded = false
        /// True if the latest text is a delta update, which may omit the section in force.
        var hasOmittedMap = false

        /// The segment's name.
        func name(of segment: Segment) -> PieceName {
            if isRecorded, let name = PieceName(segment.uri) {
                return name
            }
            return PieceName(
                .segment(Int(segment.mediaSequenceNumber + shift)),
                fileExtension: fileExtension(segment.uri, segment.map))
        }

        /// The segment's file name.
        public func file(of segment: Segment) -> String { name(of: segment).description }

        /// The file extension of a segment or part; `map` is the section in force.
        func fileExtension(_ uri: String, _ map: Map?) -> String {
            PieceName.segmentExtension(
                forPath: Rendition.path(of: uri), content: content, hasMap: map != nil || hasOmittedMap)
        }
    }

    private var hasOmittedMap: Bool {
        guard let latest, latest.playlist.isDeltaUpdate, let source else { return false }
        return !source.playlist.maps.isEmpty
    }

    /// The segment's name.
    public func name(of segment: Segment, in source: Source? = nil) -> PieceName {
        segmentNames(in: source).name(of: segment)
    }

    /// The initialization section's name. In a sliding window its index changes, and a player must never see one name
    /// for two sections; in a playlist that has ended the index is permanent.
    public func name(of map: Map, in source: Source? = nil) -> PieceName {
        let source = source ?? self.source
        if source?.isRecorded ?? false, let name = PieceName(map.uri) {
            return name
        }
        guard let source, !source.isDurable, let url = source.url(of: map) else {
            return PieceName(.initialization(map.index), fileExtension: "mp4")
        }
        return recording?.name(ofMapAt: url, map.byteRange?.bytes)
            ?? PieceName(.passing(makeLive().names.number(url, map.byteRange?.bytes)), fileExtension: "mp4")
    }

    /// The numbers of the keys of a playlist that has ended, by index; they stay when the URLs change.
    package var keyNumbers: [Int?] { computed.keyNumbers }

    /// The number of a key; nil if it cannot be fetched (DRM), or if its URI is no URL.
    public func number(of key: Key, in source: Source? = nil) -> Int? {
        if source?.isDurable ?? true, keyNumbers.indices.contains(key.index) {
            return keyNumbers[key.index]
        }
        guard let source = source ?? self.source, key.isFetchable else { return nil }
        if source.isRecorded {
            return KeyRing.number(ofURI: key.uri)
        }
        return source.url(of: key).flatMap { keys.number(for: $0) }
    }

    /// The path of a URI. Works on bytes, which is much faster than on characters.
    private nonisolated static func path(of uri: String) -> String {
        guard let end = uri.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return uri
        }
        return String(uri[..<end])
    }

    // MARK: Stored resources

    /// The number of segments above which they are looked at on a worker.
    private static let longPlaylist = 10_000

    /// True if looking at each segment takes too long for a turn of the loop.
    package var isLong: Bool { hasPlaylist && source?.playlist.segments.count ?? 0 > Self.longPlaylist }

    /// True if every segment, initialization section and key is stored and usable, so that it plays without the origin.
    public var isComplete: Bool {
        // Most of a list of thousands are never loaded. Of the others, usually too few files are stored.
        guard hasEnded, folder.sizes.count >= least - givenUp.count else { return false }
        let state = (folder.changes, keys.changes)
        if let known = computed.wholeness, known.folder == state.0, known.keys == state.1 {
            return known.isComplete
        }
        let isComplete = findWhole(keys.has)
        computed.wholeness = (state.0, state.1, isComplete)
        return isComplete
    }

    /// Reads the pieces' names and computes `isComplete` outside the loop: of a long playlist both take longer than a turn may.
    package func readCompleteness() async {
        // Most of a list of thousands are never loaded.
        guard hasPlaylist else { return }
        await folder.load()
        let state = (folder.changes, keys.changes)
        if let known = computed.wholeness, known.folder == state.0, known.keys == state.1 {
            return
        }
        guard let source, source.isDurable, folder.sizes.count >= source.needed else { return }
        // Subtitles with a lost part are few segments: `isComplete` looks at each of them.
        guard givenUp.isEmpty else { return }
        let changes = folder.changes
        let edition = edition
        let sizes = folder.sizes
        let files = segmentFiles
        let segments = source.playlist.segments
        let hasSegments = await PureWork.shared.run(size: segments.count * 64, for: self) {
            segments.allSatisfy { $0.isGap || sizes[files[$0.index]] != nil }
        }
        guard let hasSegments, folder.changes == changes, self.edition == edition else { return }
        let isComplete = hasSegments && hasKeysAndSections(keys.has)
        computed.wholeness = (changes, keys.changes, isComplete)
    }

    /// The peak bit rate, as long as neither the playlist nor what is stored has changed since it was computed.
    var knownPeakBitRate: BitRate? {
        get {
            guard let peak = computed.peak, peak.folder == folder.changes else { return nil }
            return peak.rate
        }
        set { computed.peak = newValue.map { (folder.changes, $0) } }
    }

    /// True if only expired or revoked keys are missing: these are fetched only by a renewal.
    public var isStored: Bool {
        if isComplete {
            return true
        }
        let unusable = keys.unusable
        return !unusable.isEmpty && findWhole { unusable.contains($0) || keys.has($0) }
    }

    /// - Parameter hasKey: true if a key is not missing.
    private func findWhole(_ hasKey: (Int) -> Bool) -> Bool {
        guard hasEnded, let source else { return false }
        // Usually too few files are stored, and that shows without computing any name.
        guard folder.sizes.count >= source.needed - givenUp.count else { return false }
        guard source.playlist.segments.allSatisfy({ isWithoutCues($0) || $0.isGap || folder.contains(file(of: $0)) })
        else {
            return false
        }
        return hasKeysAndSections(hasKey)
    }

    private func hasKeysAndSections(_ hasKey: (Int) -> Bool) -> Bool {
        guard let playlist = source?.playlist else { return false }
        return playlist.usedKeys.compactMap { number(of: $0) }.allSatisfy(hasKey)
            && playlist.maps.allSatisfy { folder.contains(name(of: $0).description) }
    }

    // MARK: Subtitles of which the origin lacks a part

    /// Sets which segments of subtitles count as stored although the origin does not have them.
    package func giveUp(_ numbers: Set<Int>) {
        guard numbers != givenUp else { return }
        givenUp = numbers
        computed.wholeness = nil
        folder.recordChange()
    }

    /// True if the segment has cues, in the clear or encrypted as a whole: one without cues can be sent in its place, encrypted with the
    /// same key.
    package func isCueFile(_ segment: Segment) -> Bool {
        name.content == .subtitles && segment.keys.allSatisfy { $0.method == .aes128 }
    }

    /// True if players get one without cues in place of the segment, and the origin is not asked: a gap of subtitles, and what a
    /// download has given up.
    package func isWithoutCues(_ segment: Segment) -> Bool {
        guard segment.isGap || !givenUp.isEmpty, isCueFile(segment) else { return false }
        guard !segment.isGap else { return true }
        let number = Int(segment.mediaSequenceNumber + (source?.shift ?? 0))
        return givenUp.contains(number) && !folder.contains(file(of: segment))
    }

    /// The indices of the listed segments that are given up and not stored; empty unless the playlist has ended.
    package var givenUpIndices: Set<Int> {
        guard !givenUp.isEmpty, let source, source.isDurable else { return [] }
        return Set(source.playlist.segments.filter { !$0.isGap && isWithoutCues($0) }.map(\.index))
    }

    /// True if all gaps of a playlist are segments of cues, which players get without cues.
    package func fillsGaps(of source: Source) -> Bool {
        guard name.content == .subtitles else { return false }
        return source.playlist.keys.allSatisfy { key in
            switch key.method {
            case .none: return true
            case .aes128: return number(of: key, in: source).map(keys.has) ?? false
            default: return false
            }
        }
    }

    /// Its expired and revoked keys.
    package var expiredKeys: Set<Int> {
        let unusable = keys.unusable
        guard !unusable.isEmpty, let source else { return [] }
        return unusable.intersection(source.playlist.usedKeys.compactMap { number(of: $0) })
    }

    /// True if its media can be stored, but not be played without a content decryption module.
    public var needsDRM: Bool { source?.playlist.needsDRM ?? false }
}
