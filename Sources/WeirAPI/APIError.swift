internal import SafeText

/// An error of the control API, on the server or in the client.
///
/// The only code by which errors become HTTP statuses for a client and exit codes for the command line.
package struct APIError: Error, CustomStringConvertible, Sendable {
    /// The kinds of error. The raw values are part of the API and never change.
    package enum Code: String, Codable, Sendable, CaseIterable {
        /// The request's JSON, query or path is invalid for the route.
        case badRequest = "bad-request"
        case unauthorized
        case noSuchRoute = "no-such-route"
        case unknownVersion = "unknown-version"
        /// The Host field names another host than the daemon.
        case misdirected
        /// The request comes from a web page of another site.
        case foreignPage = "foreign-page"
        /// The client, or for a command the program that listens in the daemon's place, is another user's.
        case otherUser = "other-user"
        case noLAN = "no-lan"
        /// The request is one that a phone of the network may not make.
        case notForPhones = "not-for-phones"
        case noSuchPhone = "no-such-phone"
        case tooManyPhones = "too-many-phones"
        /// The route exists, but does not take this method.
        case methodNotAllowed = "method-not-allowed"
        /// The request's body is larger than the API allows.
        case tooLarge = "too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case noSuchAsset = "no-such-asset"
        case noSuchDownload = "no-such-download"
        case nameTaken = "name-taken"
        /// Another asset has the URL given for an asset.
        case urlTaken = "url-taken"
        /// The URL given for an asset leads to other content.
        case otherContent = "other-content"
        /// The URL is not http or https, contains credentials, or leads to a private address that the user did not
        /// name.
        case refusedURL = "refused-url"
        case expired
        /// A key of the asset has expired or was revoked.
        case keyExpired = "key-expired"
        /// A key of the asset does not decrypt its segments.
        case keyUnfit = "key-unfit"
        case noSuchKey = "no-such-key"
        case noSuchSession = "no-such-session"
        /// Nothing of the asset is complete, so nothing can leave the store.
        case incomplete
        case targetExists = "target-exists"
        case badTarget = "bad-target"
        /// The import source is not a presentation, or is incomplete.
        case badImport = "bad-import"
        /// The file cannot be attached as a track.
        case badTrack = "bad-track"
        /// The asset has no attached track of this id.
        case noSuchTrack = "no-such-track"
        case noProgram = "no-program"
        /// A program that the daemon ran has failed; the message gives the reason.
        case programFailed = "program-failed"
        case noMatch = "no-match"
        /// A live stream cannot be saved while it is in progress.
        case live
        case notArtwork = "not-artwork"
        case noArtwork = "no-artwork"
        /// The presentation is protected by DRM and could not be played.
        case protected
        /// The stored record was written by a newer Weir.
        case unreadable
        /// The response is not a playlist, or violates RFC 8216 too much to be used.
        case notPlaylist = "not-a-playlist"
        /// The response is a channel list, and not the playlist of one stream.
        case channelList = "channel-list"
        /// The origin violated HTTP, sent a wrong length, or answered with an error.
        case badOrigin = "bad-origin"
        /// The origin demands credentials or refuses them (401, 403).
        case originRefused = "origin-refused"
        case originAbsent = "origin-absent"
        /// A download lacks what only a dead host has: it refuses connections, or has no address, while others answer.
        case hostDead = "host-dead"
        case offline
        case cannotWrite = "cannot-write"
        case diskFull = "disk-full"
        case disk
        case volumeAbsent = "volume-absent"
        /// Another operation on the asset has to end first.
        case busy
        /// A rule for when downloads may run stops the download.
        case rule
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

    package let code: Code
    /// The message: names the asset and the cause; a sentence without a capital or a full stop.
    package let message: String
    /// Next step: a command, or a few words; nil if there is none.
    package let next: String?
    /// The underlying error. It goes into the log only: a client sees `message`.
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, next: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.next = next ?? code.usualNext
        self.underlying = underlying
    }

    package var description: String {
        guard let underlying else { return message }
        return "\(message) (\(underlying))"
    }

    /// The error with an asset's name, or a URL, where its usual next step has a word for one.
    package func naming(_ source: String) -> APIError {
        // To make space, the user removes another asset.
        guard let next, next == code.usualNext, code != .diskFull, !source.isEmpty else { return self }
        let word = ShellWord.quoted(PlayerURL.withoutPassword(source))
        var named = next.replacing("NAME", with: word)
        for end in [")", ";", ","] {
            named = named.replacing(" URL\(end)", with: " \(word)\(end)")
        }
        if named.hasSuffix(" URL") {
            named = named.dropLast("URL".count) + word
        }
        return APIError(code, message, next: named, underlying: underlying)
    }

    /// The next step for an asset whose link has expired.
    package static func freshLink(for asset: String) -> String { "weir resume \(asset) --url NEW, with a new link" }
}

extension APIError.Code {
    /// The HTTP status (RFC 9110 §15) of the response.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .refusedURL, .foreignPage, .otherUser, .notForPhones: 403
        case .misdirected: 421
        case .noSuchRoute, .unknownVersion, .noLAN, .noSuchAsset, .noSuchDownload, .noSuchSession, .noSuchKey,
            .noArtwork, .noSuchTrack, .noSuchPhone:
            404
        case .methodNotAllowed: 405
        case .expired, .keyExpired: 410
        case .nameTaken, .urlTaken, .otherContent, .unreadable, .targetExists, .busy, .rule,
            .tooManyPhones:
            409
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .noMatch, .live, .protected, .channelList, .notArtwork, .incomplete, .badTarget, .badImport, .badTrack: 422
        case .internal, .programFailed: 500
        case .notPlaylist, .badOrigin, .originRefused, .keyUnfit: 502
        case .offline, .stopping, .noDaemon, .noLink, .noProgram, .volumeAbsent: 503
        case .originAbsent, .hostDead, .timeout: 504
        case .cannotWrite, .diskFull, .disk: 507
        }
    }

    /// The exit code of a command that fails with this error, as in sysexits(3).
    package var exitCode: Int32 {
        switch self {
        case .badRequest: 64
        case .refusedURL, .noMatch, .live, .protected, .notArtwork, .nameTaken, .urlTaken, .otherContent, .incomplete,
            .badImport, .badTrack, .tooManyPhones, .keyUnfit:
            65
        case .noSuchAsset, .noSuchDownload, .noSuchSession, .noSuchKey, .noSuchTrack, .noArtwork, .expired, .keyExpired,
            .noSuchPhone:
            66
        case .hostDead: 3
        case .noDaemon, .noLink, .noProgram, .noLAN: 69
        case .cannotWrite, .targetExists, .badTarget: 73
        case .diskFull, .disk: 74
        case .originAbsent, .offline, .stopping, .timeout, .volumeAbsent, .busy, .rule: 75
        case .notPlaylist, .channelList, .badOrigin: 76
        case .unauthorized, .originRefused, .otherUser, .notForPhones: 77
        case .unreadable: 78
        case .noSuchRoute, .methodNotAllowed, .tooLarge, .unsupportedMediaType, .programFailed, .internal,
            .unknownVersion, .misdirected, .foreignPage:
            1
        }
    }

    /// For a site that answers with a page, or lets in only its own player.
    private static let pageAdvice = """
        A site may want what its page sends: --header 'Referer: https://SITE/', or --cookies FILE. The address of a page needs a \
        handler that finds its playlist: weir get "$(yt-dlp -g URL)"
        """

    fileprivate var usualNext: String? {
        switch self {
        case .refusedURL: "give a URL that begins with http:// or https://"
        case .noMatch: "list the tracks with: weir show URL"
        case .incomplete: "fetch the rest with: weir get NAME"
        case .targetExists: "give another target, or delete this one"
        case .badTarget: "give the absolute path of a new file or folder, in a folder that the daemon can write"
        case .badImport: "give a folder with a playlist (.m3u8) and all files that it names; see: weir check FILE"
        case .badTrack: "correct the file; what can be attached: weir help attach"
        case .noSuchTrack: "weir show NAME lists the tracks"
        case .noProgram: "install ffmpeg where the daemon runs, or export a folder or a .tar"
        case .programFailed: "export a folder or a .tar, which need no other program"
        case .notPlaylist: "check that the URL leads to an HLS playlist. \(Self.pageAdvice)"
        case .channelList: "take its channels over with: weir add URL"
        case .originRefused: "get a new link: this one may have expired. \(Self.pageAdvice)"
        case .originAbsent, .badOrigin: "repeat the command later; what plays meanwhile: weir list --offline"
        case .hostDead: "repeat the command later, which fetches only what is missing"
        case .offline: "weir mode auto, then repeat the command; what plays meanwhile: weir list --offline"
        case .cannotWrite: "use a folder that can be written: weir serve --store DIR"
        case .diskFull: "free space, for example with: weir remove NAME"
        case .disk: "read the daemon's log, and check the disk"
        case .volumeAbsent: "mount the disk; until then the asset plays from its origin, if it has one"
        case .busy: "repeat the command when that has ended"
        case .rule: "wait, or change the rule for this download, for example with: weir add NAME --hours any"
        case .stopping, .timeout: "repeat the command"
        case .noSuchAsset, .noSuchDownload, .urlTaken: "weir list"
        case .notArtwork: "give a JPEG, PNG or WebP image of at most 4 MB"
        case .noArtwork: "weir get NAME --artwork FILE"
        case .expired: "let it play again with: weir policy NAME --expires never --after-first-play never"
        case .keyExpired: "weir keys NAME --renew"
        case .keyUnfit:
            "weir resume NAME fetches the keys again; what the site's own player sends for them: weir set NAME --header"
        case .noSuchSession: "choose a running session: GET \(API.root)/sessions lists them"
        case .noSuchKey: "weir keys NAME"
        case .nameTaken: "choose another name"
        case .otherContent: "save the new content as an asset of its own: weir get URL"
        case .unknownVersion: "use the routes below \(API.root), or start the Weir that has that version"
        case .noSuchPhone: "weir page --phones"
        case .tooManyPhones: "end the access of one: weir page --revoke NAME; weir page --phones lists them"
        case .noLAN: "lan = \"auto\" by weir config edit; then: weir stop"
        case .misdirected: "use localhost, or add the name to host-names"
        case .foreignPage: "add the page's origin to allowed-origins"
        case .otherUser: "send the token as Authorization: Bearer, or ask the owner to add you to users"
        case .tooLarge: "send at most 64 KB; an image or a list of streams may have 4 MB"
        case .unreadable: "start the newer Weir again, or delete the asset with: weir remove NAME"
        case .noLink: "tools/link --preset 3G http://HOST:PORT"
        case .badRequest, .unauthorized, .noSuchRoute, .methodNotAllowed, .unsupportedMediaType, .live,
            .protected, .noDaemon, .internal, .notForPhones:
            nil
        }
    }

    package var title: String {
        switch self {
        case .badRequest: "The request is invalid"
        case .unauthorized: "A token is required"
        case .noSuchRoute: "Unknown route"
        case .unknownVersion: "No such version of the API"
        case .noLAN: "The daemon is not reachable from the network"
        case .notForPhones: "Phones may not do this"
        case .noSuchPhone: "No such phone"
        case .tooManyPhones: "Too many phones"
        case .misdirected: "The Host field names another host"
        case .foreignPage: "Web pages of other sites are refused"
        case .otherUser: "Weir belongs to another user"
        case .methodNotAllowed: "The route does not have this method"
        case .tooLarge: "The body is too large"
        case .unsupportedMediaType: "The body must be JSON"
        case .noSuchAsset: "No such asset"
        case .noSuchDownload: "No such download"
        case .nameTaken: "The name is taken"
        case .urlTaken: "Another asset has this URL"
        case .otherContent: "The URL leads to other content"
        case .expired: "The asset has expired"
        case .keyExpired: "A key has expired or was revoked"
        case .keyUnfit: "A key does not decrypt its segments"
        case .noSuchSession: "No such session"
        case .noSuchKey: "No such key"
        case .refusedURL: "The URL is refused"
        case .incomplete: "Nothing is stored completely"
        case .targetExists: "The target exists"
        case .badTarget: "The target cannot be written"
        case .badImport: "The source cannot be imported"
        case .badTrack: "The file is no track"
        case .noSuchTrack: "No such attached track"
        case .noProgram: "A program is missing"
        case .programFailed: "A program failed"
        case .noMatch: "No track fits the selection"
        case .live: "Live streams cannot be saved"
        case .notArtwork: "Not an accepted image"
        case .noArtwork: "No artwork"
        case .protected: "The presentation is protected"
        case .unreadable: "A newer Weir wrote this record"
        case .notPlaylist: "Not a playlist"
        case .channelList: "A list of channels"
        case .badOrigin: "The origin violated HTTP or HLS"
        case .originRefused: "The origin refuses access"
        case .originAbsent: "The origin cannot be reached"
        case .hostDead: "A host that has a part cannot be reached"
        case .offline: "Weir is offline"
        case .cannotWrite: "The store cannot be written"
        case .diskFull: "The disk is full"
        case .disk: "The disk reports errors"
        case .volumeAbsent: "The volume is absent"
        case .busy: "Another operation on the asset is running"
        case .rule: "A rule stops the download"
        case .stopping: "The daemon is stopping"
        case .timeout: "The daemon takes too long"
        case .noDaemon: "No daemon answers"
        case .noLink: "No link conditioner answers"
        case .internal: "Weir has failed"
        }
    }
}
