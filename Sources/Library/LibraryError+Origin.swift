public import Fetching
public import Origin

extension LibraryError {
    /// Creates an error from a fetch error. No other place translates its codes.
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

    /// Creates an error from an origin error.
    public init(_ error: OriginError) { self.init(FetchError(error)) }
}
