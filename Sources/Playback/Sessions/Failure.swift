import AccessLog
import EventLoop
import Fetching
import Library
import SegmentFormat

/// The subject of a player's request, as far as it is known.
struct Subject {
    /// Nil if the request has no session yet.
    var session: Session?
    /// Nil if the asset is unknown.
    var asset: Asset?
    /// The origin's URL if known, otherwise Weir's; without a query.
    var uri: String?

    /// A subject of which nothing is known.
    init() {}

    init(_ session: Session?, _ asset: Asset?, _ uri: String) {
        self.session = session
        self.asset = asset
        self.uri = uri
    }
}

/// A request that failed.
struct Failure {
    let subject: Subject
    /// The status that the player received; 0 if the body was cut short.
    let status: Int
    let domain: ErrorEvent.Domain
    /// A sentence for the log.
    let comment: String

    /// A request that was refused.
    init(_ error: LibraryError, status: Int, about subject: Subject) {
        self.subject = subject
        self.status = status
        domain = error.domain
        comment = error.message
    }

    /// A segment that is sent unchanged because it could not be spliced.
    init(unjoined error: SegmentFormatError, about subject: Subject) {
        self.subject = subject
        status = 200
        domain = .media
        comment = "it cannot be joined with what comes before it: \(error)"
    }

    /// A body that ended before its announced length.
    @LoopActor init(brokenOff fetch: Fetch, about subject: Subject) {
        self.subject = subject
        status = 0
        if case .failure(let error) = fetch.outcome {
            (domain, comment) = (LibraryError(error).domain, error.message)
        } else {
            (domain, comment) = (.store, "what was being sent is shorter than it was")
        }
    }
}

extension LibraryError {
    /// The party at fault, for the error log.
    fileprivate var domain: ErrorEvent.Domain {
        switch code {
        case _ where originStatus != nil: .origin
        case .store, .notStored, .newerBundle, .busy: .store
        case .notPlaylist: .media
        case .missing, .badDirective, .refusedURL, .nameTaken, .notArtwork, .otherContent, .urlTaken, .expired,
            .keyExpired:
            .player
        case .badOrigin, .originRefused, .originAbsent, .cancelled: .origin
        }
    }
}
