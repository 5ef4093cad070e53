internal import HTTPMessage

/// What a path of the API leads to.
enum ControlRoute: Equatable {
    case assets
    case asset(name: String)
    case presentation
    case selection
    case downloads
    case download(id: String)

    /// The route of a path; nil for any other.
    init?(path: String) {
        guard path.hasPrefix(API.root + "/") else { return nil }
        let parts = path.dropFirst(API.root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2 else { return nil }
        let item = parts.count == 2 ? PercentEncoding.decode(parts[1]) : nil
        switch (first, item) {
        case ("assets", nil) where parts.count == 1: self = .assets
        case ("assets", let name?) where !name.isEmpty: self = .asset(name: name)
        case ("presentation", nil) where parts.count == 1: self = .presentation
        case ("selection", nil) where parts.count == 1: self = .selection
        case ("downloads", nil) where parts.count == 1: self = .downloads
        case ("downloads", let id?) where !id.isEmpty: self = .download(id: id)
        default: return nil
        }
    }

    /// The methods that it takes; HEAD goes with GET.
    var methods: [HTTPMethod] {
        switch self {
        case .assets, .presentation, .download: [.get, .head]
        case .asset: [.get, .head, .delete]
        case .downloads, .selection: [.post]
        }
    }

    /// What Allow says (RFC 9110 §10.2.1).
    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }
}
