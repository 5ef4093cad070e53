import EventLoop
import HLS
package import HTTPMessage
package import Origin

/// The header fields, cookies and settings that the user gave for the requests of a check.
package struct CheckWay: Sendable {
    package var fields = UserFields()
    package var cookies: [StoredCookie] = []
    package var route = OriginRoute()

    package init() {}
}

/// Reads playlists from an origin.
@LoopActor final class OriginCheckSource: CheckSource {
    typealias Location = WebURL

    nonisolated let entry: WebURL
    private lazy var client = OriginClient(configuration: configuration)
    private let configuration: OriginClient.Configuration
    private let way: CheckWay
    private lazy var cookies = {
        let jar = CookieJar()
        jar.offer(way.cookies)
        return jar
    }()

    /// - Parameter entry: the user's own URL; its host may be private.
    nonisolated init(
        entry: WebURL, _ configuration: OriginClient.Configuration = .init(), by way: CheckWay = CheckWay()
    ) {
        self.entry = entry
        self.configuration = configuration
        self.way = way
    }

    func read(_ location: WebURL) async -> CheckReading<WebURL> {
        var request = OriginRequest(location)
        request.namedPeer = OriginRequest.Peer(of: entry)
        request.fields = way.fields.shared
        request.credentials = OriginRequest.Credentials(origin: entry.origin, fields: way.fields.credentials)
        request.scopedFields = way.fields.scoped
        request.cookies = cookies
        request.route = way.route
        request.acceptsCompression = true
        // A check reports failures; a retry would hide them.
        request.retries = .never

        do throws(OriginError) {
            let (head, body) = try await client.fetch(request, beginningAs: PlaylistText.mayBegin)
            return CheckReading(bytes: body, base: head.url, findings: TransferFinding.all(of: head, asked: location))
        } catch {
            let code: PlaylistCheckError.Code =
                switch error.code {
                case .tooLarge: .tooLarge
                case .notFound: .notFound
                default: .origin
                }
            return CheckReading(
                base: location, findings: [TransferFinding.failure(error, asked: location)],
                failure: PlaylistCheckError(code, "\(error)", underlying: error))
        }
    }

    nonisolated func target(of uri: String, from base: WebURL) -> CheckTarget<WebURL> {
        guard let url = try? base.resolving(uri), !url.needsHandler else { return .invalid }
        return .location(url)
    }

    nonisolated func url(of uri: String, from base: WebURL) -> String? {
        guard let url = try? base.resolving(uri), !url.needsHandler else { return nil }
        return url.text
    }
    nonisolated func url(_ location: WebURL) -> String { location.text }
    nonisolated func name(_ location: WebURL) -> String { location.redacted }
    nonisolated func query(_ location: WebURL) -> String? { location.query }
    nonisolated var hasURLs: Bool { true }
}

/// Findings about a playlist's transfer from its origin.
enum TransferFinding {
    static func all(of head: OriginHead, asked url: WebURL) -> [PlaylistDiagnostic] {
        let isNamed = [url, head.url].contains { isPlaylistName($0.path) }
        return [redirect(to: head.url, from: url), contentType(head.mediaType?.essence, isNamed: isNamed)]
            .compactMap(\.self)
    }

    static func failure(_ error: OriginError, asked url: WebURL) -> PlaylistDiagnostic {
        // The report prints the playlist's name before the message.
        let own = url.redacted + " "
        let description = error.description
        let message: String
        if description.hasPrefix(own) {
            message = String(description.dropFirst(own.count))
        } else {
            message = "leads to \(description)"
        }
        return PlaylistDiagnostic(
            severity: .error, code: error.code.rawValue, clause: clause(of: error.code), message: message)
    }

    private static func redirect(to end: WebURL, from start: WebURL) -> PlaylistDiagnostic? {
        guard end != start else { return nil }
        return PlaylistDiagnostic(
            severity: .note, code: "redirected", clause: "RFC 3986 §5.1.3",
            message: "redirects to \(end.redacted), which its URIs are relative to")
    }

    /// Clients recognise a playlist by its Content-Type or its name, and must refuse one with neither.
    private static func contentType(_ type: String?, isNamed: Bool) -> PlaylistDiagnostic? {
        func finding(_ severity: PlaylistDiagnostic.Severity, _ message: String) -> PlaylistDiagnostic {
            PlaylistDiagnostic(severity: severity, code: "contentType", clause: "RFC 8216 §4", message: message)
        }
        switch type {
        case "application/vnd.apple.mpegurl"?, "audio/mpegurl"?: return nil
        case "application/x-mpegurl"?, "audio/x-mpegurl"?:
            return finding(.note, "the Content-Type \(type ?? "") is outdated: use application/vnd.apple.mpegurl")
        default:
            var what = "there is no Content-Type"
            if let type {
                what = "the Content-Type is \(type)"
            }
            guard isNamed else {
                return finding(.error, "\(what), and the path does not end in .m3u8: players may refuse it")
            }
            return finding(.warning, "\(what), not application/vnd.apple.mpegurl")
        }
    }

    private static func isPlaylistName(_ path: String) -> Bool {
        let end = path.utf8.suffix(5).map { $0 | 0x20 }
        return end.elementsEqual(".m3u8".utf8) || end.suffix(4).elementsEqual(".m3u".utf8)
    }

    private static func clause(of code: OriginError.Code) -> String {
        switch code {
        case .unauthorized, .forbidden, .notFound, .gone, .serverFailure, .unexpectedStatus: "RFC 9110 §15"
        case .tooManyRedirects, .forbiddenRedirect: "RFC 9110 §15.4"
        case .unsupportedEncoding: "RFC 9110 §8.4"
        case .malformedReply, .connectionLost, .cutShort: "RFC 9112 §8"
        case .tooLarge: "RFC 8216 §10"
        default: "RFC 8216 §6.2.1"
        }
    }
}
