import EventLoop
import HTTPMessage
import HTTPServer
import Sessions

/// Receives what players post in CMCD's event mode (CTA-5004-B): a line of client data for each event. The player names itself
/// by the session id (`sid`) that its requests for segments have as well.
@LoopActor enum ClientDataEvents {
    private nonisolated static let path = Array("/cmcd".utf8)
    private static let mostLines = 256

    /// True for the path that players post to.
    nonisolated static func isMeant(_ target: ArraySlice<UInt8>) -> Bool {
        target.prefix { $0 != UInt8(ascii: "?") }.elementsEqual(path)
    }

    /// Returns false if the request is for another path.
    static func answer(_ exchange: Exchange, _ sessions: SessionRecords) -> Bool {
        guard isMeant(exchange.head.targetBytes) else { return false }
        guard exchange.head.method == .post else {
            var head = ResponseHead(.methodNotAllowed)
            head.append(.allow, literal: "POST, OPTIONS")
            exchange.reply(head)
            return true
        }
        let lines = exchange.body.split(separator: UInt8(ascii: "\n")).prefix(mostLines)
        // Every line is applied.
        let count = lines.count { sessions.apply(CMCD($0)) }
        if count > 0 || lines.isEmpty {
            exchange.reply(ResponseHead(.noContent))
        } else {
            exchange.reply(.notFound, "No running session has the sid of this client data.")
        }
        return true
    }
}
