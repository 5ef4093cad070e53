public import EventLoop
import Fetching
import HTTPMessage
import Playlist
import Store

/// One rendition of a live stream as it is recorded: what was seen of it, what is stored, and what is still to be
/// fetched.
///
/// Its text is an EVENT playlist in the rendition's folder, `recording.m3u8`, that names only pieces which are there.
/// It grows behind the pieces, so that a process that is killed at any instant leaves a recording that plays; what it
/// grows by is all that is written, however long it is.
@LoopActor public final class Recording {
    /// The file of its text.
    nonisolated static let file = "recording.m3u8"

    /// What was seen and is not in the text yet, oldest first.
    public internal(set) var items: ArraySlice<Item> = []
    /// Whether the origin's last text said that nothing more will come.
    public internal(set) var hasEnded = false
    /// Whether what is seen is recorded; else it rests.
    public internal(set) var isActive = false
    /// When something new was last seen.
    public internal(set) var grew = ContinuousClock.now
    /// How many seconds are in the text, gaps included.
    public internal(set) var duration = 0.0
    /// How many segments are in the text, gaps included.
    public internal(set) var count = 0
    /// What stops it although the origin goes on, in a sentence; nil when nothing does.
    public internal(set) var obstacle: String?

    /// What is recorded, which has this recording.
    unowned let rendition: Rendition
    /// Told in a sentence what is missing.
    let tell: (String) -> Void
    private let base: WebURL

    // Set by what is seen (Recording+Windows).

    /// Where it stands in the origin's text.
    var front = RecordingFront()
    /// What the first segment's number is.
    var first = 0
    /// The numbers that the origin lists at present.
    var window: Range<Int> = 0..<0
    /// Where the next that is seen begins, in seconds.
    var time = 0.0
    /// The numbers of initialization sections, by where the window has them.
    var maps: [Resource: Int] = [:]
    /// The numbers of those sections that the window's segments have, by the segments' numbers.
    var recentMaps: [Int: Int] = [:]
    /// The number of the next section.
    var nextMap = 0
    /// What an earlier process recorded, until it is clear whether the origin goes on with it.
    var restored: MediaPlaylist?

    // Set by what is written (Recording+Writing).

    /// The text: what is in the file.
    var text: [UInt8] = []
    /// The file, while it grows.
    var file: AppendedFile?
    /// What makes the text's lines; nil before the first.
    var writer: RecordingWriter?
    /// The text as a playlist, once somebody asked for it.
    var parsed: Rendition.Source?

    /// - Parameters:
    ///   - base: a URL of the origin.
    ///   - text: what an earlier process recorded; empty for a new one.
    ///   - tell: told in a sentence what is missing.
    init(of rendition: Rendition, base: WebURL, text: [UInt8] = [], tell: @escaping (String) -> Void) {
        self.rendition = rendition
        self.base = base
        self.tell = tell
        restore(Array(text.prefix(RecordedText.intactLength(of: text))))
    }

    private func restore(_ text: [UInt8]) {
        guard !text.isEmpty, case .media(let playlist)? = try? Playlist.parse(text), !playlist.segments.isEmpty else {
            return
        }
        self.text = text
        (restored, writer) = (playlist, RecordingWriter(behind: playlist))
        front = RecordingFront(behind: playlist, shift: RecordedText.shift(of: playlist))
        (first, count, duration, time) = (
            playlist.mediaSequence, playlist.segments.count, playlist.duration, playlist.duration
        )
        hasEnded = playlist.hasEndList
        nextMap = 1 + (playlist.maps.compactMap { PieceName($0.uri)?.role.number }.max() ?? -1)
    }

    // MARK: What is stored

    /// The recorded playlist as it is now: live until the recording is closed; nil while nothing is recorded.
    public var source: Rendition.Source? {
        if let parsed { return parsed }
        guard count > 0, case .media(let playlist)? = try? Playlist.parse(text) else { return nil }
        parsed = Rendition.Source(recorded: playlist, base: base)
        return parsed
    }

    /// Whether a piece of this name belongs to it.
    func keeps(_ name: PieceName) -> Bool {
        switch name.role {
        case .segment(let number): isActive && number >= first && number < front.next
        case .initialization(let number): isActive && number < nextMap
        case .key, .passing, .data: false
        }
    }

    /// The name of an initialization section of a window; nil where it is not recorded.
    func name(ofMapAt url: WebURL, _ range: SubRange?) -> PieceName? {
        maps[Self.place(url, range)].map { PieceName(.initialization($0), fileExtension: "mp4") }
    }

    /// Whether the origin lists the item at present.
    public func isListed(_ item: Item) -> Bool { window.contains(item.number) }
}
