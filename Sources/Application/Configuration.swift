public import Library
public import Logging
public import Store

/// All settings with their defaults.
///
/// `ConfigurationKey` lists the names of options, keys and environment variables. `conf/weir.toml` explains each.
public struct Configuration: Equatable, Sendable {
    /// Addresses of the daemon; never empty.
    public var listen: [ListenAddress]
    /// True if the user did not set `listen`. A default address that the machine lacks is skipped.
    public var listenIsDefault = true
    /// Address for players on the network; nil for none.
    public var lan: NetworkAddress?
    /// The absolute path of the folder of pieces and catalogue.
    public var store: String
    /// The absolute path of the folder of the token and of the daemon's URL.
    public var state: String
    /// True if the process opens no socket to an origin.
    public var offline = false
    /// True if playlists list only complete renditions, if there are any.
    public var local = false
    /// Maximum number of parallel transfers from one host, 1–64.
    public var maxParallel = 6
    /// Maximum number of downloads that run at a time, 1–64.
    public var maxDownloads = 3
    /// Free space of the disk, in megabytes (2²⁰ bytes), that Weir does not use; nil for the larger of 256 and 2 % of
    /// the disk.
    public var reserve: Int?
    /// Maximum size of cached pieces in bytes, above which the least recently used ones are evicted; nil for no limit.
    /// The default of ten gigabytes holds a film of two hours at 10 Mb/s, for a viewer who loses the network halfway
    /// through.
    public var playCache: Int64? = 10 << 30
    /// Rate of verification in megabytes (2²⁰ bytes) per second, 0–100,000; 0 for no limit.
    public var verifyRate = 100
    /// The assets that may be purged when the disk is full.
    public var purge = PurgePlan.Limit.expired
    /// Lifetime of the keys of new downloads.
    public var keyTerms = KeyTerms()
    /// True if the store is marked so that backup programs skip it.
    public var isExcludedFromBackups = false
    /// Names besides localhost that are accepted in a request's Host field, without port.
    public var hostNames: [String] = []
    /// Origins of web pages whose requests are accepted, as `scheme://host:port`.
    public var allowedOrigins: [String] = []
    /// Number of days for which session logs are kept, 0–3650; 0 for no log.
    public var logDays = 30
    /// Minimum log level.
    public var logLevel: Logger.Level = .info
    /// The absolute path of the streams file.
    public var catalogue: String
    /// True if the user did not set `catalogue`. The default file need not exist.
    public var catalogueIsDefault = true
    /// The player of `weir play`: a program's name or path; empty for the first installed one of mpv, vlc, ffplay.
    public var player = ""

    /// Creates the defaults for a user's environment. The folders follow the XDG Base Directory Specification.
    public init(environment: [String: String]) {
        listen = ListenAddress.standard
        store = Self.folder("XDG_DATA_HOME", ".local/share", environment)
        state = Self.folder("XDG_STATE_HOME", ".local/state", environment)
        catalogue = Self.folder("XDG_CONFIG_HOME", ".config", environment) + "/streams.toml"
    }

    /// The path of the settings file that is read by default.
    public static func standardFile(environment: [String: String]) -> String {
        folder("XDG_CONFIG_HOME", ".config", environment) + "/weir.toml"
    }

    /// The specification requires that relative paths are ignored.
    private static func folder(_ variable: String, _ fallback: String, _ environment: [String: String]) -> String {
        if let base = environment[variable], base.hasPrefix("/") { return base + "/weir" }
        let home = home(environment)
        return (home == "/" ? "" : home) + "/" + fallback + "/weir"
    }

    /// Network mode at start; the stricter one if both are set.
    public var mode: PlayMode { offline ? .offline : local ? .local : .auto }

    static func home(_ environment: [String: String]) -> String {
        environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
    }

    static func hasHome(_ environment: [String: String]) -> Bool { environment["HOME"]?.hasPrefix("/") ?? false }
}
