public import Assets
public import EventLoop
public import Fetching
import HLS
public import HTTPMessage
import Store

/// The recording of one rendition of a live stream: the seen, the stored and the missing segments. Its text,
/// `recording.m3u8` in the rendition's folder, is an EVENT playlist that grows after the pieces, so that a process that
/// is killed at any instant leaves a recording that plays. Only new lines are written.
@LoopActor public final class Recording: RenditionRecording {
    /// A segment, or several missed ones, that was seen and is not in the recorded playlist yet.
    public struct Item {
        let entry: LiveNumbering.Entry
        /// Start time, in seconds from the first segment that was seen.
        public let time: Double
        let source: Rendition.Source
        /// True if it is the first item of its playlist.
        let isFirstOfWindow: Bool
        /// The resources that must be stored before it can be listed: the segment, its initialization section, and its
        /// keys. Empty for a missed segment, or one that the origin marks as a gap.
        public internal(set) var needed: [(folder: PieceFolder, resource: Resource)] = []
        var file: PieceName?
        var map: PieceName?
        var loss: String?
        /// The number of the segment in the recording; the first number of several missed ones.
        public var number: Int { entry.number }

        /// True if all needed resources are stored.
        @LoopActor public var isComplete: Bool {
            needed.allSatisfy { $0.folder.contains($0.resource.name.description) }
        }

        var isMissing: Bool {
            if loss != nil {
                return true
            }
            switch entry {
            case .missed: return true
            case .segment(let segment, _, _): return segment.isGap
            }
        }
    }

    nonisolated static let file = "recording.m3u8"
    /// Seen, but not in the recorded playlist yet; oldest first.
    public internal(set) var items: ArraySlice<Item> = []
    /// True if the origin's latest playlist has an end.
    public internal(set) var hasEnded = false
    /// True if new segments are recorded; false while paused.
    public internal(set) var isActive = false
    /// Time when a new segment was last seen.
    public internal(set) var grew = ContinuousClock.now
    /// Duration of the recorded playlist in seconds, gaps included.
    public internal(set) var duration = 0.0
    /// Number of segments in the recorded playlist, gaps included.
    public internal(set) var count = 0
    /// The holes of the recorded playlist.
    var holes = RecordingHoles()
    /// The reason, as a sentence, why the recording stops although the stream continues; nil if there is none.
    public internal(set) var stopReason: String?
    unowned let rendition: Rendition
    /// Receives a sentence about each missing segment.
    let report: (String) -> Void
    private let base: WebURL

    // MARK: Set from the origin's playlists

    var numbering = LiveNumbering(isRecorded: true)
    var first = 0
    /// The segments of its first playlist, from the beginning, that it does not record.
    var leavesOut = 0
    /// The first number since the origin's numbers last began anew.
    var firstOfNumbering = 0
    /// The numbers that the origin lists at present.
    public internal(set) var window: Range<Int> = 0..<0
    /// See `RenditionRecording`.
    public internal(set) var channelOffset: Int?
    /// Start time of the next new segment, in seconds.
    var time = 0.0
    /// The numbers of initialization sections, by URL and range in the window.
    var maps: [Resource: Int] = [:]
    /// The numbers of the initialization sections of the window's segments, by segment number.
    var recentMaps: [Int: Int] = [:]
    var nextMap = 0
    /// The playlist of an earlier process, until it is clear if the origin's playlist continues it.
    var restored: MediaPlaylist?

    // MARK: Set when the playlist is written

    var text: [UInt8] = []
    var file: AppendedFile?
    /// Makes the lines of the playlist; nil before the first.
    var writer: RecordingWriter?
    var parsed: Rendition.Source?
    /// The parsing of `text` when it had so many bytes.
    private var parsing: (count: Int, task: Task<MediaPlaylist?, Never>)?

    /// - Parameter text: the playlist of an earlier process; empty for a new recording.
    init(of rendition: Rendition, base: WebURL, text: [UInt8] = [], report: @escaping (String) -> Void) {
        self.rendition = rendition
        self.base = base
        self.report = report
        restore(Array(text.prefix(RecordedText.intactLength(of: text))))
    }

    private func restore(_ text: [UInt8]) {
        guard !text.isEmpty, case .media(let playlist)? = try? Playlist.parse(text), !playlist.segments.isEmpty else {
            return
        }
        self.text = text
        restored = playlist
        writer = RecordingWriter(behind: playlist)
        numbering = LiveNumbering(behind: playlist, shift: RecordedText.shift(of: playlist))
        first = Int(playlist.mediaSequence)
        count = playlist.segments.count
        duration = playlist.duration.seconds
        time = playlist.duration.seconds
        for segment in playlist.segments {
            holes.append(seconds: segment.duration.seconds, isMissing: segment.isGap)
        }
        hasEnded = playlist.hasEndList
        let numbers = playlist.maps.compactMap { PieceName($0.uri)?.role.number }
        nextMap = (numbers.max() ?? -1) + 1
    }

    /// The recorded playlist as it is now: live until the recording is closed; nil while nothing is recorded.
    var source: Rendition.Source? {
        if let parsed {
            return parsed
        }
        guard count > 0, case .media(let playlist)? = try? Playlist.parse(text) else { return nil }
        parsed = Rendition.Source(playlist: playlist, base: base, isRecorded: true)
        return parsed
    }

    /// Returns `source`, parsed on a worker if it is long. All who ask for one text wait for one parsing.
    public func current() async -> Rendition.Source? {
        guard parsed == nil, text.count > PureWork.small else { return source }
        let count = text.count
        if parsing?.count != count {
            parsing = (count, parse())
        }
        guard let playlist = await parsing?.task.value else { return nil }
        if parsing?.count == count {
            parsing = nil
        }
        let source = Rendition.Source(playlist: playlist, base: base, isRecorded: true)
        // It may have grown meanwhile.
        if text.count == count, parsed == nil {
            parsed = source
        }
        return parsed ?? source
    }

    private func parse() -> Task<MediaPlaylist?, Never> {
        let text = text
        let owner = rendition
        return Task { @LoopActor in
            await PureWork.shared.run(size: text.count, for: owner) { () -> MediaPlaylist? in
                if case .media(let playlist)? = try? Playlist.parse(text) {
                    playlist
                } else {
                    nil
                }
            } ?? nil
        }
    }

    /// True if it keeps a piece with this name, whoever fetches it.
    public func keeps(_ name: PieceName) -> Bool {
        switch name.role {
        case .segment(let number): isActive && number >= first && number < numbering.next
        case .initialization(let number): isActive && number < nextMap
        case .key, .passing, .data: false
        }
    }

    /// The name of an initialization section of a window; nil if it is not recorded.
    public func name(ofMapAt url: WebURL, _ bytes: Range<Int64>?) -> PieceName? {
        maps[Self.mapKey(url, bytes)].map { PieceName(.initialization($0), fileExtension: "mp4") }
    }

    /// True if the origin lists the item at present.
    public func isListed(_ item: Item) -> Bool { window.contains(item.number) }

    /// True if nothing was seen or recorded yet.
    var isNew: Bool { writer == nil && items.isEmpty && restored == nil && count == 0 }

    /// See `RenditionRecording`.
    public var sharedNumbers: Range<Int> {
        let lower = max(first, firstOfNumbering)
        return lower..<max(lower, window.upperBound)
    }

    /// True if the item is among the first of a window that slides, or has left it already.
    func isAboutToLeave(_ item: Item) -> Bool {
        guard item.source.playlist.playlistType == nil, item.source.playlist.isLive else { return false }
        return item.number - window.lowerBound <= (window.count - 1) / 3
    }
}

extension LiveNumbering.Entry {
    var number: Int {
        switch self {
        case .missed(let missed): missed.numbers.lowerBound
        case .segment(_, let number, _): number
        }
    }

    var length: Double {
        switch self {
        case .missed(let missed): (missed.duration * missed.numbers.count).seconds
        case .segment(let segment, _, _): segment.duration.seconds
        }
    }

    var count: Int {
        guard case .missed(let missed) = self else { return 1 }
        return missed.numbers.count
    }

    /// True if the origin restarted its numbers with this segment.
    var isRestart: Bool {
        guard case .segment(_, _, let isRestart) = self else { return false }
        return isRestart
    }
}
