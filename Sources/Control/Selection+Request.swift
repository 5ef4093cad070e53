import API
import Downloader

extension Selection {
    init(_ request: API.SelectionRequest) {
        self.init(
            quality: request.quality.map { Quality($0) }, audio: Choice(request.audio ?? .default),
            subtitles: Choice(request.subtitles ?? .none),
            preferences: Preferences(request.preferences ?? API.Preferences()))
    }
}

extension Selection.Quality {
    fileprivate init(_ quality: API.Quality) {
        switch quality {
        case .best: self = .best
        case .worst: self = .worst
        case .height(let height): self = .height(height)
        case .heightAtMost(let height): self = .heightAtMost(height)
        case .minimumBandwidth(let least): self = .minimumBandwidth(least)
        }
    }
}

extension Selection.Choice {
    fileprivate init(_ choice: API.Choice) {
        switch choice {
        case .default: self = .default
        case .all: self = .all
        case .none: self = .none
        case .languages(let languages): self = .languages(languages)
        }
    }
}

extension Selection.Preferences {
    fileprivate init(_ preferences: API.Preferences) {
        self.init()
        minimumBitRate = preferences.minimumBitRate
        minimumWidth = preferences.minimumSize?.width
        minimumHeight = preferences.minimumSize?.height
        prefersHDR = preferences.prefersHDR ?? false
        prefersMultichannel = preferences.prefersMultichannel ?? false
        codecs = preferences.codecs ?? []
        languages = preferences.languages ?? []
        locale = preferences.locale
        isFast = preferences.isFast ?? false
    }
}

extension DownloadOrder {
    init(_ request: API.DownloadRequest) {
        self.init(range: request.range?.seconds)
        selections = request.selections.map { Selection($0) }
        note = request.note
        priority = request.priority.map { $0 == .important ? .important : .normal }
        recordsLive = request.record ?? false
        ignoresRoom = request.ignoreSpace ?? false
        isPaused = request.paused ?? false
    }
}
