import AccessLog
import EventLoop
import HTTPMessage
import Orders
import WeirAPI

/// The requests of the API that a phone may make, beside the table of endpoints, and the replies that it gets. Pure.
///
/// The network is plain HTTP, so that somebody who listens learns a phone's token. A phone therefore looks, plays, and starts, pauses
/// and cancels downloads. It names no file, folder, header field or private address of this machine, and changes nothing else.
enum PhoneRights {
    /// Returns the body of a request as a phone may send it, or throws `.notForPhones`. The owner may send any.
    static func admitted<Request>(_ request: Request, from credential: Credential) throws(APIError) -> Request {
        guard credential.isPhone else { return request }
        guard let order = request as? any PhoneOrder, let admitted = try order.admitted() as? Request else {
            throw refusal("this")
        }
        return admitted
    }

    /// Returns the JSON of a reply as a phone gets it. A reply without a shape for phones is refused.
    static func encoded(_ reply: some Encodable) throws(APIError) -> [UInt8] {
        guard let reply = reply as? any PhoneReply else { throw refusal("this") }
        return try API.encode(reply.forPhone)
    }

    /// An order as a phone may give it: tracks of an asset or of a public URL.
    static func order(_ given: API.DownloadRequest) throws(APIError) -> API.DownloadRequest {
        let isWeb = ["http://", "https://"].contains { given.source.lowercased().hasPrefix($0) }
        guard isWeb || !given.source.contains(":") else { throw refusal("URLs that are neither http nor https") }
        guard UserInformation(splitting: given.source).url == given.source else { throw refusal("passwords") }
        var admitted = API.DownloadRequest(source: given.source)
        admitted.title = given.title
        admitted.order = DownloadOrder(given.order.selection, range: given.order.range)
        admitted.order.additional = given.order.additional
        admitted.order.record = given.order.record
        admitted.order.recordSeconds = given.order.recordSeconds
        admitted.order.recordFrom = given.order.recordFrom
        admitted.order.paused = given.order.paused
        var rest = given
        rest.isFromLink = nil
        guard rest == admitted else { throw refusal("header fields, files, names and rules") }
        // The owner has not named a URL of the phone.
        admitted.isFromLink = true
        return admitted
    }

    static func refusal(_ what: String) -> APIError {
        APIError(
            .notForPhones, "a phone may look, play, and start, pause and cancel downloads, but not \(what)",
            next: "use the page or the commands on the machine of the daemon")
    }

    /// An error without the names of files and folders.
    static func filtered(_ error: APIError) -> APIError {
        var next: String? = "use the page on the machine of the daemon"
        if error.code == .notForPhones {
            next = error.next
        }
        return APIError(error.code, PhoneText.message(error.message, error.code), next: next)
    }
}

/// Texts for phones. Pure.
enum PhoneText {
    /// The scheme and the host of a URL: the rest may hold a signature.
    static func host(of url: String) -> String {
        guard let url = try? WebURL(url) else { return "" }
        return "\(url.scheme.name)://\(url.host)"
    }

    /// A message; the title of its kind instead of one that may name a path of this machine.
    static func message(_ message: String, _ code: APIError.Code) -> String {
        switch code {
        case .cannotWrite, .diskFull, .disk, .volumeAbsent, .noProgram, .programFailed, .internal, .unreadable,
            .badTarget, .targetExists, .badImport, .badTrack:
            code.title.prefix(1).lowercased() + code.title.dropFirst()
        default: message
        }
    }
}

/// The body of a request that phones may send.
private protocol PhoneOrder {
    /// Returns the request as a phone may send it, or throws `.notForPhones`.
    func admitted() throws(APIError) -> Self
}

extension API.DownloadRequest: PhoneOrder {
    fileprivate func admitted() throws(APIError) -> Self { try PhoneRights.order(self) }
}

extension API.ResumeRequest: PhoneOrder {
    fileprivate func admitted() throws(APIError) -> Self {
        guard self == API.ResumeRequest() else { throw PhoneRights.refusal("a URL, header fields or reasons") }
        return self
    }
}

/// A reply that phones may get.
private protocol PhoneReply: Encodable {
    /// The reply without anything that a phone may not know.
    var forPhone: Self { get }
}

extension API.Mode: PhoneReply {
    var forPhone: Self { self }
}

extension API.AssetList: PhoneReply {
    var forPhone: Self {
        var list = self
        list.assets = assets.map(\.forPhone)
        return list
    }
}

extension API.DownloadList: PhoneReply {
    var forPhone: Self { Self(downloads: downloads.map(\.forPhone)) }
}

extension API.Presentation: PhoneReply {
    var forPhone: Self {
        var presentation = self
        presentation.url = PhoneText.host(of: url)
        presentation.position = nil
        return presentation
    }
}

extension API.SessionList: PhoneReply {
    var forPhone: Self {
        var list = self
        for index in list.sessions.indices {
            list.sessions[index].client = nil
            list.sessions[index].uri = nil
        }
        return list
    }
}

extension API.Asset: PhoneReply {
    /// The asset without its origin, its folder on the disk, texts that may name a path, and what its owner has seen of it.
    var forPhone: Self {
        var asset = self
        asset.url = PhoneText.host(of: url)
        asset.path = nil
        asset.volume = nil
        asset.logo = nil
        asset.playable = nil
        asset.keys = nil
        asset.explanation = nil
        asset.isInsecure = nil
        asset.position = nil
        asset.isWatched = nil
        asset.unreadable = unreadable.map { _ in "a newer Weir wrote its record" }
        return asset
    }
}

extension API.Download: PhoneReply {
    /// The download without its origins, rules, and texts that may name a path.
    var forPhone: Self {
        var download = self
        download.summary = nil
        download.rules = nil
        if let error {
            download.error?.message = PhoneText.message(error.message, error.code)
        }
        download.reasons = reasons?.filter { ![Need.space, .volume, .key].contains($0.need) }
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
