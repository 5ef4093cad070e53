import Assets
import Control
import EventLoop
import HTTPMessage
import HTTPServer
import Playback

/// Serves media to the network, on an address of its own. The token is part of the path, because a television cannot
/// send it anywhere else. A phone has a token of its own, which opens the page too, and the part of the API in `PhoneRights`.
/// A player with either may be paused for as long as its user likes.
///
/// | path | response |
/// |---|---|
/// | `/t/TOKEN/` | a page with links to playable assets |
/// | `/t/TOKEN/…` | the same as below `/` for local players; every URI in a playlist leads to a URL with the token |
/// | `/t/PHONE/`, `/t/PHONE/page/…`, `/t/PHONE/api/v1/…` | the page and its requests, with a phone's token |
/// | `/t/PHONE/…` | as with the token for all players |
/// | any other | 404, for a wrong and for a missing token |
@LoopActor final class NetworkGate {
    private let prefix: [UInt8]
    private let library: Library
    private let playback: PlayerRoutes
    private let subtitles: SubtitleRoutes
    private let phones: Phones
    private let control: ControlRoutes
    private let page: PageRoutes

    /// The rooms that answer phones.
    struct PhoneService {
        let phones: Phones
        let control: ControlRoutes
        let page: PageRoutes
    }

    init(token: String, library: Library, playback: PlayerRoutes, subtitles: SubtitleRoutes, _ service: PhoneService) {
        prefix = Array(Self.path(token).utf8)
        self.library = library
        self.playback = playback
        self.subtitles = subtitles
        phones = service.phones
        control = service.control
        page = service.page
    }

    nonisolated static func path(_ token: String) -> String { "/t/\(token)" }

    func answer(_ exchange: Exchange) {
        guard isOurs(exchange.head.pathBytes) else { return answerPhone(exchange) }
        exchange.allowPauses()
        let inner = exchange.mounted(behind: prefix.count)
        guard inner.head.path == "/" else {
            if !playback.handle(inner), !subtitles.handle(inner) {
                Self.nothing(inner)
            }
            return
        }
        guard inner.head.method == .get || inner.head.method == .head else { return Self.nothing(inner) }
        var representation = Representation(size: nil, mediaType: .html)
        representation.fields.append(.cacheControl, literal: "no-store")
        representation.fields.append(FieldName("Content-Security-Policy"), literal: "default-src 'none'")
        representation.fields.append(FieldName("Referrer-Policy"), literal: "no-referrer")
        let page = Array(links.utf8)
        representation.size = Int64(page.count)
        inner.reply(representation, .bytes(page))
    }

    /// Answers a request with a phone's token in its path.
    private func answerPhone(_ exchange: Exchange) {
        let path = exchange.head.pathBytes
        let start = Self.path("").utf8.count
        let end = path.startIndex + start + Phones.tokenLength
        guard path.starts(with: Self.path("").utf8), end < path.endIndex, path[end] == UInt8(ascii: "/"),
            let phone = phones.phone(with: path[(path.startIndex + start)..<end])
        else { return Self.nothing(exchange) }
        exchange.allowPauses()
        let inner = exchange.mounted(behind: end - path.startIndex)
        if playback.handle(inner) || control.handle(inner, of: phone) || page.handle(inner, of: phone)
            || subtitles.handle(inner)
        {
            return
        }
        Self.nothing(inner)
    }

    /// Compares in constant time, so that the duration reveals nothing about the token.
    private func isOurs(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.count > prefix.count else { return false }
        let difference = zip(path, prefix).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 && path[path.startIndex + prefix.count] == UInt8(ascii: "/")
    }

    private static func nothing(_ exchange: Exchange) { exchange.reply(.notFound, "Unknown path.") }

    /// The page with links for a player or a phone's browser.
    private var links: String {
        var names: [(name: String, title: String?)] = library.assets.map { ($0.name, $0.title) }
        names += library.unopenedStreams.map { ($0.name, $0.title) }
        let items = names.sorted { $0.name < $1.name }.map { item in
            "<li><a href=\"\(PercentEncoding.encode(item.name)).m3u8\">\(Self.escaped(item.title ?? item.name))</a></li>"
        }
        return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
            + "content=\"width=device-width\"><title>Weir</title><h1>Weir</h1><ul>\(items.joined())</ul></html>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
