package import EventLoop
package import HTTPMessage
package import Origin

/// What a URL that the user gave opens to every request that is made for the asset behind it: the host and port that it
/// names, though they be private, and the header fields that go there.
///
/// Whatever belongs to the asset shares it, fetches and guests too, so that a change holds from the next request on.
@LoopActor package final class OriginAccess {
    /// The (scheme, host, port) of the user's URL: nothing else gets the fields.
    package private(set) var origin: WebURL.Origin
    /// The user's own.
    package private(set) var fields: UserFields

    /// Whether the user has named the host: only then may it be a private one.
    package private(set) var namesPeer: Bool

    package init(to url: WebURL, with fields: UserFields = UserFields(), namesPeer: Bool = true) {
        origin = url.origin
        self.fields = fields
        self.namesPeer = namesPeer
    }

    /// The user has named the host after all.
    ///
    /// - Returns: whether nobody knew.
    @discardableResult package func confirm() -> Bool {
        defer { namesPeer = true }
        return !namesPeer
    }

    /// Takes the place of what was given before.
    package func change(to url: WebURL, with fields: UserFields) { (origin, self.fields) = (url.origin, fields) }

    /// Gives a request what it may have.
    package func grant(to request: inout OriginRequest) {
        if namesPeer { request.namedPeer = OriginRequest.Peer(host: origin.host, port: origin.port) }
        if !fields.isEmpty { request.credentials = OriginRequest.Credentials(origin: origin, fields: fields.lines) }
    }
}

extension OriginAccess: Hashable {
    /// The same access: fields may differ between two that lead to one origin.
    package nonisolated static func == (left: OriginAccess, right: OriginAccess) -> Bool { left === right }

    /// See `==`.
    package nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
