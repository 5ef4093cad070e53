package import EventLoop
internal import HTTPMessage
package import HTTPServer
internal import WeirAPI

/// Serves the page at `/` to browsers.
///
/// Access needs a key, which only the API returns. The link of `weir page`, `/in/<key>/`, contains it. The page's script
/// keeps it in the storage of its origin and sends it in the Authorization field of each API request. The browser sends
/// nothing by itself, so another site's page or a link has no power. Without the key, `/` answers 401.
///
/// The key is not a cookie, because cookies ignore ports: a browser sends those of localhost:8216 to a server that
/// another user runs on another port. It is not the token, and `weir page --revoke` replaces it. `PageKey` states what a program
/// gains that takes over the port and learns the key.
@LoopActor package final class PageRoutes {
    private let control: ControlRoutes
    private let files = PageFiles()
    private let player: PagePlayer?

    nonisolated static let entrance = "/in/"
    /// The path to which links of other pages lead, with a URL in the fragment. The page asks before it does anything with it.
    private static let proposal = "/add"

    /// - Parameter player: plays in browsers without HLS; nil if it is not installed.
    package init(_ control: ControlRoutes, player: PagePlayer?) {
        self.control = control
        self.player = player
    }

    /// Answers a phone's request for the page or one of its files. Returns false for any other request.
    package func handle(_ exchange: Exchange, of phone: String) -> Bool {
        let path = exchange.head.path
        if sendPlayer(exchange) {
            return true
        }
        guard path == "/" || files[path] != nil, [.get, .head].contains(exchange.head.method) else { return false }
        if let file = files[path] {
            exchange.reply(file.representation, .bytes(file.bytes))
        } else {
            sendPage(exchange)
        }
        return true
    }

    /// Answers a request for the page or one of its files. Returns false for any other request.
    package func handle(_ exchange: Exchange) -> Bool {
        let path = exchange.head.path
        if sendPlayer(exchange) {
            return true
        }
        let file = files[path]
        guard path == "/" || path == Self.proposal || path.hasPrefix(Self.entrance) || file != nil else { return false }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            exchange.reply(.methodNotAllowed, "Only GET and HEAD are of use here.")
            return true
        }
        if let file {
            exchange.reply(file.representation, .bytes(file.bytes))
        } else if path == "/" || path == Self.proposal {
            exchange.reply(Self.head(.unauthorized), .bytes(files.door))
        } else {
            let key = path.dropFirst(Self.entrance.count)
            var request = ControlRequest(.get, path)
            request.authorization = "Bearer \(key.hasSuffix("/") ? key.dropLast() : key)"
            request.isFromOwner = exchange.isFromOwner
            if control.isAdmitted(request) {
                sendPage(exchange)
            } else {
                exchange.reply(Self.head(.unauthorized), .bytes(files.door))
            }
        }
        return true
    }

    /// Answers a request for hls.js. Returns false for any other request.
    private func sendPlayer(_ exchange: Exchange) -> Bool {
        guard exchange.head.path == PagePlayer.route, [.get, .head].contains(exchange.head.method),
            let file = player?.contents()
        else { return false }
        exchange.reply(file.representation, .bytes(file.bytes))
        return true
    }

    private func sendPage(_ exchange: Exchange) {
        var script = ""
        if player != nil {
            script = exchange.mount + PagePlayer.route
        }
        let page = files.page.filled([.mount: exchange.mount, .player: script])
        exchange.reply(Self.head(.ok), .bytes(page))
    }

    /// Allows only our own scripts, styles and images, no frame around the page, and no referrer.
    private static func head(_ status: HTTPStatus) -> ResponseHead {
        var head = ResponseHead(status)
        head.append(.html)
        head.append(.cacheControl, literal: "no-store")
        head.append(
            FieldName("Content-Security-Policy"),
            literal: """
                default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                require-trusted-types-for 'script'; trusted-types 'none'
                """)
        head.append(FieldName("X-Content-Type-Options"), literal: "nosniff")
        head.append(FieldName("X-Frame-Options"), literal: "DENY")
        head.append(FieldName("Referrer-Policy"), literal: "no-referrer")
        head.append(FieldName("Cross-Origin-Opener-Policy"), literal: "same-origin")
        head.append(FieldName("Cross-Origin-Resource-Policy"), literal: "same-origin")
        if status == .unauthorized {
            head.append(FieldName("WWW-Authenticate"), literal: "Bearer")
        }
        return head
    }
}
