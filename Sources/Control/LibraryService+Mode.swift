public import API
import Downloader
import EventLoop
import Library

/// Whether the network is used.
extension LibraryService {
    /// See `ControlService`.
    public func mode() async throws(APIError) -> API.Mode { API.Mode(.init(library.mode)) }

    /// See `ControlService`.
    public func change(to mode: API.Mode) async throws(APIError) -> API.Mode {
        let before = library.mode
        library.mode = PlayMode(mode.mode)
        if before == .offline, library.mode != .offline { downloader.tryAgain(.network) }
        return mode
    }
}

extension API.Mode.Name {
    init(_ mode: PlayMode) {
        self =
            switch mode {
            case .auto: .auto
            case .offline: .offline
            case .local: .local
            }
    }
}

extension PlayMode {
    fileprivate init(_ mode: API.Mode.Name) {
        self =
            switch mode {
            case .auto: .auto
            case .offline: .offline
            case .local: .local
            }
    }
}
