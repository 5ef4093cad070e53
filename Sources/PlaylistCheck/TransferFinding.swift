import HTTPMessage
import Origin
import Playlist

/// Findings about a playlist's transfer from its origin.
enum TransferFinding {
    /// Findings about a response head.
    static func all(of head: OriginHead, asked url: WebURL) -> [PlaylistDiagnostic] {
        let isNamed = [url, head.url].contains { isPlaylistName($0.path) }
        return [redirect(to: head.url, from: url), contentType(head.mediaType?.essence, isNamed: isNamed)]
            .compactMap(\.self)
    }

    /// The finding for a failed request.
    static func failure(_ error: OriginError, asked url: WebURL) -> PlaylistDiagnostic {
        // The report prints the playlist's name before the message.
        let own = url.redacted + " "
        let message = error.description
        return PlaylistDiagnostic(
            severity: .error, code: error.code.rawValue, clause: clause(of: error.code),
            message: message.hasPrefix(own) ? String(message.dropFirst(own.count)) : "leads to \(message)")
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
            let what = type.map { "the Content-Type is \($0)" } ?? "there is no Content-Type"
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
