import HTTPMessage

/// The URLs by which players reach a daemon.
public struct PlayerURL: Sendable {
    /// The daemon's own, without a slash at its end; `localhost` stands for its loopback address.
    public let base: String

    /// The URLs of the daemon that has this base URL.
    public init(base: String) {
        let port = base.split(separator: ":").last ?? ""
        let isUsual = base.hasPrefix("http://127.0.0.1:") || base.hasPrefix("http://[::1]:")
        self.base = isUsual ? "http://localhost:\(port)" : base
    }

    /// True if a word of the command line is an origin URL, false if it is a name.
    public static func isURL(_ word: String) -> Bool { word.contains("://") }

    /// An asset, by its name.
    public func asset(named name: String) -> String { "\(base)/\(PercentEncoding.encode(name)).m3u8" }

    /// An asset, by its name, in a session that never touches the network.
    public func offlineAsset(named name: String) -> String { "\(base)/offline/\(PercentEncoding.encode(name)).m3u8" }

    /// A name or an origin URL, in a session that lists what is stored whole alone where there is such.
    public func localEntry(_ word: String) -> String {
        "\(base)/local/" + (Self.isURL(word) ? word : PercentEncoding.encode(word) + ".m3u8")
    }

    /// A name or an origin URL, as one variant of which Weir chooses the quality.
    public func adaptiveEntry(_ word: String) -> String {
        "\(base)/auto/" + (Self.isURL(word) ? word : PercentEncoding.encode(word) + ".m3u8")
    }

    /// Whatever an origin has, by the URL there.
    public func origin(url: String) -> String { "\(base)/\(url)" }

    /// A name or an origin URL.
    public func entry(_ word: String) -> String { Self.isURL(word) ? origin(url: word) : asset(named: word) }
}
