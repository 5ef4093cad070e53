public import Fetching
public import Origin

extension LibraryError {
    /// An error of a fetch. The only place where its codes become codes of this room.
    public init(_ error: FetchError) {
        let code: Code =
            switch error.code {
            case .missing: .missing
            case .notStored: .notStored
            case .badOrigin: .badOrigin
            case .originRefused: .originRefused
            case .originAbsent: .originAbsent
            case .refusedURL: .refusedURL
            case .store: .store
            case .cancelled: .cancelled
            }
        self.init(code, error.message, underlying: error.underlying)
    }

    /// An error of the origin.
    public init(_ error: OriginError) { self.init(FetchError(error)) }
}
