import HTTPMessage

/// Decides from a head alone whether a request may be answered at all, before any handler sees it.
///
/// It keeps web pages out: a page that a browser shows can send requests to a loopback port, and can make its own name
/// point there. Pure.
struct RequestGuard: Sendable {
    /// What is to be done with a request.
    enum Verdict: Equatable {
        /// Answer it.
        case admitted
        /// Answer it, and let the page of the request's Origin read the answer.
        case admittedForOrigin
        /// Answer this, and close.
        case refused(HTTPStatus, String)
    }

    private static var secFetchSite: FieldName { FieldName("Sec-Fetch-Site") }
    private static var secFetchMode: FieldName { FieldName("Sec-Fetch-Mode") }
    private static var secFetchDest: FieldName { FieldName("Sec-Fetch-Dest") }

    /// What may stand in Host, in lower case.
    private let authorities: [[UInt8]]
    private let ownOrigins: [[UInt8]]
    private let listedOrigins: [[UInt8]]

    /// For a socket on `port`; `literals` are addresses, brackets included where they belong, that reach it.
    init(port: UInt16, literals: [String], hostNames: [String], allowedOrigins: [String]) {
        var names = ["localhost", "127.0.0.1", "[::1]"]
        names += (literals + hostNames).map { $0.lowercased() }.filter { !names.contains($0) }
        var authorities = names.map { "\($0):\(port)" }
        if port == 80 { authorities += names }
        self.authorities = authorities.map { [UInt8]($0.utf8) }
        ownOrigins = authorities.map { [UInt8]("http://\($0)".utf8) }
        listedOrigins = allowedOrigins.map { [UInt8]($0.lowercased().utf8) }
    }

    /// Whether answers differ by Origin, which caches must be told.
    var variesByOrigin: Bool { !listedOrigins.isEmpty }

    func judge(_ head: RequestHead) -> Verdict {
        guard authorities.contains(where: { Self.equal($0, head.hostBytes) }) else {
            return .refused(.misdirectedRequest, "This server does not go by the name in the Host field.")
        }
        var isListed = false
        if head.contains(.origin) {
            guard let origin = head.onlyValue(of: .origin) else {
                return .refused(.badRequest, "There is more than one Origin header field.")
            }
            isListed = listedOrigins.contains { Self.equal($0, origin) }
            guard isListed || ownOrigins.contains(where: { Self.equal($0, origin) }) else {
                return .refused(.forbidden, "Pages of this origin may not ask here.")
            }
        }
        if !isListed, isForeignFetch(head), !isNavigationToRoot(head) {
            return .refused(.forbidden, "Pages of another site may not ask here.")
        }
        return isListed ? .admittedForOrigin : .admitted
    }

    /// Whether the browser says that a page of another site, or of another port of ours, is behind the request.
    private func isForeignFetch(_ head: RequestHead) -> Bool {
        guard let site = head.firstValue(of: Self.secFetchSite) else { return false }
        return !site.elementsEqual("same-origin".utf8) && !site.elementsEqual("none".utf8)
    }

    /// A link to our page may be followed from anywhere.
    private func isNavigationToRoot(_ head: RequestHead) -> Bool {
        guard head.method == .get, head.pathBytes.elementsEqual("/".utf8) else { return false }
        return head.onlyValue(of: Self.secFetchMode)?.elementsEqual("navigate".utf8) == true
            && head.onlyValue(of: Self.secFetchDest)?.elementsEqual("document".utf8) == true
    }

    /// `lowercase` is in lower case; the case of ASCII letters in `bytes` does not matter.
    private static func equal(_ lowercase: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
        guard lowercase.count == bytes.count else { return false }
        var index = bytes.startIndex
        for byte in lowercase {
            let other = bytes[index]
            guard byte == (other &- 0x41 < 26 ? other | 0x20 : other) else { return false }
            index += 1
        }
        return true
    }
}
