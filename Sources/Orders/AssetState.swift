/// A word for the state of an asset. The raw values are in the API; commands and the page show them with blanks for hyphens.
///
/// "Offline" is no state of an asset: it is the switch, or a network that cannot be reached.
package enum AssetState: String, Codable, CaseIterable, Sendable {
    // MARK: What it does

    /// Its bundle cannot be used; it can only be removed.
    case unreadable
    /// It does not play any more; what is stored may be deleted.
    case expired
    /// Its download has failed, and does not continue by itself. What is stored stays.
    case failed
    /// A live stream is being recorded.
    case recording
    /// Its recording begins at a time to come.
    case scheduled
    case downloading
    /// Its download waits for a condition, and continues by itself.
    case waiting
    /// Its download waits for its turn.
    case queued
    /// The user has paused its download.
    case paused

    // MARK: What is stored

    /// Everything that was asked for is stored, and stays until it is removed.
    case saved
    /// A part of what was asked for is stored.
    case partlySaved = "partly-saved"
    /// Something is stored because it was played. The play cache may evict it.
    case cached
    /// Everything that was stored was deleted, because it had expired or the disk was full.
    case purged
    case notStored = "not-stored"

    /// The word for people: `partly saved`.
    package var words: String { rawValue.split(separator: "-").joined(separator: " ") }
}

extension AssetState {
    /// The facts from which the state of an asset follows.
    package struct Facts: Sendable {
        package var isUnreadable = false
        package var isExpired = false
        /// The state of its download; nil if it has none.
        package var download: JobState?
        package var isRecording = false
        /// True if everything that its download selects is stored.
        package var isComplete = false
        /// True if anything is stored.
        package var hasBytes = false
        package var isPurged = false

        package init() {}

        /// The most telling word.
        package var state: AssetState {
            if isUnreadable {
                return .unreadable
            }
            if isExpired {
                return .expired
            }
            let activity = download.flatMap { AssetState(activity: $0, isRecording: isRecording) }
            return activity ?? stored
        }

        /// The word for what is stored.
        package var stored: AssetState {
            if download != nil, isComplete {
                return .saved
            }
            guard hasBytes else { return isPurged ? .purged : .notStored }
            guard download != nil else { return .cached }
            return .partlySaved
        }
    }

    /// The state of an asset with such a download; nil for a download that has nothing left to do.
    package init?(activity state: JobState, isRecording: Bool) {
        switch state {
        case .queued: self = .queued
        case .running where isRecording: self = .recording
        case .running: self = .downloading
        case .paused: self = .paused
        case .waiting: self = .waiting
        case .failed: self = .failed
        case .complete, .cancelled: return nil
        }
    }
}
