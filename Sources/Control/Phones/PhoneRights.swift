import API
import AccessLog
import EventLoop
import HTTPMessage

/// The requests of the API that a phone may make. Pure.
///
/// The network is plain HTTP, so that somebody who listens learns a phone's token. A phone therefore looks, plays, and starts, pauses
/// and cancels downloads. It names no file, folder, header field or private address of this machine, and changes nothing else.
enum PhoneRights {
    /// True if a phone may use a route with a method. A new route is refused until it is added here.
    static func admits(_ route: ControlRoute, _ method: HTTPMethod) -> Bool {
        switch (route, method) {
        case (.assets, .get), (.asset, .get), (.artwork, .get), (.mode, .get), (.log(.sessions), .get), (.events, .get):
            true
        case (.downloads, .get), (.downloads, .post), (.download, .get), (.change, .post), (.selection, .post): true
        default: false
        }
    }

    /// Returns the request as a phone may make it, or throws `.notForPhones`.
    @LoopActor static func admitted(_ request: ControlRequest, _ route: ControlRoute) throws(APIError) -> ControlRequest
    {
        let method = request.method == .head ? .get : request.method
        guard admits(route, method) else { throw refusal("this") }
        switch (route, method) {
        case (.change, .post):
            guard request.body.isEmpty else { throw refusal("a URL, header fields or reasons") }
            return request
        case (.downloads, .post), (.selection, .post):
            var request = request
            request.body = try API.encode(try order(try ControlRoutes.body(request)))
            return request
        default: return request
        }
    }

    /// An order as a phone may give it: tracks of an asset or of a public URL.
    private static func order(_ given: API.DownloadRequest) throws(APIError) -> API.DownloadRequest {
        let isWeb = ["http://", "https://"].contains { given.source.lowercased().hasPrefix($0) }
        guard isWeb || !given.source.contains(":") else { throw refusal("URLs that are neither http nor https") }
        guard UserInformation(splitting: given.source).url == given.source else { throw refusal("passwords") }
        var order = API.DownloadRequest(
            source: given.source, quality: given.quality, audio: given.audio, subtitles: given.subtitles)
        (order.preferences, order.conditions, order.additional) = (
            given.preferences, given.conditions, given.additional
        )
        (order.range, order.title, order.paused) = (given.range, given.title, given.paused)
        (order.record, order.recordSeconds) = (given.record, given.recordSeconds)
        var rest = given
        rest.isFromLink = nil
        guard rest == order else { throw refusal("header fields, files, names and rules") }
        // The owner has not named a URL of the phone.
        order.isFromLink = true
        return order
    }

    private static func refusal(_ what: String) -> APIError {
        APIError(
            .notForPhones, "a phone may look, play, and start, pause and cancel downloads, but not \(what)",
            next: "use the page or the commands on the machine of the daemon")
    }

    /// The body of a response without what a phone may not know.
    static func filtered(_ body: [UInt8], of route: ControlRoute) throws(APIError) -> [UInt8] {
        switch route {
        case .assets:
            var list: API.AssetList = try API.decode(from: body)
            list.assets = list.assets.map(\.forPhone)
            return try API.encode(list)
        case .asset: return try API.encode(try API.decode(API.Asset.self, from: body).forPhone)
        case .download, .change: return try API.encode(try API.decode(API.Download.self, from: body).forPhone)
        case .downloads:
            if let one = try? API.decode(API.Download.self, from: body) { return try API.encode(one.forPhone) }
            var list: API.DownloadList = try API.decode(from: body)
            list.downloads = list.downloads.map(\.forPhone)
            return try API.encode(list)
        case .selection:
            var presentation: API.Presentation = try API.decode(from: body)
            presentation.url = PhoneText.host(of: presentation.url)
            return try API.encode(presentation)
        case .log(.sessions):
            var list: API.SessionList = try API.decode(from: body)
            for index in list.sessions.indices {
                (list.sessions[index].client, list.sessions[index].uri) = (nil, nil)
            }
            return try API.encode(list)
        default: return body
        }
    }

    /// An error without the names of files and folders.
    static func filtered(_ error: APIError) -> APIError {
        let isOfRights = error.code == .notForPhones
        return APIError(
            error.code, PhoneText.message(error.message, error.code),
            next: isOfRights ? error.next : "use the page on the machine of the daemon")
    }
}

/// Texts for phones. Pure.
enum PhoneText {
    /// The scheme and the host of a URL: the rest may hold a signature.
    static func host(of url: String) -> String {
        guard let url = try? WebURL(url) else { return "" }
        return "\(url.scheme.name)://\(url.host)"
    }

    /// A message; the title of its kind in place of one that may name a path of this machine.
    static func message(_ message: String, _ code: APIError.Code) -> String {
        switch code {
        case .cannotWrite, .diskFull, .disk, .volumeAbsent, .noProgram, .programFailed, .internal, .unreadable,
            .badTarget, .targetExists, .badImport, .badTrack:
            code.title.prefix(1).lowercased() + code.title.dropFirst()
        default: message
        }
    }
}

extension API.Asset {
    /// The asset without its origin, its place on the disk, and texts that may name a path.
    var forPhone: Self {
        var asset = self
        asset.url = PhoneText.host(of: url)
        (asset.path, asset.volume, asset.logo, asset.playable) = (nil, nil, nil, nil)
        (asset.keys, asset.explanation, asset.isInsecure) = (nil, nil, nil)
        asset.unreadable = unreadable.map { _ in "a newer Weir wrote its record" }
        return asset
    }
}

extension API.Download {
    /// The download without its origins, rules, and texts that may name a path.
    var forPhone: Self {
        var download = self
        (download.summary, download.rules) = (nil, nil)
        if let error { download.error?.message = PhoneText.message(error.message, error.code) }
        download.reasons = reasons?.filter { ![.space, .volume, .key].contains($0.kind) }
        return download
    }
}

extension API.Event {
    /// The event for a phone; nil if it has none.
    var forPhone: Self? {
        switch self {
        case .snapshot(let downloads): .snapshot(downloads.map(\.forPhone))
        case .download(let kind, let download): .download(kind, download.forPhone)
        case .renditionComplete, .removed, .purged, .changed, .contentChanged, .mode: self
        case .selectionResolved, .selectionsFurther, .selectionComplete, .verification, .keys, .move: nil
        }
    }
}
