package import AccessLog
package import Assets

/// The subject of a player's request, as far as it is known.
package struct RequestSubject {
    /// The session's id.
    package var session: String?
    package var asset: Asset?
    /// The origin's URL if known, otherwise Weir's; without a query.
    package var uri: String?

    package init(session: String? = nil, asset: Asset? = nil, uri: String? = nil) {
        self.session = session
        self.asset = asset
        self.uri = uri
    }
}

/// A player's request that failed, for the error log.
package struct FailedRequest {
    package let subject: RequestSubject
    /// The status that the player received; 0 if the body was cut short.
    package let status: Int
    package let domain: ErrorEvent.Domain
    /// The reason, as a sentence without its first capital.
    package let comment: String

    package init(subject: RequestSubject, status: Int, domain: ErrorEvent.Domain, comment: String) {
        self.subject = subject
        self.status = status
        self.domain = domain
        self.comment = comment
    }
}
