import HTTPMessage
import Library

extension LibraryError {
    /// HTTP status for a player. Errors of the lower modules become statuses for players only here.
    var status: HTTPStatus {
        switch code {
        case .missing, .notStored: .notFound
        case .expired, .keyExpired: .gone
        case .originRefused where originStatus == HTTPStatus.gone.code: .gone
        case .notPlaylist, .badOrigin, .originRefused: .badGateway
        case .originAbsent: .gatewayTimeout
        case .badDirective: .badRequest
        case .refusedURL: .forbidden
        case .store: .insufficientStorage
        case .nameTaken, .notArtwork, .otherContent, .urlTaken, .newerBundle:
            .conflict
        case .cancelled, .busy: .serviceUnavailable
        }
    }

    /// HTTP status for a player of a live playlist. Such a player understands the origin's own answers about a playlist
    /// that it had before: bad request, gone, or late.
    var liveStatus: HTTPStatus {
        switch originStatus {
        case 400: .badRequest
        case 404: .notFound
        case 410: .gone
        case 503: .serviceUnavailable
        default: status
        }
    }
}
