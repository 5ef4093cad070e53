import Assets
public import EventLoop
import Fetching
import HLS
import Playheads
import Retention
import Sessions
import Store

/// Keeps the last minutes of each live rendition that somebody watches, so that players can pause and go back.
///
/// While its player asks for segments, those that it got are kept, and nothing more is fetched. While the player is paused, the
/// segments that are about to leave the origin's playlist are fetched for it.
@LoopActor public final class TimeShifts {
    /// The limits of all time shifts.
    public struct Limits: Sendable {
        /// The length of each, in seconds.
        public var seconds: Double
        /// Maximum number of files, each of which has a descriptor.
        public var files: Int

        /// Creates limits.
        public init(seconds: Double, files: Int = 4_096) {
            self.seconds = seconds
            self.files = files
        }
    }

    private let library: Library
    private let retention: RetentionService
    private let limits: Limits
    /// False while nothing may be fetched that no player has asked for: on a metered network, for instance.
    public var mayFetchAhead: () -> Bool = { true }
    /// True while a time shift could use the answer of `mayFetchAhead`.
    public var isWatched: Bool { !followed.isEmpty }
    private var followed: [ObjectIdentifier: FollowedRendition] = [:]

    init(of library: Library, _ retention: RetentionService, _ limits: Limits) {
        self.library = library
        self.retention = retention
        self.limits = limits
        retention.releaseHeld = { [weak self] in self?.endAll() }
    }

    // MARK: Players

    /// Records that a session's player loads a rendition's playlist. One that is paused goes on with that, or keeps its connection.
    func recordPlaylist(of rendition: Rendition, for session: String) {
        followed[ObjectIdentifier(rendition)]?.viewers[session]?.lastRequest = library.playheads.now()
    }

    /// Records that a session's player asks for a segment. The third one shows that it plays the rendition: all are opened with two.
    func recordSegment(_ number: Int, of rendition: Rendition, in asset: Asset, for record: SessionRecord) {
        guard rendition.isLive || rendition.live?.timeShift != nil, !asset.isChannelRecording else { return }
        let id = ObjectIdentifier(rendition)
        let one = followed[id] ?? FollowedRendition(rendition, in: asset)
        if followed[id] == nil {
            forgetUnused()
        }
        followed[id] = one
        let now = library.playheads.now()
        one.viewers[record.id, default: Viewer(record, number, at: now)].record(number, at: now)
        guard one.viewers[record.id]?.isPlaying ?? false else { return }
        begin(one)
        leaveOthers(of: one, record.id)
    }

    /// The playlist that goes on behind the end of the broadcast, for a session that is behind; nil for any other.
    func endedSource(of rendition: Rendition, for session: String) -> Rendition.Source? {
        guard let viewer = followed[ObjectIdentifier(rendition)]?.viewers[session], let latest = rendition.source,
            latest.isDurable, let long = rendition.live?.timeShift?.source
        else { return nil }
        return viewer.latest + 1 < Int(latest.playlist.firstSequenceNumber) ? long : nil
    }

    /// A player that has changed the quality has left the former one.
    private func leaveOthers(of one: FollowedRendition, _ session: String) {
        for other in followed.values where other !== one && other.asset === one.asset && other.kind == one.kind {
            other.viewers[session] = nil
        }
    }

    /// Forgets the renditions that players have only opened.
    private func forgetUnused() {
        for (id, one) in followed where one.work == nil && !isWatched(one) {
            followed[id] = nil
        }
    }

    // MARK: Following

    private func begin(_ one: FollowedRendition) {
        guard one.work == nil, needsTimeShift(one) else { return }
        let timeShift = TimeShift(seconds: limits.seconds)
        one.rendition.makeLive().timeShift = timeShift
        library.holdRecent(for: timeShift, of: one.rendition)
        one.work = Task { @LoopActor [weak self] in
            while !Task.isCancelled, let self, self.isWatched(one), self.needsTimeShift(one) {
                await self.follow(one)
            }
            self?.end(one)
        }
    }

    /// False if the origin lists as much itself.
    private func needsTimeShift(_ one: FollowedRendition) -> Bool {
        guard let playlist = one.rendition.source?.playlist else { return true }
        return playlist.duration.seconds < limits.seconds
    }

    private func follow(_ one: FollowedRendition) async {
        let rendition = one.rendition
        guard let known = rendition.source else {
            _ = try? await LoopActor.pause(for: Self.pause)
            return
        }
        let hasEnded = known.isDurable
        if hasEnded || !mayFetchAhead() {
            _ = try? await LoopActor.pause(for: known.playlist.interval)
        } else {
            do throws(LibraryError) {
                _ = try await library.playlists.nextSource(of: rendition, in: one.asset)
            } catch {
                _ = try? await LoopActor.pause(for: known.playlist.interval / 2)
            }
        }
        guard !Task.isCancelled else { return }
        if !hasEnded, mayFetchAhead() {
            fetchLeaving(one)
        }
        limit()
    }

    private static let pause = Duration.seconds(1)

    /// Fetches what is about to leave the origin's playlist, and no player has asked for.
    private func fetchLeaving(_ one: FollowedRendition) {
        let rendition = one.rendition
        guard let source = rendition.source, !source.isDurable, let timeShift = rendition.live?.timeShift,
            library.store.shortage == 0
        else { return }
        let count = source.playlist.segments.count
        let leaving = max(count - Self.ofPlayers, (count + 1) / 2)
        for segment in source.playlist.segments.prefix(leaving) {
            let number = Int(segment.mediaSequenceNumber) + source.shift
            guard number > one.first, !segment.isGap else { continue }
            // The oldest segment leaves the origin's window with its next playlist: it is fetched as urgently as what a player asks for,
            // even if a less urgent fetch of it has begun.
            guard segment.index == 0 || !timeShift.isKept(segment, source, of: rendition) else { continue }
            let urgency: Fetch.Urgency = segment.index == 0 ? .playback : .background
            if let resource = rendition.resource(of: segment, in: source) {
                fetch(resource, in: rendition.folder, one, urgency: urgency)
            }
            for (folder, resource) in timeShift.missing(for: segment, source, of: rendition) {
                fetch(resource, in: folder, one, urgency: urgency)
            }
        }
    }

    /// Fetches for one rendition. The next turn goes on behind them: a live stream grows by one segment at a time.
    private static let mostAtOnce = 8

    /// Players that do not pause are at most this number of segments behind the end.
    private static let ofPlayers = 3

    private func fetch(
        _ resource: Resource, in folder: PieceFolder, _ one: FollowedRendition, urgency: Fetch.Urgency
    ) {
        // Each has a file from the start, and an origin may list thousands.
        guard one.fetching < Self.mostAtOnce,
            let fetch = try? library.fetch(resource, in: folder, of: one.asset, urgency: urgency)
        else { return }
        one.fetching += 1
        fetch.whenEnded { _ in
            one.fetching -= 1
            fetch.release(urgency)
        }
    }

    private func isWatched(_ one: FollowedRendition) -> Bool {
        let now = library.playheads.now()
        one.viewers = one.viewers.filter { $0.value.isPresent(at: now, limits.seconds) }
        return !one.viewers.isEmpty && !one.asset.isRemoved && one.asset.content.has(one.rendition)
    }

    private func end(_ one: FollowedRendition) {
        one.rendition.live?.timeShift?.clear()
        one.rendition.live?.timeShift = nil
        let id = ObjectIdentifier(one.rendition)
        if followed[id] === one {
            followed[id] = nil
        }
        limit()
    }

    /// Ends all, to make room on the disk.
    private func endAll() {
        for one in followed.values where one.work != nil {
            one.work?.cancel()
            end(one)
        }
    }

    // MARK: Room

    /// The files count as a part of the play cache. They were used last, so all else goes first; then the earliest minutes.
    private func limit() {
        var all: [(Rendition, TimeShift)] = []
        for one in followed.values {
            if let timeShift = one.rendition.live?.timeShift {
                all.append((one.rendition, timeShift))
            }
        }
        let most = retention.cacheLimit ?? .max
        while bytes(of: all) > most || all.reduce(0, { $0 + $1.1.count }) > limits.files {
            all.sort { $0.1.bytes > $1.1.bytes }
            guard let index = all.firstIndex(where: { $0.1.forgetEarliest(of: $0.0) }) else { break }
            // The next one is as long now, or longer.
            all.swapAt(0, index)
        }
        retention.setHeld(bytes(of: all))
    }

    private func bytes(of all: [(Rendition, TimeShift)]) -> Int64 { all.reduce(0) { $0 + $1.1.bytes } }
}

/// A live rendition that players have asked for segments of.
@LoopActor private final class FollowedRendition {
    let rendition: Rendition
    let asset: Asset
    /// Nil for subtitles.
    let kind: MediaKind?
    /// By session.
    var viewers: [String: Viewer] = [:]
    var work: Task<Void, Never>?
    /// The number of fetches that no player has asked for.
    var fetching = 0

    init(_ rendition: Rendition, in asset: Asset) {
        self.rendition = rendition
        self.asset = asset
        kind = asset.playedRendition(in: rendition.name.id)?.kind
    }

    /// The earliest segment that a viewer has asked for: nobody misses those before it.
    var first: Int { viewers.values.map(\.first).min() ?? .max }
}

/// A session as it plays one rendition.
@LoopActor private struct Viewer {
    /// The numbers of the first and of the latest segment.
    let first: Int
    private(set) var latest: Int
    /// True once three segments were asked for.
    private(set) var isPlaying = false
    private var count = 0
    private weak var record: SessionRecord?
    private var lastSegment: ContinuousClock.Instant
    /// Time of the latest request for the playlist, or for a segment.
    var lastRequest: ContinuousClock.Instant

    init(_ record: SessionRecord, _ number: Int, at now: ContinuousClock.Instant) {
        self.record = record
        first = number
        latest = number - 1
        lastSegment = now
        lastRequest = now
    }

    mutating func record(_ number: Int, at now: ContinuousClock.Instant) {
        if number != latest {
            count += 1
        }
        isPlaying = isPlaying || count >= 3
        latest = number
        lastSegment = now
        lastRequest = now
    }

    /// True while the player plays, or may be paused: it keeps its connections, or loads playlists.
    func isPresent(at now: ContinuousClock.Instant, _ longestPause: Double) -> Bool {
        guard now - lastSegment < .seconds(longestPause) else { return false }
        return record?.isConnected ?? false || now - lastRequest < Self.grace
    }

    /// The time without a sign of a player after which it has left.
    private static let grace = Duration.seconds(120)
}
