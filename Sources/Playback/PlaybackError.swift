import HTTPMessage
import Library

extension LibraryError {
    /// What a player is told. The one place where errors of the rooms below become statuses for players.
    var status: HTTPStatus {
        switch code {
        case .missing, .notStored: .notFound
        case .expired, .keyLapsed: .gone
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

    /// What a player of a live playlist is told. It knows what the origin's own answers mean for a playlist that it
    /// had: what it asked for makes no sense, is over, or is late.
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
