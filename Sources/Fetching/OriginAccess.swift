public import EventLoop
package import HTTPMessage
package import Origin

/// The rights of all requests for an asset that follow from the user's URL: its host and port may be private, and the
/// header fields go there. All resources of an asset share it, fetches and interstitial assets included, so that a
/// change applies from the next request on.
@LoopActor package final class OriginAccess {
    /// The user's URL.
    private var url: WebURL
    /// Scheme, host and port of the user's URL: only requests there carry the fields.
    package var origin: WebURL.Origin { url.origin }
    package private(set) var fields: UserFields
    /// True if the user named the host: only then may it be a private one.
    package private(set) var namesPeer: Bool
    /// The user's settings for the way to the origin, and the class of the first address.
    package private(set) var route: OriginRoute {
        get {
            var route = settings ?? OriginRoute()
            route.firstClass = firstClass
            return route
        }
        set {
            firstClass = newValue.firstClass
            var settings = newValue
            settings.firstClass = nil
            self.settings = settings == OriginRoute() ? nil : settings
        }
    }
    @Rare private var settings: OriginRoute?
    private var firstClass: HostClass?
    /// Set by the replies to all requests for the asset.
    package var cookies: CookieJar {
        if let knownCookies {
            return knownCookies
        }
        let made = CookieJar()
        cookieFolder?.adopt(cookieFile, made)
        knownCookies = made
        return made
    }
    /// Nil until it is needed.
    private var knownCookies: CookieJar?
    /// The folder of the cookies, for a jar that is made again; nil if they are not kept.
    private weak var cookieFolder: CookieFolder?
    private var cookieFile = ""
    /// Counts the requests that no player waits for.
    package var traffic: TrafficTally {
        if let knownTraffic {
            return knownTraffic
        }
        let made = TrafficTally()
        knownTraffic = made
        return made
    }
    /// Nil until it is needed.
    private var knownTraffic: TrafficTally?

    package init(
        to url: WebURL, with fields: UserFields = UserFields(), namesPeer: Bool = true, cookies: CookieJar? = nil,
        route: OriginRoute = OriginRoute()
    ) {
        self.url = url
        self.fields = fields
        self.namesPeer = namesPeer
        knownCookies = cookies
        self.route = route
    }

    /// Frees what can be made again, while nothing of the asset is requested or downloaded.
    package func forgetUse() {
        knownTraffic = nil
        guard let cookies = knownCookies else { return }
        cookies.close()
        if cookies.canBeReadAgain {
            knownCookies = nil
        }
    }

    /// Keeps the cookies in a file, whose name is the id of the asset.
    package func keepCookies(in folder: CookieFolder, as id: String) {
        cookieFolder = folder
        cookieFile = id
        if let knownCookies {
            folder.adopt(id, knownCookies)
        }
    }

    /// Renames the file, for a revision that replaces the asset.
    package func renameCookies(to id: String) {
        cookieFolder?.rename(cookies, to: id)
        cookieFile = id
    }

    /// Deletes the file.
    package func removeCookies() {
        cookieFolder?.remove(cookies)
        cookieFolder = nil
    }

    /// Writes cookies that have changed to their file now.
    package func saveCookies() { knownCookies?.save() }

    /// Records that the user named the host; true if that is new.
    @discardableResult package func confirm() -> Bool {
        defer { namesPeer = true }
        return !namesPeer
    }

    package func change(to url: WebURL, with fields: UserFields) {
        // Another host has an address of its own.
        if url.host != origin.host {
            route.firstClass = nil
        }
        self.url = url
        self.fields = fields
        handled = nil
    }

    /// Replaces the user's settings; the class of the first address stays.
    package func change(_ route: OriginRoute) {
        let known = self.route.firstClass
        self.route = route
        self.route.firstClass = known
    }

    /// The terms of a handler's answer for the user's URL; kept until the process ends.
    @Rare package var handled: HandlerTerms?

    package func grant(to request: inout OriginRequest) {
        request.isUsers = namesPeer && request.url == url
        // The name in a URL that only a handler answers is no host.
        if namesPeer, !url.needsHandler {
            request.namedPeer = OriginRequest.Peer(host: origin.host, port: origin.port)
        }
        request.cookies = cookies
        request.route = route
        request.classRecorder = self
        request.tally = traffic
        request.fields += fields.shared
        defer { if !request.isUsers, let handled { request.add(handled) } }
        guard !fields.isEmpty else { return }
        request.credentials = OriginRequest.Credentials(origin: origin, fields: fields.credentials)
        request.scopedFields += fields.scoped
    }
}

extension OriginAccess: HostClassRecorder {
    package func record(_ kind: HostClass) {
        if route.firstClass == nil {
            route.firstClass = kind
        }
    }
}

extension OriginAccess: Hashable {
    /// Compares identities: two instances for one origin may have different fields.
    package nonisolated static func == (left: OriginAccess, right: OriginAccess) -> Bool { left === right }
    package nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The encryption of a segment or an initialization section.
public enum ResourceEncryption: Sendable {
    /// It has none, or only its samples are encrypted: it can be recognised.
    case partial
    /// As a whole, in blocks of 16 bytes (AES-128 with CBC and padding).
    case inBlocks
    /// As a whole, in another way.
    case whole
}

/// The sources from which a fetch can get its resource after the first one failed: mirrors, and freshly signed URLs.
///
/// The room that knows playlists implements it; a fetch owns one instance.
@LoopActor public protocol AlternateSources: AnyObject {
    /// The encryption of the resource.
    var encryption: ResourceEncryption { get }
    /// True if the resource may have no bytes: the last segment of a playlist that has ended, and segments of subtitles.
    var mayBeEmpty: Bool { get }
    /// True if another source is known, so that the fetch need not insist on the present one.
    var hasUntried: Bool { get }
    /// Forgets the failures so far. The fetch starts again at `location`.
    func reset(_ location: Resource)
    /// Records that bytes arrived, so that a URL that is refused later may be renewed again.
    func recordArrival()
    /// Records that the resource is stored although most players cannot use it; a sentence without a subject says why.
    func recordOddity(_ oddity: String)
    /// Finds the next source after one failed; nil if there is none, and once nobody waits for it.
    func next(
        after error: FetchError, isForPlayer: Bool, isAwaited: @escaping @LoopActor () -> Bool
    ) async -> Resource?
}
