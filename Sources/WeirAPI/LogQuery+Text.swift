package import AccessLog
internal import HTTPMessage

/// The query of the endpoints of logs.
extension LogQuery {
    /// The keys of the query; all are optional.
    package static let keys = ["asset", "session", "since", "limit"]

    /// The query string with its question mark.
    package var text: String {
        var pairs = ["limit=\(limit)"]
        if let asset {
            pairs.append("asset=" + PercentEncoding.encode(asset))
        }
        if let session {
            pairs.append("session=" + PercentEncoding.encode(session))
        }
        if let since {
            pairs.append("since=\(since)")
        }
        return "?" + pairs.joined(separator: "&")
    }
}
