import AccessLog
import Assets
import EventLoop
import Fetching
import HTTPMessage
import Origin
import SafeText
import SegmentFormat
import Sessions

extension LibraryError {
    /// HTTP status for a player. Errors of the lower modules become statuses for players only here.
    var status: HTTPStatus {
        switch code {
        case .missing, .notStored: .notFound
        case .expired, .keyExpired: .gone
        case .originRefused where originStatus == HTTPStatus.gone.code: .gone
        case .notPlaylist, .badOrigin, .originRefused, .keyUnfit: .badGateway
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
        case 404, 410: "weir check \(url)"
        case 451: "weir play --proxy http://HOST:PORT \(url), with a proxy in a country that has it"
        default: nil
        }
    }

    fileprivate var domain: ErrorEvent.Domain {
        switch code {
        case _ where originStatus != nil: .origin
        case .store, .notStored, .newerBundle, .busy: .store
        case .notPlaylist, .keyUnfit: .media
        case .missing, .badDirective, .refusedURL, .nameTaken, .notArtwork, .otherContent, .urlTaken, .expired,
            .keyExpired:
            .player
        case .badOrigin, .originRefused, .originAbsent, .hostDead, .cancelled: .origin
        }
    }
}

extension RequestSubject {
    /// - Parameter path: the path of the request, for a file that is no resource of the asset any more.
    @LoopActor init(_ sessionFolder: SessionFolder, _ name: PieceName?, path: String) {
        let resource = name.flatMap { sessionFolder.asset.resource($0, in: sessionFolder.folder) }
        let uri = resource?.url.replacingQuery(nil).redacted
        self.init(session: sessionFolder.session.id, asset: sessionFolder.asset, uri: uri ?? path)
    }
}

extension FailedRequest {
    init(_ error: LibraryError, status: Int, about subject: RequestSubject) {
        self.init(subject: subject, status: status, domain: error.domain, comment: error.message)
    }

    /// A segment that is sent unchanged because it could not be spliced.
    init(unjoined error: SegmentFormatError, about subject: RequestSubject) {
        let comment = "it cannot be joined with what comes before it: \(error)"
        self.init(subject: subject, status: 200, domain: .media, comment: comment)
    }

    /// A body that ended before its announced length.
    @LoopActor init(brokenOff fetch: Fetch, about subject: RequestSubject) {
        if case .failure(let error) = fetch.outcome {
            self.init(subject: subject, status: 0, domain: LibraryError(error).domain, comment: error.message)
        } else {
            let comment = "the stored file became shorter while it was sent"
            self.init(subject: subject, status: 0, domain: .store, comment: comment)
        }
    }
}
