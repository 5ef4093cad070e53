internal import API
internal import AccessLog
internal import HTTPMessage
internal import Playback

/// The routes of the API.
enum ControlRoute: Equatable {
    case assets
    case asset(name: String)
    case artwork(asset: String)
    case policy(asset: String)
    case export(asset: String)
    case keys(asset: String?)
    case update(asset: String)
    case cache(asset: String)
    case tracks(asset: String)
    case track(asset: String, id: String)
    case job(API.JobKind, asset: String)
    case mode
    case page
    case paste
    case presentation
    case selection
    case streams
    case downloads
    case download(id: String)
    case change(API.DownloadChange, id: String)
    case events
    case log(LogRoute)
    case store
    case link
    case document
    case lan
    case phones
    case phone(name: String)

    /// True if a request of this method reads a file or folder that the user names.
    func readsHandedInFiles(by method: HTTPMethod) -> Bool {
        guard method == .post else { return false }
        switch self {
        case .assets, .tracks: return true
        default: return false
        }
    }

    /// Reads a path; nil if no route has it.
    init?(path: String) {
        guard path.hasPrefix(API.root + "/") else { return nil }
        let parts = path.dropFirst(API.root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        let words = parts.compactMap { PercentEncoding.decode($0) }
        guard words.count == parts.count, !words.contains("") else { return nil }
        let item = words.count > 1 ? words[1] : ""
        switch (words[0], words.count) {
        case ("assets", 1): self = .assets
        case ("assets", 2): self = .asset(name: item)
        case ("assets", 3) where words[2] == "artwork": self = .artwork(asset: item)
        case ("assets", 3) where words[2] == "policy": self = .policy(asset: item)
        case ("assets", 3) where words[2] == "export": self = .export(asset: item)
        case ("assets", 3) where words[2] == "keys": self = .keys(asset: item)
        case ("assets", 3) where words[2] == "update": self = .update(asset: item)
        case ("assets", 3) where words[2] == "tracks": self = .tracks(asset: item)
        case ("assets", 4) where words[2] == "tracks": self = .track(asset: item, id: words[3])
        case ("assets", 3) where words[2] == "cache": self = .cache(asset: item)
        case ("assets", 3):
            guard let kind = API.JobKind(rawValue: words[2]) else { return nil }
            self = .job(kind, asset: item)
        case ("keys", 1): self = .keys(asset: nil)
        case ("mode", 1): self = .mode
        case ("page", 1): self = .page
        case ("paste", 1): self = .paste
        case ("presentation", 1): self = .presentation
        case ("selection", 1): self = .selection
        case ("streams", 1): self = .streams
        case ("downloads", 1): self = .downloads
        case ("downloads", 2): self = .download(id: item)
        case ("downloads", 3):
            guard let change = API.DownloadChange(rawValue: words[2]) else { return nil }
            self = .change(change, id: item)
        case ("events", 1): self = .events
        case ("store", 1): self = .store
        case ("link", 1): self = .link
        case ("openapi.json", 1): self = .document
        case ("lan", 1): self = .lan
        case ("phones", 1): self = .phones
        case ("phones", 2): self = .phone(name: item)
        default:
            guard let log = LogRoute(words) else { return nil }
            self = .log(log)
        }
    }

    /// The methods that the route takes. HEAD is allowed where GET is.
    var methods: [HTTPMethod] {
        switch self {
        case .log(.report): [.put]
        case .download, .events, .log, .store, .document, .lan: [.get, .head]
        case .page: [.get, .head, .delete]
        case .asset: [.get, .head, .patch, .delete]
        case .artwork, .mode, .policy: [.get, .head, .put]
        case .link: [.get, .head, .patch]
        case .assets, .downloads, .presentation, .keys: [.get, .head, .post]
        case .job: [.get, .head, .post, .delete]
        case .selection, .paste, .streams, .change, .export, .update, .cache, .tracks: [.post]
        case .track, .phone: [.delete]
        case .phones: [.get, .head, .post, .delete]
        }
    }

    /// The query keys that the route takes. All other keys are refused.
    func parameters(of method: HTTPMethod) -> [String] {
        guard method == .get || method == .head else { return [] }
        return switch self {
        case .assets: API.AssetQuery.keys
        case .presentation: ["url"]
        case .log(.access), .log(.errors), .log(.kpis), .log(.timelines): LogQuery.keys
        case .log(.picture): ["width"]
        default: []
        }
    }

    /// Value of the Allow field (RFC 9110 §10.2.1).
    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }
}

/// The routes of sessions and their logs.
enum LogRoute: Equatable {
    case sessions
    case report(session: String)
    case access
    case errors
    case kpis
    case timelines
    case picture(session: String)

    /// Reads the path components behind the root; nil if no route has them.
    init?(_ words: [String]) {
        switch words {
        case ["sessions"]: self = .sessions
        case let words where words.count == 3 && words[0] == "sessions" && words[2] == "report":
            self = .report(session: words[1])
        case ["log"]: self = .access
        case ["log", "errors"]: self = .errors
        case ["log", "sessions"]: self = .timelines
        case let words where words.count == 3 && words[0] == "sessions" && words[2] == "picture":
            self = .picture(session: words[1])
        case ["kpis"]: self = .kpis
        default: return nil
        }
    }
}

extension LogQuery {
    static let keys = ["asset", "session", "since", "limit"]

    init(_ query: ControlQuery) throws(APIError) {
        self.init(
            asset: try query.word("asset"), session: try query.word("session"), since: try query.number("since"))
        limit = try query.count("limit", upTo: 100_000) ?? limit
    }
}
