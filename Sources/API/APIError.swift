/// An error of the control API, on the server or in the client.
///
/// The only place where errors become HTTP statuses for a client and exit codes for the command line.
public struct APIError: Error, CustomStringConvertible, Sendable {
    /// The kinds of error. The raw values are part of the API and never change.
    public enum Code: String, Codable, Sendable, CaseIterable {
        /// The request's JSON, query or path is invalid for the route.
        case badRequest = "bad-request"
        /// The bearer token is missing or wrong.
        case unauthorized
        /// No route has this path.
        case noSuchRoute = "no-such-route"
        /// The API has no such version.
        case unknownVersion = "unknown-version"
        /// The Host field names another host than the daemon.
        case misdirected
        /// The request comes from a web page of another site.
        case foreignPage = "foreign-page"
        /// The daemon is not reachable from the network.
        case noLAN = "no-lan"
        /// The route exists, but does not take this method.
        case methodNotAllowed = "method-not-allowed"
        /// The request's body is larger than the API allows.
        case tooLarge = "too-large"
        /// The body's Content-Type is not JSON.
        case unsupportedMediaType = "unsupported-media-type"
        /// The library has no asset of this name.
        case noSuchAsset = "no-such-asset"
        /// No download has this id.
        case noSuchDownload = "no-such-download"
        /// Another asset has the requested name.
        case nameTaken = "name-taken"
        /// Another asset has the URL given for an asset.
        case urlTaken = "url-taken"
        /// The URL given for an asset leads to other content.
        case otherContent = "other-content"
        /// The URL is not http or https, contains credentials, or leads to a private address that the user did not
        /// name.
        case refusedURL = "refused-url"
        /// The asset has expired.
        case expired
        /// A key of the asset has expired or was revoked.
        case keyExpired = "key-expired"
        /// The asset has no key of this number.
        case noSuchKey = "no-such-key"
        /// No running session has this id.
        case noSuchSession = "no-such-session"
        /// Nothing of the asset is complete, so nothing can leave the store.
        case notWhole = "not-whole"
        /// The target of the export already exists.
        case targetExists = "target-exists"
        /// The target of the export cannot be written.
        case badTarget = "bad-target"
        /// The import source is not a presentation, or is incomplete.
        case badImport = "bad-import"
        /// A required program is not installed.
        case noProgram = "no-program"
        /// A program that the daemon ran has failed; the message gives the reason.
        case programFailed = "program-failed"
        /// No track of the presentation fits the selection.
        case noMatch = "no-match"
        /// A live stream cannot be saved while it is in progress.
        case live
        /// The file is not an accepted image.
        case notArtwork = "not-artwork"
        /// The asset has no image.
        case noArtwork = "no-artwork"
        /// The presentation is protected by DRM and could not be played.
        case protected
        /// The stored record was written by a newer Weir.
        case unreadable
        /// The response is not a playlist, or violates RFC 8216 too much to be used.
        case notPlaylist = "not-a-playlist"
        /// The origin violated HTTP, sent a wrong length, or answered with an error.
        case badOrigin = "bad-origin"
        /// The origin demands credentials or refuses them (401, 403).
        case originRefused = "origin-refused"
        /// The origin cannot be reached.
        case originAbsent = "origin-absent"
        /// The user has disabled network use.
        case offline
        /// The store cannot be written.
        case cannotWrite = "cannot-write"
        /// The disk is full, or nearly full.
        case diskFull = "disk-full"
        /// The disk reports errors.
        case disk
        /// The disk that holds the asset is absent.
        case away
        /// Another operation on the asset has to end first.
        case busy
        /// The daemon is stopping.
        case stopping
        /// The daemon takes too long to answer; thrown only by the client.
        case timeout
        /// No daemon answers; thrown only by the client.
        case noDaemon = "no-daemon"
        /// No link conditioner answers; thrown only by the client.
        case noLink = "no-link"
        /// A bug in Weir, or a response that Weir never sends.
        case `internal`
    }

    /// The kind.
    public let code: Code
    /// The message: names the asset and the cause; a sentence without a capital or a full stop.
    public let message: String
    /// Next step: a command, or a few words; nil if there is none.
    public let next: String?
    /// The underlying error. It goes into the log only: a client sees `message`.
    public let underlying: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, next: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.next = next ?? code.usualNext
        self.underlying = underlying
    }

    /// The message, with the underlying error.
    public var description: String { underlying.map { "\(message) (\($0))" } ?? message }

    /// The next step for an asset whose link has expired.
    public static func freshLink(for asset: String) -> String { "weir resume \(asset) --url NEW, with a new link" }
}

extension APIError.Code {
    /// The HTTP status (RFC 9110 §15) of the response.
    public var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .refusedURL, .foreignPage: 403
        case .misdirected: 421
        case .noSuchRoute, .unknownVersion, .noLAN, .noSuchAsset, .noSuchDownload, .noSuchSession, .noSuchKey,
            .noArtwork:
            404
        case .methodNotAllowed: 405
        case .expired, .keyExpired: 410
        case .nameTaken, .urlTaken, .otherContent, .unreadable, .targetExists, .busy: 409
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .noMatch, .live, .protected, .notArtwork, .notWhole, .badTarget, .badImport: 422
        case .internal, .programFailed: 500
        case .notPlaylist, .badOrigin, .originRefused: 502
        case .offline, .stopping, .noDaemon, .noLink, .noProgram, .away: 503
        case .originAbsent, .timeout: 504
        case .cannotWrite, .diskFull, .disk: 507
        }
    }

    /// The exit code of a command that fails with this error, as in sysexits(3).
    public var exitCode: Int32 {
        switch self {
        case .badRequest: 64
        case .refusedURL, .noMatch, .live, .protected, .notArtwork, .nameTaken, .urlTaken, .otherContent, .notWhole,
            .badImport:
            65
        case .noSuchAsset, .noSuchDownload, .noSuchSession, .noSuchKey, .noArtwork, .expired, .keyExpired: 66
        case .noDaemon, .noLink, .noProgram, .noLAN: 69
        case .cannotWrite, .targetExists, .badTarget: 73
        case .diskFull, .disk: 74
        case .originAbsent, .offline, .stopping, .timeout, .away, .busy: 75
        case .notPlaylist, .badOrigin: 76
        case .unauthorized, .originRefused: 77
        case .unreadable: 78
        case .noSuchRoute, .methodNotAllowed, .tooLarge, .unsupportedMediaType, .programFailed, .internal,
            .unknownVersion, .misdirected, .foreignPage:
            1
        }
    }

    fileprivate var usualNext: String? {
        switch self {
        case .refusedURL: "give a URL that begins with http:// or https://, without a password"
        case .noMatch: "see what there is with: weir show URL"
        case .notWhole: "fetch the rest with: weir get NAME"
        case .targetExists: "another place, or take away what is there"
        case .badTarget: "the absolute path of something new, in a folder that the daemon can write"
        case .badImport: "a folder with a playlist (.m3u8) and all that it names; see: weir check FILE"
        case .noProgram: "install ffmpeg where the daemon runs, or export a folder or a .tar"
        case .programFailed: "export a folder or a .tar, which need no other program"
        case .notPlaylist: "check that the URL leads to an HLS playlist"
        case .originRefused: "the link may have expired: give a new one"
        case .originAbsent, .badOrigin: "the same command later; what plays meanwhile: weir list --offline"
        case .offline: "start the daemon without --offline, or see what plays: weir list --offline"
        case .cannotWrite: "take a folder that can be written: weir serve --store DIR"
        case .diskFull: "make room, for instance with: weir remove NAME"
        case .disk: "see what the daemon says, and check the disk"
        case .away: "mount the disk; until then it plays from its origin, if it has one"
        case .busy: "the same command when that has ended"
        case .stopping, .timeout: "the same command again"
        case .noSuchAsset, .noSuchDownload: "weir list"
        case .notArtwork: "a JPEG, PNG or WebP image of at most 4 MB"
        case .noArtwork: "weir get NAME --artwork FILE"
        case .expired: "let it play again with: weir policy NAME --expires never --after-first-play never"
        case .keyExpired: "weir keys NAME --renew"
        case .noSuchSession: "tell of one that goes on: GET \(API.root)/sessions lists them"
        case .noSuchKey: "weir keys NAME"
        case .nameTaken: "take another name"
        case .urlTaken: "weir list"
        case .otherContent: "what is there as an asset of its own: weir get URL"
        case .unknownVersion: "ask for what is below \(API.root), or start the Weir that has that version"
        case .noLAN: "start it with: weir serve --lan ADDRESS"
        case .misdirected: "ask for localhost, or list the name as one of host-names"
        case .foreignPage: "list the page's origin as one of allowed-origins"
        case .tooLarge: "a body of at most 64 KB; an image of at most 4 MB"
        case .unreadable: "start the newer Weir again, or give it up with: weir remove NAME"
        case .noLink: "tools/link --preset 3G http://HOST:PORT"
        case .badRequest, .unauthorized, .noSuchRoute, .methodNotAllowed, .unsupportedMediaType, .live,
            .protected, .noDaemon, .internal:
            nil
        }
    }

    /// The kind in words.
    public var title: String {
        switch self {
        case .badRequest: "The request cannot be understood"
        case .unauthorized: "A token is needed"
        case .noSuchRoute: "No such route"
        case .unknownVersion: "No such version of the API"
        case .noLAN: "Not on the network"
        case .misdirected: "Not a name of this daemon"
        case .foreignPage: "Pages of other sites may not ask"
        case .methodNotAllowed: "The route does not take this method"
        case .tooLarge: "The body is too large"
        case .unsupportedMediaType: "The body has to be JSON"
        case .noSuchAsset: "No such asset"
        case .noSuchDownload: "No such download"
        case .nameTaken: "The name is taken"
        case .urlTaken: "The URL is taken"
        case .otherContent: "The URL leads to other content"
        case .expired: "The asset has expired"
        case .keyExpired: "A key is not used any more"
        case .noSuchSession: "No such session"
        case .noSuchKey: "No such key"
        case .refusedURL: "The URL is refused"
        case .notWhole: "Nothing is stored whole"
        case .targetExists: "There is something already"
        case .badTarget: "Nothing can be written there"
        case .badImport: "Nothing that can be imported"
        case .noProgram: "A program is missing"
        case .programFailed: "A program failed"
        case .noMatch: "Nothing fits the selection"
        case .live: "Live streams cannot be saved"
        case .notArtwork: "Not an image that is kept"
        case .noArtwork: "No artwork"
        case .protected: "The presentation is protected"
        case .unreadable: "A newer Weir noted this"
        case .notPlaylist: "Not a playlist"
        case .badOrigin: "The origin broke protocol"
        case .originRefused: "The origin refuses access"
        case .originAbsent: "The origin cannot be reached"
        case .offline: "Weir is offline"
        case .cannotWrite: "The store cannot be written"
        case .diskFull: "The disk is full"
        case .disk: "The disk gives errors"
        case .away: "The disk is not there"
        case .busy: "Something else is done with the asset"
        case .stopping: "The daemon stops"
        case .timeout: "The daemon takes too long"
        case .noDaemon: "No daemon"
        case .noLink: "No link conditioner"
        case .internal: "Weir failed"
        }
    }
}
