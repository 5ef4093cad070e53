package import Assets
import Downloads
import Orders
import Origin
import SafeText
package import Sharing
import Store
package import WeirAPI

extension APIError {
    /// Here alone the library's codes become the API's. `asset` and the URL that the user gave, without a password,
    /// are named in the next step.
    package init(_ error: LibraryError, asset: String? = nil, url: String? = nil) {
        let code: Code =
            switch error.code {
            case .store: Code((error.underlying as? StoreError)?.code ?? .io)
            // Nothing is stored yet that could be incomplete.
            case .hostDead: .originAbsent
            case .notPlaylist where error.channelList != nil: .channelList
            case let other: Code(other)
            }
        let next: String? =
            switch code {
            case _ where (error.underlying as? OriginError)?.code.concernsWay ?? false: "weir doctor"
            case .originRefused where asset != nil: asset.map(Self.freshLink)
            case .expired: asset.map { "weir policy \($0) --expires never --after-first-play never" }
            case .keyExpired: asset.map { "weir keys \($0) --renew" }
            default: url.flatMap { Self.step(after: error, at: ShellWord.quoted($0)) }
            }
        self.init(code, error.message, next: next, underlying: error.underlying)
    }

    /// The next step after a URL of the user's did not give a stream; nil if there is none to name.
    private static func step(after error: LibraryError, at url: String) -> String? {
        if let step = error.foreign?.nextStep(at: url) {
            return step
        }
        let origin = error.underlying as? OriginError
        switch (error.code, origin?.status) {
        case (.notPlaylist, _):
            return "if it is a web page with a film: yt-dlp -g \(url), which may print the stream's URL"
        case (_, 401?): return "give the password: weir get --header 'Authorization: …' \(url)"
        case (_, 403?):
            return "give what the site's own page sends: weir get --header 'Referer: …' --cookies FILE \(url)"
        case (_, 451?): return "if another country has it, give a proxy there: weir get --proxy http://HOST:PORT \(url)"
        case (_, 404?), (_, 410?): return "check the address in a browser; the stream may have moved"
        case _ where origin?.code == .refusedAddress:
            return "give the stream's own URL, or allow its host: weir help get"
        case (.originAbsent, _) where origin?.code == .unreachable, (.hostDead, _):
            return "check the host's spelling, the port and the network: weir doctor"
        default: return nil
        }
    }

    /// Here alone the codes of `Sharing` become the API's. `asset` is named in the next step.
    package init(_ error: ExchangeError, asset: String? = nil) {
        if let cause = error.underlying as? LibraryError, error.code == .library {
            self.init(cause, asset: asset)
            return
        }
        let code: Code =
            switch error.code {
            case .badImport: .badImport
            case .urlTaken: .urlTaken
            case .incomplete: .incomplete
            case .exists: .targetExists
            case .badTarget: .badTarget
            case .noProgram: .noProgram
            case .offline: .offline
            case .refused: .originRefused
            case .unreachable, .cancelled: .originAbsent
            case .badAnswer: .badOrigin
            case .busy: .busy
            case .store, .library: Code((error.underlying as? StoreError)?.code ?? .io)
            }
        self.init(code, error.message, underlying: error.underlying)
    }

    /// Creates the error of a bundle in the store that cannot be used.
    init(_ orphan: OrphanBundle) {
        self.init(
            .unreadable, "\(orphan.name) cannot be used: \(orphan.reason)",
            next: "delete it with: weir remove \(orphan.name)")
    }

    /// Creates the error of a download that did not start; `url` contains no secrets.
    init(_ refusal: Downloader.Refusal, asset: String, url: String) {
        switch refusal {
        case .live:
            self.init(
                .live, refusal.description,
                next: "record it with: weir get --record URL; or play it with: mpv "
                    + ShellWord.quoted("http://localhost:8216/\(url)"))
        case .needsDRM:
            self.init(
                .protected, refusal.description,
                next: "use a source without DRM; Weir stores media without keys or with AES-128 keys")
        case .noMatch(let error): self.init(error, source: url)
        case .noSuchTime:
            self.init(
                .noMatch, refusal.description, next: "weir show \(ShellWord.quoted(asset)), which says how long it is")
        case .noRoom:
            self.init(
                .diskFull, refusal.description,
                next: "free space, for example with: weir remove NAME; or start with --anyway, which stores what fits")
        case .unreadable: self.init(.unreadable, refusal.description)
        case .library(let error): self.init(error, asset: asset)
        }
    }

    /// Creates the error of a selection that nothing of a presentation fits.
    ///
    /// - Parameter source: the name of the asset, or its URL without a password.
    init(_ error: Selection.NoMatch, source: String) {
        let list = "list the tracks with: weir show \(ShellWord.quoted(source))"
        self.init(.noMatch, error.description, next: error.wayOut ?? list)
    }

    /// Creates the error of a download record that a newer Weir wrote in a form that this version cannot read.
    init(unreadable name: String) { self.init(.unreadable, Downloader.Refusal.unreadable(name: name).description) }
}

extension APIError.Code {
    init(_ code: JobFailure.Code) {
        switch code {
        case .library(let code): self.init(code)
        case .store(let code): self.init(code)
        case .rule: self = .rule
        case .unreadable: self = .unreadable
        }
    }

    fileprivate init(_ code: LibraryError.Code) {
        self =
            switch code {
            case .missing, .badOrigin: .badOrigin
            case .notStored: .offline
            case .notPlaylist: .notPlaylist
            case .originRefused: .originRefused
            case .originAbsent, .cancelled: .originAbsent
            case .hostDead: .hostDead
            case .badDirective: .badRequest
            case .refusedURL: .refusedURL
            case .store: .disk
            case .notArtwork: .notArtwork
            case .nameTaken: .nameTaken
            case .otherContent: .otherContent
            case .urlTaken: .urlTaken
            case .expired: .expired
            case .keyExpired: .keyExpired
            case .keyUnfit: .keyUnfit
            case .newerBundle: .unreadable
            case .busy: .busy
            }
    }

    fileprivate init(_ code: StoreError.Code) {
        self =
            switch code {
            case .diskFull: .diskFull
            case .notWritable: .cannotWrite
            case .busy: .busy
            case .exists: .targetExists
            case .program: .programFailed
            case .newer: .unreadable
            case .away: .volumeAbsent
            case .missing, .contentChanged, .wrongLength, .badName, .catalogue, .moved, .io: .disk
            }
    }
}
