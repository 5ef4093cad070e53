import AccessLog
import Assets
import EventLoop
import Fetching
import HTTPMessage
import Origin
import SafeText
import SegmentFormat

extension LibraryError {
    /// HTTP status for a player. Errors of the lower modules become statuses for players only here.
    var status: HTTPStatus {
        switch code {
        case .missing, .notStored: .notFound
        case .expired, .keyExpired: .gone
        case .originRefused where originStatus == HTTPStatus.gone.code: .gone
        case .notPlaylist, .badOrigin, .originRefused: .badGateway
        case .originAbsent, .hostDead: .gatewayTimeout
        case .badDirective: .badRequest
        case .refusedURL: .forbidden
        case .store: .insufficientStorage
        case .nameTaken, .notArtwork, .otherContent, .urlTaken, .newerBundle: .conflict
        case .cancelled, .busy: .serviceUnavailable
        }
    }

    /// HTTP status for a player of a playlist: where the origin refuses it, its own answer, which players tell apart.
    var playlistStatus: HTTPStatus {
        switch originStatus {
        case let code? where [401, 403, 404, 410, 451].contains(code): HTTPStatus(code)
        default: status
        }
    }

    /// HTTP status for a player of a live playlist. Such a player understands more of the origin's answers about a playlist
    /// that it had before: bad request, or late.
    var liveStatus: HTTPStatus {
        switch originStatus {
        case 400: .badRequest
        case 503: .serviceUnavailable
        default: playlistStatus
        }
    }

    /// The command that may help a user whose player shows this error of a playlist; nil if none does.
    var nextCommand: String? {
        if let foreign {
            return foreign.nextStep(at: "URL")
        }
        guard let origin = underlying as? OriginError, let code = origin.status else { return nil }
        let url = ShellWord.quoted("\(origin.url)")
        return switch code {
        case 401: "weir play --header 'Authorization: …' \(url), or with https://USER:PASSWORD@ before the host"
        case 403: "weir play --header 'Referer: …' --cookies FILE \(url), with what the site's own page sends"
        case 404, 410, 451: "weir check \(url)"
        default: nil
        }
    }

    fileprivate var domain: ErrorEvent.Domain {
        switch code {
        case _ where originStatus != nil: .origin
        case .store, .notStored, .newerBundle, .busy: .store
        case .notPlaylist: .media
        case .missing, .badDirective, .refusedURL, .nameTaken, .notArtwork, .otherContent, .urlTaken, .expired,
            .keyExpired:
            .player
        case .badOrigin, .originRefused, .originAbsent, .hostDead, .cancelled: .origin
        }
    }
}

/// The subject of a player's request, as far as it is known.
struct Subject {
    var session: Session?
    var asset: Asset?
    /// The origin's URL if known, otherwise Weir's; without a query.
    var uri: String?

    init(_ session: Session? = nil, _ asset: Asset? = nil, _ uri: String? = nil) {
        self.session = session
        self.asset = asset
        self.uri = uri
    }

    /// - Parameter path: the path of the request, for a file that is no resource of the asset any more.
    @LoopActor init(_ place: SessionFolder, _ name: PieceName?, path: String) {
        let resource = name.flatMap { place.asset.resource($0, in: place.folder) }
        self.init(place.session, place.asset, resource?.url.replacingQuery(nil).text ?? path)
    }
}

/// A request that failed.
struct Failure {
    let subject: Subject
    /// The status that the player received; 0 if the body was cut short.
    let status: Int
    let domain: ErrorEvent.Domain
    let comment: String

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
            domain = LibraryError(error).domain
            comment = error.message
        } else {
            domain = .store
            comment = "what was being sent is shorter than it was"
        }
    }
}
