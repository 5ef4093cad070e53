import HTTPMessage
import Library

extension LibraryError {
    /// What a player is told. The one place where errors of the rooms below become statuses for players.
    var status: HTTPStatus {
        switch code {
        case .missing, .notStored: .notFound
        case .notPlaylist, .badOrigin, .originRefused: .badGateway
        case .originAbsent: .gatewayTimeout
        case .refusedURL: .forbidden
        case .store: .insufficientStorage
        case .nameTaken: .conflict
        case .cancelled: .serviceUnavailable
        }
    }
}
