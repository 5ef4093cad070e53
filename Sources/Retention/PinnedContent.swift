import Assets
package import Fetching
package import Playheads

/// The content of an asset that a download keeps, with its keys and initialization sections, whatever the play cache's
/// limit.
package enum PinnedContent: Equatable, Sendable {
    /// All content that is stored now or later.
    case everything
    /// Ranges of media time, by rendition id.
    case renditions([String: WantedTime])

    package static let nothing = PinnedContent.renditions([:])

    /// - Parameters:
    ///   - folder: the id of the rendition, or of the keys or session data.
    ///   - span: the segment's media time; nil if it is not known, and for other pieces.
    package func contains(_ role: PieceName.Role, of folder: String, _ span: SegmentSpan?) -> Bool {
        guard case .renditions(let wanted) = self else { return true }
        switch role {
        case .key, .data: return !wanted.isEmpty
        case .initialization, .passing: return wanted[folder] != nil
        case .segment:
            guard let wanted = wanted[folder] else { return false }
            guard let span else { return true }
            return wanted.touches(span.start, span.end)
        }
    }

    /// True if it contains every piece of a rendition's folder.
    package func containsAll(of folder: String) -> Bool {
        switch self {
        case .everything: true
        case .renditions(let wanted): wanted[folder] == .all
        }
    }

    package func includes(rendition: String) -> Bool {
        switch self {
        case .everything: true
        case .renditions(let wanted): wanted[rendition] != nil
        }
    }
}

/// The media time of a rendition that a download keeps.
package enum WantedTime: Hashable, Sendable {
    case all
    /// The segments that overlap any of these ranges, in seconds.
    case parts([Range<Double>])

    /// True if a segment with this start and end (seconds) overlaps the wanted time. The whole segment is then kept.
    package func touches(_ start: Double, _ end: Double) -> Bool {
        switch self {
        case .all: true
        case .parts(let parts): parts.contains { $0.lowerBound < end && start < $0.upperBound }
        }
    }

    /// True if a whole range is wanted; nil stands for the whole length.
    package func contains(_ range: Range<Double>?) -> Bool {
        switch self {
        case .all: return true
        case .parts(let parts):
            guard let range else { return false }
            return parts.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
        }
    }
}

/// The media times that the sessions of one asset will need soon. Pure.
///
/// A session needs the time around its playhead, because players request segments again, and the time after its latest
/// request. mpv loads an hour at once; a cache that kept all of it would exceed any limit.
struct NeededTimes: Equatable {
    /// Ranges in seconds of media time; they may overlap.
    private(set) var ranges: [ClosedRange<Double>] = []
    /// True if the whole asset is needed, because a session plays from the store alone.
    var isEverything = false

    /// Seconds that are needed before and after a position.
    static let reach = (before: 10.0, behind: 30.0)

    mutating func add(around position: Double) {
        ranges.append(position - Self.reach.before...position + Self.reach.behind)
    }

    /// Every session needs keys and initialization sections.
    var isEmpty: Bool { ranges.isEmpty && !isEverything }

    func contains(_ span: SegmentSpan?) -> Bool {
        guard !isEverything else { return true }
        guard let span else { return false }
        return ranges.contains { $0.lowerBound < span.end && span.start < $0.upperBound }
    }
}

/// Sessions that received a playlist of an asset and may not have requested a piece yet. Pure.
///
/// A session that plays without the origin stays in the list while it plays, because it needs the whole asset.
struct StartingSessions {
    private struct Start {
        let session: String
        let asset: String
        var at: ContinuousClock.Instant
        var isOffline: Bool
    }

    private var all: [Start] = []
    /// Maximum time that a session takes to request its first piece.
    static let life = Duration.seconds(60)
    /// Further sessions replace the earliest, because any client can invent session ids.
    private static let limit = 256

    mutating func add(_ session: String, of asset: String, isOffline: Bool, at now: ContinuousClock.Instant) {
        if let known = all.firstIndex(where: { $0.session == session && $0.asset == asset }) {
            all[known].at = now
            all[known].isOffline = all[known].isOffline || isOffline
            return
        }
        if all.count >= Self.limit {
            all.removeFirst()
        }
        all.append(Start(session: session, asset: asset, at: now, isOffline: isOffline))
    }

    func addNeeds(
        of asset: String, to times: inout NeededTimes, at now: ContinuousClock.Instant,
        isPlaying: (_ session: String) -> Bool
    ) {
        for start in all where start.asset == asset {
            let isNew = now - start.at < Self.life
            guard isNew || isPlaying(start.session) else { continue }
            if start.isOffline {
                times.isEverything = true
            }
            if isNew {
                times.add(around: 0)
            }
        }
    }
}
