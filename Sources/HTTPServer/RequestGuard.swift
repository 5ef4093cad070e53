import HTTPMessage

/// Decides from a head alone if a request may be handled. Pure. It keeps foreign web pages out: a page in a browser can send
/// requests to a loopback port, and can make its own host name resolve to loopback (DNS rebinding).
struct RequestGuard: Sendable {
    enum Verdict: Equatable {
        case admitted
        /// Handle it, and let the page of the request's Origin read the reply.
        case admittedForOrigin
        case refused(HTTPStatus, String)
    }

    private static var secFetchSite: FieldName { FieldName("Sec-Fetch-Site") }
    private static var secFetchMode: FieldName { FieldName("Sec-Fetch-Mode") }
    private static var secFetchDest: FieldName { FieldName("Sec-Fetch-Dest") }
    /// The allowed Host values, in lower case; nil for any.
    private let authorities: [[UInt8]]?
    private let ownOrigins, listedOrigins: [[UInt8]]

    /// Creates the guard of a socket on `port`; nil for a Unix socket, which any Host may name. `literals` are the addresses that reach it, IPv6 in brackets.
    init(port: UInt16?, literals: [String], hostNames: [String], allowedOrigins: [String]) {
        var names = ["localhost", "127.0.0.1", "[::1]"]
        names += (literals + hostNames).map { $0.lowercased() }.filter { !names.contains($0) }
        var authorities: [String] = []
        if let port {
            authorities = names.map { "\($0):\(port)" }
        }
        if port == 80 {
            authorities += names
        }
        if port == nil {
            self.authorities = nil
        } else {
            self.authorities = authorities.map { [UInt8]($0.utf8) }
        }
        ownOrigins = authorities.map { [UInt8]("http://\($0)".utf8) }
        listedOrigins = allowedOrigins.map { [UInt8]($0.lowercased().utf8) }
    }

    /// True if replies differ by Origin; caches need Vary then.
    var variesByOrigin: Bool { !listedOrigins.isEmpty }

    func verdict(on head: RequestHead) -> Verdict {
        guard authorities?.contains(where: { Self.equal($0, head.hostBytes) }) ?? true else {
            return .refused(.misdirectedRequest, "The Host header field does not name this server.")
        }

        var isListed = false
        if head.contains(.origin) {
            guard let origin = head.onlyValue(of: .origin) else {
                return .refused(.badRequest, "There is more than one Origin header field.")
            }
            isListed = listedOrigins.contains { Self.equal($0, origin) }
            guard isListed || ownOrigins.contains(where: { Self.equal($0, origin) }) || isFromPlayer(head) else {
                return .refused(.forbidden, "Web pages of this origin are not allowed here.")
            }
        }

        // A proxy or a program may have added a second line; a browser sends one.
        if head.contains(Self.secFetchSite), head.onlyValue(of: Self.secFetchSite) == nil {
            return .refused(.badRequest, "There is more than one Sec-Fetch-Site header field.")
        }
        if !isListed, isForeignFetch(head), !isNavigationToRoot(head), !isMediaOfListedPage(head) {
            return .refused(.forbidden, "Web pages of another site are not allowed here.")
        }

        guard isListed else { return .admitted }
        return .admittedForOrigin
    }

    /// True if the browser reports a page of another site, or of another port of this host, as the request's source.
    private func isForeignFetch(_ head: RequestHead) -> Bool {
        guard let site = head.firstValue(of: Self.secFetchSite) else { return false }
        return !site.elementsEqual("same-origin".utf8) && !site.elementsEqual("none".utf8)
    }

    /// True for a request of a `<video>` without `crossorigin` in a listed page. It has no Origin (Fetch §3.1), but a Referer,
    /// which a page cannot forge. The page cannot read the reply, so that no CORS field is needed.
    private func isMediaOfListedPage(_ head: RequestHead) -> Bool {
        guard head.method == .get || head.method == .head, !head.pathBytes.starts(with: "/api/".utf8),
            !head.contains(.origin), head.onlyValue(of: Self.secFetchMode)?.elementsEqual("no-cors".utf8) == true,
            let referer = head.onlyValue(of: FieldName("Referer"))
        else { return false }
        // The origin ends at the third slash.
        let slashes = referer.indices.filter { referer[$0] == UInt8(ascii: "/") }
        var origin = referer
        if slashes.count > 2 {
            origin = referer[..<slashes[2]]
        }
        return listedOrigins.contains { Self.equal($0, origin) }
    }

    /// True for a request for media from a program that is no browser, such as a player that was told to send an Origin. A
    /// page cannot remove its browser's Sec-Fetch fields, and cannot change the User-Agent without a preflight.
    private func isFromPlayer(_ head: RequestHead) -> Bool {
        guard head.method == .get || head.method == .head, !head.pathBytes.starts(with: "/api/".utf8),
            let agent = head.onlyValue(of: .userAgent), !agent.isEmpty, !agent.starts(with: "Mozilla/".utf8)
        else { return false }
        return ![Self.secFetchSite, Self.secFetchMode, Self.secFetchDest].contains(where: head.contains)
    }

    /// A link to the root page may be followed from any site.
    private func isNavigationToRoot(_ head: RequestHead) -> Bool {
        guard head.method == .get, head.pathBytes.elementsEqual("/".utf8) else { return false }
        return head.onlyValue(of: Self.secFetchMode)?.elementsEqual("navigate".utf8) == true
            && head.onlyValue(of: Self.secFetchDest)?.elementsEqual("document".utf8) == true
    }

    /// Compares without regard to ASCII case. `lowercase` is in lower case.
    private static func equal(_ lowercase: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
        guard lowercase.count == bytes.count else { return false }
        var index = bytes.startIndex
        for byte in lowercase {
            let other = bytes[index]
            let lowered = other &- 0x41 < 26 ? other | 0x20 : other
            guard byte == lowered else { return false }
            index += 1
        }
        return true
    }
}

/// Replies to OPTIONS: the supported methods and, for allowed origins, the CORS permissions (Fetch §3.2.2).
enum Preflight {
    private static let requestMethod = FieldName("Access-Control-Request-Method")
    private static let requestPrivateNetwork = FieldName("Access-Control-Request-Private-Network")

    static func answer(to head: RequestHead, isListed: Bool) -> ResponseHead {
        var answer = ResponseHead(.noContent)
        answer.append(.allow, literal: "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE")
        guard isListed, head.contains(requestMethod) else { return answer }
        answer.append(
            FieldName("Access-Control-Allow-Methods"), literal: "GET, HEAD, POST, PUT, PATCH, DELETE")
        answer.append(
            FieldName("Access-Control-Allow-Headers"),
            literal: """
                Authorization, CMCD-Object, CMCD-Request, CMCD-Session, CMCD-Status, Cache-Control, Content-Type, \
                If-None-Match, If-Range, Range
                """)
        // Chromium requires this field when a page of the internet requests a loopback address.
        if head.contains(requestPrivateNetwork) {
            answer.append(FieldName("Access-Control-Allow-Private-Network"), literal: "true")
        }
        answer.append(FieldName("Access-Control-Max-Age"), number: 600)
        return answer
    }
}
