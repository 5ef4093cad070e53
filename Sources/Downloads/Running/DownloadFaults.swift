import Assets
import HTTPMessage
import Store

/// The failures of a download's resources, and the decision to stop. Pure.
///
/// A hole that cannot be filled does not stop the others, unless its error affects all, or so many fail in a row that the cause is not
/// a single piece.
struct DownloadFaults {
    /// The reason to stop; nil to go on. The first one counts.
    private(set) var stopReason: DownloadOutcome?
    /// The numbers of missing segments of subtitles, by rendition.
    private(set) var lost: [String: Set<Int>] = [:]
    private var first: (error: LibraryError, isKey: Bool)?
    private var firstLost: LibraryError?
    private var count = 0
    private var inARow = 0
    private var bans = HostBan()
    /// The error of a fetch that another owner cancelled, which is none of the resource.
    private var interruption: LibraryError?

    /// After this many consecutive errors the cause is not a single piece.
    private static let limit = 8

    /// The outcome of the work, once nothing is under way; nil if nothing has failed.
    var outcome: DownloadOutcome? {
        if let stopReason {
            return stopReason
        }
        // The error that says most: one that costs more than cues, if there is any.
        if let first {
            return .failed(first.error, isKey: first.isKey, count: count)
        }
        return firstLost.map { .failed($0, isKey: false, count: count) }
    }

    mutating func stop(_ outcome: DownloadOutcome) { stopReason = stopReason ?? outcome }

    mutating func recordSuccess() { inARow = 0 }

    /// Records a resource that is not to be had.
    /// - Parameter isNeededByAll: true if nothing of the selected variant plays without it, and another variant may replace that.
    mutating func record(_ error: LibraryError, isKey: Bool, isNeededByAll: Bool = false) {
        // A refused key may be given later; meanwhile the segments are fetched.
        let isUseless = isNeededByAll && [.missing, .hostDead].contains(error.code)
        let isEnough = add(error, isKey: isKey)
        guard isEnough || error.concernsEverything || isUseless else { return }
        stop(.failed(error, isKey: isKey, count: count))
    }

    /// Records that a segment of subtitles is missing. However many are, the rest can be had.
    mutating func record(_ error: LibraryError, lostCues number: Int, of rendition: String) {
        count += 1
        firstLost = firstLost ?? error
        lost[rendition, default: []].insert(number)
    }

    /// Records that a host has refused a segment, and its playlist. Returns true if it bans this client: another segment was refused a
    /// moment ago.
    mutating func recordRefusal(
        _ error: LibraryError, of url: WebURL, at now: ContinuousClock.Instant
    ) -> Bool {
        guard bans.record(url, at: now) else {
            if add(error, isKey: false) {
                stop(.failed(error, count: count))
            }
            return false
        }
        stop(.banned(error))
        return true
    }

    mutating func recordInterruption(_ error: LibraryError) { interruption = error }

    /// Returns the error of an interruption since the last call.
    mutating func takeInterruption() -> LibraryError? { interruption.take() }

    /// Returns true if it is useless to continue.
    private mutating func add(_ error: LibraryError, isKey: Bool) -> Bool {
        count += 1
        // Other errors may pass, and say more about what is to be done.
        let saysMore = first?.error.code == .hostDead && error.code != .hostDead
        if first == nil || saysMore {
            first = (error, isKey)
        }
        // A dead host says nothing about the pieces of the others.
        if error.code == .hostDead {
            return false
        }
        inARow += 1
        return inARow >= Self.limit
    }
}

extension LibraryError {
    /// True if the origin has answered, and not with the piece.
    var concernsOnePiece: Bool {
        switch code {
        case .missing, .badOrigin, .originRefused, .hostDead, .notPlaylist: true
        case .originAbsent, .notStored, .refusedURL, .store, .expired, .keyExpired, .keyUnfit,
            .newerBundle,
            .badDirective, .nameTaken, .notArtwork, .otherContent, .urlTaken, .busy, .cancelled:
            false
        }
    }
}
