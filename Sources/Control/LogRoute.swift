internal import HTTPMessage
internal import Playback

/// What a path of the API leads to that is about sessions and their logs.
enum LogRoute: Equatable {
    case sessions
    case access
    case errors
    case kpis

    /// The route of a path's words behind the root; nil for any other.
    init?(_ words: [String]) {
        switch words {
        case ["sessions"]: self = .sessions
        case ["log"]: self = .access
        case ["log", "errors"]: self = .errors
        case ["kpis"]: self = .kpis
        default: return nil
        }
    }
}

extension LogQuery {
    /// Reads a query of the API; keys that it does not know, and an asset without a name, are passed over.
    init(_ text: String?) throws(ControlError) {
        self.init()
        for pair in (text ?? "").split(separator: "&") {
            let key = pair.prefix { $0 != "=" }
            guard let value = PercentEncoding.decode(pair.dropFirst(key.count + 1)) else {
                throw ControlError(.badRequest, "\(key)= is not percent-encoded UTF-8")
            }
            switch key {
            case "asset": asset = value.isEmpty ? nil : value
            case "since": since = try Self.number(value, of: key)
            case "limit": limit = Int(min(max(1, try Self.number(value, of: key)), 100_000))
            default: break
            }
        }
    }

    private static func number(_ text: String, of key: Substring) throws(ControlError) -> Double {
        guard let number = Double(text), number.isFinite else {
            throw ControlError(.badRequest, "\(key)= wants a number, not \"\(text)\"")
        }
        return number
    }
}
