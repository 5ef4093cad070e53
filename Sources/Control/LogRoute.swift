internal import API
internal import AccessLog
internal import Playback

/// What a path of the API leads to that is about sessions and their logs.
enum LogRoute: Equatable {
    case sessions
    case report(session: String)
    case access
    case errors
    case kpis

    /// The route of a path's words behind the root; nil for any other.
    init?(_ words: [String]) {
        switch words {
        case ["sessions"]: self = .sessions
        case let words where words.count == 3 && words[0] == "sessions" && words[2] == "report":
            self = .report(session: words[1])
        case ["log"]: self = .access
        case ["log", "errors"]: self = .errors
        case ["kpis"]: self = .kpis
        default: return nil
        }
    }
}

extension LogQuery {
    /// The keys of a query of the API.
    static let keys = ["asset", "since", "limit"]

    /// Reads a query with these keys.
    init(_ query: ControlQuery) throws(APIError) {
        self.init(asset: try query.word("asset"), since: try query.number("since"))
        limit = try query.count("limit", upTo: 100_000) ?? limit
    }
}
