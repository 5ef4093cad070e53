package import API
package import Control
package import Downloader
package import Library
package import Logging
package import Origin
package import Store

/// All settings with their defaults; `conf/weir.toml` explains each.
package struct Configuration: Equatable, Sendable {
    /// Addresses of the daemon; never empty.
    package var listen: [ListenAddress]
    /// True if the user did not set `listen`. A default address that the machine lacks is skipped.
    package var listenIsDefault = true
    /// Address for players on the network; nil for none.
    package var lan: NetworkAddress?
    /// The absolute path of the folder of pieces and catalogue.
    package var store: String
    /// The absolute path of the folder of the token and of the daemon's URL.
    package var state: String
    /// True if the process opens no socket to an origin.
    package var offline = false
    /// True if playlists list only complete renditions, if there are any.
    package var local = false
    /// The key's proxy; nil for those of the environment.
    package var proxy: ProxyChoice?
    /// The proxies of origins, by the key and the environment.
    package var proxies = ProxyRules()
    /// Hosts that may be private although no URL of the user names them.
    package var allowedHosts: [AllowedHost] = []
    /// The authorities that sign the certificates of origins.
    package var authorities: TrustedAuthorities
    /// True if HTTP/2 is used where an origin offers it.
    package var usesHTTP2 = true
    /// Maximum number of parallel transfers from one host, 1–64; one that answers by HTTP/2 gets more.
    package var maxParallel = 6
    /// Maximum number of downloads that run at a time, 1–64.
    package var maxDownloads = 3
    /// The conditions under which downloads run.
    package var rules = DownloadRules()
    /// Most bytes per second of all downloads together; nil for no limit.
    package var limitRate: Int64?
    /// The receiver of events; nil for none.
    package var webhook: WebhookReceiver?
    /// The events that are sent there.
    package var webhookEvents = WebhookEvent.usual
    /// Megabytes (2²⁰ bytes) of the disk that stay free; nil for the larger of 256 and 2 % of the disk.
    package var reserve: Int?
    /// Maximum bytes of cached pieces; nil for no limit. Ten gigabytes hold a film of two hours at 10 Mb/s, for a
    /// viewer who loses the network halfway through.
    package var playCache: Int64? = 10 << 30
    /// Rate of verification in megabytes (2²⁰ bytes) per second, 0–100,000; 0 for no limit.
    package var verifyRate = 100
    /// The assets that may be purged when the disk is full.
    package var purge = PurgePlan.Limit.expired
    package var keyTerms = KeyTerms()
    /// The permissions of bundles.
    package var bundleMode = BundleMode()
    /// True if the store is marked so that backup programs skip it.
    package var isExcludedFromBackups = false
    /// The numbers of the users of this machine who may do everything, besides the daemon's own user and root.
    package var users: Set<UInt32> = []
    /// The rights of all other users of this machine.
    package var otherUsers = OtherUsers.nothing
    /// Names besides localhost that are accepted in a request's Host field, without port.
    package var hostNames: [String] = []
    /// Origins of web pages whose requests are accepted, as `scheme://host:port`.
    package var allowedOrigins: [String] = []
    /// The User-Agent of requests for assets that no player plays. Origins that let in only browsers and players accept it.
    package var userAgent = "Mozilla/5.0 (X11; Linux x86_64) Weir/\(Application.version)"
    /// Number of days for which session logs are kept, 0–3650; 0 for no log.
    package var logDays = 30
    package var logLevel: Logger.Level = .info
    /// The absolute path of the streams file.
    package var streamsFile: String
    /// True if the user did not set `streamsFile`. The default file need not exist.
    package var streamsFileIsDefault = true
    /// The user's handlers.
    package var handlers: [HandlerRule] = []
    /// The defaults of selections: the file's table `[selection]`.
    package var selection = API.SelectionRequest()
    /// The user's commands for events.
    package var notices = NoticeCommands()
    /// True if a command that needs the daemon starts it.
    package var startsDaemon = true
    /// Seconds without work after which a daemon that a command started ends; nil: it stays.
    package var idleExit: Int64? = 600
    /// The player of `weir play`: a program's name or path; empty for the first installed one of mpv, vlc, ffplay.
    package var player = ""

    /// Creates the defaults for a user's environment. The folders follow the XDG Base Directory Specification.
    package init(environment: [String: String]) {
        listen = ListenAddress.standard
        authorities = TrustedAuthorities(environment: environment)
        store = Self.folder("XDG_DATA_HOME", ".local/share", environment)
        state = Self.folder("XDG_STATE_HOME", ".local/state", environment)
        streamsFile = Self.folder("XDG_CONFIG_HOME", ".config", environment) + "/streams.toml"
    }

    /// The path of the settings file that is read by default.
    package static func standardFile(environment: [String: String]) -> String {
        folder("XDG_CONFIG_HOME", ".config", environment) + "/weir.toml"
    }

    private static func folder(_ variable: String, _ fallback: String, _ environment: [String: String]) -> String {
        if let base = environment[variable], base.hasPrefix("/") { return base + "/weir" }
        let home = home(environment)
        return (home == "/" ? "" : home) + "/" + fallback + "/weir"
    }

    /// Network mode at start; the stricter one if both are set.
    package var mode: PlayMode { offline ? .offline : local ? .local : .auto }

    static func home(_ environment: [String: String]) -> String {
        environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
    }

    static func hasHome(_ environment: [String: String]) -> Bool { environment["HOME"]?.hasPrefix("/") ?? false }
}
