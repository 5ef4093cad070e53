public import EventLoop
package import HTTPMessage
package import Origin

/// The rights of all requests for an asset that follow from the user's URL: its host and port may be private, and the
/// header fields go there. All resources of an asset share it, fetches and interstitial assets included, so that a
/// change applies from the next request on.
@LoopActor package final class OriginAccess {
    /// All but the account of requests. A recording has those of its channel.
    @LoopActor private final class Rights {
        var url: WebURL
        var fields: UserFields
        var namesPeer: Bool
        @Rare var settings: OriginRoute?
        var firstClass: HostClass?
        /// Nil until it is needed.
        var cookies: CookieJar?
        /// The folder of the cookies, for a jar that is made again; nil if they are not kept.
        weak var cookieFolder: CookieFolder?
        var cookieFile = ""
        @Rare var handled: HandlerTerms?

        init(to url: WebURL, with fields: UserFields, namesPeer: Bool, cookies: CookieJar?) {
            self.url = url
            self.fields = fields
            self.namesPeer = namesPeer
            self.cookies = cookies
        }
    }

    private let rights: Rights
    /// The user's URL.
    private var url: WebURL { rights.url }
    /// Scheme, host and port of the user's URL: only requests there carry the fields.
    package var origin: WebURL.Origin { url.origin }
    package var fields: UserFields { rights.fields }
    /// True if the user named the host: only then may it be a private one.
    package var namesPeer: Bool { rights.namesPeer }
    /// The user's settings for the way to the origin, and the class of the first address.
    package private(set) var route: OriginRoute {
        get {
            var route = rights.settings ?? OriginRoute()
            route.firstClass = rights.firstClass
            return route
        }
        set {
            rights.firstClass = newValue.firstClass
            var settings = newValue
            settings.firstClass = nil
            rights.settings = settings == OriginRoute() ? nil : settings
        }
    }
    /// Set by the replies to all requests for the asset.
    package var cookies: CookieJar {
        if let known = rights.cookies {
            return known
        }
        let made = CookieJar()
        rights.cookieFolder?.adopt(rights.cookieFile, made)
        rights.cookies = made
        return made
    }
    /// Counts the requests that no player waits for. A request that a recording shares with its channel counts where it was sent for.
    package var traffic: TrafficTally {
        if let knownTraffic {
            return knownTraffic
        }
        let made = TrafficTally(countsEveryUrgency: isForRecording)
        knownTraffic = made
        return made
    }
    /// Nil until it is needed.
    private var knownTraffic: TrafficTally?
    /// True if it has the rights of a channel.
    private let isForRecording: Bool

    package init(
        to url: WebURL, with fields: UserFields = UserFields(), namesPeer: Bool = true, cookies: CookieJar? = nil,
        route: OriginRoute = OriginRoute()
    ) {
        rights = Rights(to: url, with: fields, namesPeer: namesPeer, cookies: cookies)
        isForRecording = false
        self.route = route
    }

    /// Has the rights of a channel, present and later ones, and an account of its own for a recording of it.
    package init(withRightsOf other: OriginAccess) {
        rights = other.rights
        isForRecording = true
    }

    /// Frees what can be made again, while nothing of the asset is requested or downloaded.
    package func forgetUse() {
        knownTraffic = nil
        guard let cookies = rights.cookies else { return }
        cookies.close()
        if cookies.canBeReadAgain {
            rights.cookies = nil
        }
    }

    /// Keeps the cookies in a file, whose name is the id of the asset.
    package func keepCookies(in folder: CookieFolder, as id: String) {
        rights.cookieFolder = folder
        rights.cookieFile = id
        if let known = rights.cookies {
            folder.adopt(id, known)
        }
    }

    /// Renames the file, for a revision that replaces the asset.
    package func renameCookies(to id: String) {
        rights.cookieFolder?.rename(cookies, to: id)
        rights.cookieFile = id
    }

    /// Deletes the file.
    package func removeCookies() {
        rights.cookieFolder?.remove(cookies)
        rights.cookieFolder = nil
    }

    /// Writes cookies that have changed to their file now.
    package func saveCookies() { rights.cookies?.save() }

    /// Records that the user named the host; true if that is new.
    @discardableResult package func confirm() -> Bool {
        defer { rights.namesPeer = true }
        return !namesPeer
    }

    package func change(to url: WebURL, with fields: UserFields) {
        // Another host has an address of its own.
        if url.host != origin.host {
            route.firstClass = nil
        }
        rights.url = url
        rights.fields = fields
        handled = nil
    }

    /// Records that the user did not name the host of the present URL.
    package func unname() { rights.namesPeer = false }

    /// Replaces the user's settings; the class of the first address stays.
    package func change(_ route: OriginRoute) {
        let known = self.route.firstClass
        self.route = route
        self.route.firstClass = known
    }

    /// The terms of a handler's answer for the user's URL; kept until the process ends.
    package var handled: HandlerTerms? {
        get { rights.handled }
        set { rights.handled = newValue }
    }

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
        defer {
            if !request.isUsers, let handled {
                request.add(handled)
            }
        }
        guard !fields.isEmpty || rights.settings?.certificate != nil else { return }
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

/// The meaning of an answer that is stated to have no bytes.
public enum EmptyAnswer: Sendable {
    /// The resource has bytes, and the origin is at fault.
    case fault
    /// The resource has no bytes if a second answer says so, too.
    case contentIfRepeated
    /// The resource has no bytes.
    case content
}

/// The sources from which a fetch can get its resource after the first one failed: mirrors, and freshly signed URLs.
///
/// The room that knows playlists implements it; a fetch owns one instance.
@LoopActor public protocol AlternateSources: AnyObject {
    /// The encryption of the resource.
    var encryption: ResourceEncryption { get }
    /// The meaning of an empty answer: only the last segment of a playlist that has ended, and segments of subtitles may be empty.
    var emptyAnswer: EmptyAnswer { get }
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
