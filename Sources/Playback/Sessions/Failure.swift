import AccessLog
import EventLoop
import Fetching
import Library
import SegmentFormat

/// What a player asked for, as far as that is known.
struct Subject {
    /// Nil before there is one.
    var session: Session?
    /// Nil before it is known.
    var asset: Asset?
    /// As the origin has it where that is known, else as Weir has it; without a query.
    var uri: String?

    /// Nothing is known.
    init() {}

    init(_ session: Session?, _ asset: Asset?, _ uri: String) {
        self.session = session
        self.asset = asset
        self.uri = uri
    }
}

/// Something that a player asked for and did not get.
struct Failure {
    let subject: Subject
    /// The status that the player was sent; 0 where the body broke off.
    let status: Int
    let domain: ErrorEvent.Domain
    /// A sentence.
    let comment: String

    /// A refusal.
    init(_ error: LibraryError, status: Int, about subject: Subject) {
        self.subject = subject
        self.status = status
        domain = error.domain
        comment = error.message
    }

    /// A segment that is sent as it is, though it should have been joined with others.
    init(unjoined error: SegmentFormatError, about subject: Subject) {
        self.subject = subject
        status = 200
        domain = .media
        comment = "it cannot be joined with what comes before it: \(error)"
    }

    /// A body that ended before what was promised.
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
    /// Who erred, for the error log.
    fileprivate var domain: ErrorEvent.Domain {
        switch code {
        case _ where originStatus != nil: .origin
        case .store, .notStored, .newerBundle, .busy: .store
        case .notPlaylist: .media
        case .missing, .badDirective, .refusedURL, .nameTaken, .notArtwork, .otherContent, .urlTaken, .expired,
            .keyLapsed:
            .player
        case .badOrigin, .originRefused, .originAbsent, .cancelled: .origin
        }
    }
}
