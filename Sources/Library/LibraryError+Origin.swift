public import Origin

extension LibraryError {
    /// The origin's error. The one place where its codes become this room's.
    public init(_ error: OriginError) {
        let code: Code =
            switch error.code {
            case .offline: .notStored
            case .unreachable, .connectionLost, .stalled, .timedOut: .originAbsent
            case .refusedAddress, .forbiddenRedirect: .refusedURL
            case .unauthorized, .forbidden, .gone: .originRefused
            case .notFound: .missing
            case .cancelled: .cancelled
            default: .badOrigin
            }
        self.init(code, error.description, underlying: error)
    }

    /// Whether it is about where something was asked for, so that it may be had elsewhere.
    var concernsOrigin: Bool {
        switch code {
        case .originAbsent, .originRefused, .badOrigin, .missing, .refusedURL: true
        case .notPlaylist, .badDirective, .notStored, .store, .nameTaken, .notArtwork, .otherContent, .urlTaken,
            .notWhole, .exists, .badTarget, .badImport, .noProgram, .busy, .cancelled, .expired, .keyLapsed,
            .newerBundle:
            false
        }
    }
}
