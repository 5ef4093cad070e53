import Foundation

/// Reads playlists as a player does that knows nothing but URIs.
enum PlaylistText {
    /// The URIs of a playlist, in lines and in attributes, as paths for requests.
    /// - Parameter path: the path of the playlist itself.
    static func paths(in text: String, at path: String) -> [String] {
        let base = URL(string: "http://weir" + path)
        return text.split(separator: "\n").compactMap { line in
            let uri = line.hasPrefix("#") ? attribute("URI", in: String(line)) : String(line)
            return uri.map { resolve($0, base) }
        }
    }

    private static func resolve(_ uri: String, _ base: URL?) -> String {
        guard !uri.hasPrefix("/"), !uri.contains(":"), let url = URL(string: uri, relativeTo: base)?.absoluteURL else {
            return uri
        }
        return url.query().map { "\(url.path())?\($0)" } ?? url.path()
    }

    /// The value of a quoted attribute at its first occurrence.
    static func attribute(_ name: String, in text: String) -> String? {
        text.range(of: name + "=\"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
