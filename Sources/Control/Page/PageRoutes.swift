internal import API
public import EventLoop
internal import HTTPMessage
public import HTTPServer

/// The page: what a browser sees at `/`.
///
/// Who may see it. A key, made anew by each process and told by the API alone, stands in the link that `weir page` prints,
/// `/in/<key>/`; the page's script keeps it in the storage of its origin, shows `/` in its place, and sends it with each
/// request to the API in the Authorization field. So nothing goes along by itself that would let another site's page, or
/// a link, do anything. It is no cookie, for cookies know no ports: a browser shows those of localhost:8216 to whatever
/// another user of the machine runs on another port of localhost. And it is not the token, and dies with the process: a
/// program that takes the port over while Weir is down, and is then asked by a page that is still open, learns nothing
/// that opens the next Weir. Without the key, `/` says how to get in, with status 401, and tells nothing else.
@LoopActor public final class PageRoutes {
    private let control: ControlRoutes
    private let files = PageFiles()

    /// The path in front of the key.
    nonisolated static let entrance = "/in/"
    /// The most assets on one page where no script runs.
    private static let pageLength = 200

    /// The page of an API.
    public init(_ control: ControlRoutes) { self.control = control }

    /// Answers a request for the page or one of its files; false if it is none.
    public func handle(_ exchange: Exchange) -> Bool {
        let path = exchange.head.path
        let file = files[path]
        guard path == "/" || path.hasPrefix(Self.entrance) || file != nil else { return false }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            exchange.reply(.methodNotAllowed, "Only GET and HEAD are of use here.")
            return true
        }
        if let file {
            exchange.reply(file.representation, .bytes(file.bytes))
        } else if path == "/" {
            exchange.reply(Self.head(.unauthorized), .bytes(files.door))
        } else {
            Task { @LoopActor in await answer(exchange, key: path.dropFirst(Self.entrance.count)) }
        }
        return true
    }

    /// The page with the first assets, or with those behind a name.
    private func answer(_ exchange: Exchange, key: Substring) async {
        let key = key.hasSuffix("/") ? key.dropLast() : key
        let after = PageList.after(in: exchange.head.query)
        let request = ControlRequest(
            .get, API.root + "/assets", query: PageList.query(after: after, limit: Self.pageLength),
            authorization: "Bearer \(key)")
        let answer = await control.respond(to: request)
        guard answer.status == .ok, let list = PageList(answer.body, after: after, limit: Self.pageLength) else {
            guard answer.status == .unauthorized else {
                return exchange.reply(.internalServerError, "The assets cannot be listed: see the log of weir serve.")
            }
            return exchange.reply(Self.head(.unauthorized), .bytes(files.door))
        }
        let base = "http://" + String(decoding: exchange.head.hostBytes, as: UTF8.self)
        let rows = list.assets.map { PageRow($0, base: base).html }.joined()
        exchange.reply(Self.head(.ok), .bytes(files.page.filled([.assets: rows, .rest: list.rest])))
    }

    /// No script, style or image but our own, no frame around it, and no word to others of where it was.
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
        if status == .unauthorized { head.append(FieldName("WWW-Authenticate"), literal: "Bearer") }
        return head
    }
}
