package import EventLoop
package import HTTPMessage
package import Origin

/// The rights of all requests for an asset that follow from the user's URL: its host and port may be private, and the
/// header fields go there.
///
/// All resources of an asset share it, fetches and interstitial assets included, so that a change applies from the next
/// request on.
@LoopActor package final class OriginAccess {
    /// Scheme, host and port of the user's URL: only requests there carry the fields.
    package private(set) var origin: WebURL.Origin
    /// The user's header fields.
    package private(set) var fields: UserFields

    /// True if the user named the host: only then may it be a private one.
    package private(set) var namesPeer: Bool

    package init(to url: WebURL, with fields: UserFields = UserFields(), namesPeer: Bool = true) {
        origin = url.origin
        self.fields = fields
        self.namesPeer = namesPeer
    }

    /// Records that the user named the host.
    ///
    /// - Returns: true if that is new.
    @discardableResult package func confirm() -> Bool {
        defer { namesPeer = true }
        return !namesPeer
    }

    /// Replaces the URL and the fields.
    package func change(to url: WebURL, with fields: UserFields) { (origin, self.fields) = (url.origin, fields) }

    /// Adds the rights to a request.
    package func grant(to request: inout OriginRequest) {
        if namesPeer { request.namedPeer = OriginRequest.Peer(host: origin.host, port: origin.port) }
        if !fields.isEmpty { request.credentials = OriginRequest.Credentials(origin: origin, fields: fields.lines) }
    }
}

extension OriginAccess: Hashable {
    /// Compares identities: two instances for one origin may have different fields.
    package nonisolated static func == (left: OriginAccess, right: OriginAccess) -> Bool { left === right }

    /// See `==`.
    package nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
