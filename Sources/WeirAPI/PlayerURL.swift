import HTTPMessage
package import Orders

/// Builds the URLs with which players reach a daemon.
package struct PlayerURL: Sendable {
    /// The daemon's base URL without a slash at its end; `localhost` replaces its loopback address.
    package let base: String

    package init(base: String) {
        let port = base.split(separator: ":").last ?? ""
        let isUsual = base.hasPrefix("http://127.0.0.1:") || base.hasPrefix("http://[::1]:")
        self.base = isUsual ? "http://localhost:\(port)" : base
    }

    /// True if a command-line argument is an origin URL, false if it is a name.
    package static func isURL(_ word: String) -> Bool { word.contains("://") }

    /// The builder of URLs that list only the chosen tracks: `/select/quality=720p&audio=de/…`. The options of a selection are
    /// the keys, with their values as on the command line.
    package func choosing(_ choice: [(key: Selection.Key, values: [String])]) -> PlayerURL {
        guard !choice.isEmpty else { return self }
        let pairs = choice.flatMap { key, values in
            // A comma has no meaning in a path, and stays legible.
            values.map { "\(key.rawValue)=\(PercentEncoding.encode($0).replacing("%2C", with: ","))" }
        }
        return PlayerURL(base: "\(base)/select/\(pairs.joined(separator: "&"))")
    }

    /// The URL of an asset by its name.
    package func asset(named name: String) -> String { "\(base)/\(PercentEncoding.encode(name)).m3u8" }

    /// The URL of an asset by its name, in a session that never uses the network.
    package func offlineAsset(named name: String) -> String { "\(base)/offline/\(PercentEncoding.encode(name)).m3u8" }

    /// The URL of a name or an origin URL in a view, such as `offline` or `timeshift`.
    package func entry(_ word: String, in view: String) -> String { "\(base)/\(view)/\(Self.target(word))" }

    /// The end of a URL of Weir for a name or an origin URL.
    private static func target(_ word: String) -> String {
        guard !isURL(word) else { return word }
        return PercentEncoding.encode(word) + ".m3u8"
    }

    /// The URL of any resource of an origin.
    package func origin(url: String) -> String { "\(base)/\(url)" }

    /// The URL of a name or an origin URL.
    package func entry(_ word: String) -> String {
        guard !Self.isURL(word) else { return origin(url: word) }
        return asset(named: word)
    }
}
