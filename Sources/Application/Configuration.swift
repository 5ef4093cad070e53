public import Library
public import Logging
public import Store

/// Everything that a user can set, each with its default.
///
/// The names of options, keys and environment variables are one list: `ConfigurationKey`. `conf/weir.toml` explains
/// each.
public struct Configuration: Equatable, Sendable {
    /// Addresses of the daemon; never empty.
    public var listen: [ListenAddress]
    /// True if `listen` was set by the user: a default address that the machine lacks may be passed over.
    public var listenIsDefault = true
    /// Address for players on the network; nil for none.
    public var lan: NetworkAddress?
    /// The folder of pieces and catalogue; absolute.
    public var store: String
    /// The folder of the token, and of the note where the daemon listens; absolute.
    public var state: String
    /// True if the process opens no socket to an origin.
    public var offline = false
    /// True if only what is stored whole is listed where there is such.
    public var local = false
    /// Most transfers at a time from one host, 1–64.
    public var maxParallel = 6
    /// Most downloads that run at a time, 1–64.
    public var maxDownloads = 3
    /// Megabytes (2²⁰ bytes) of the disk below which nothing more is kept; nil for the larger of 256 and 2 % of the
    /// disk.
    public var reserve: Int?
    /// Bytes of pieces that merely flowed above which the longest unused of them make way; nil for no limit. Ten
    /// gigabytes hold a film of two hours at 10 Mb/s, for who boards a train in the midst of it.
    public var playCache: Int64? = 10 << 30
    /// Megabytes (2²⁰ bytes) a second at which pieces are read to be verified, 0–100,000; 0 for as fast as the disk is.
    public var verifyRate = 100
    /// The assets that may be purged when the disk is full.
    public var purge = PurgePlan.Limit.expired
    /// Lifetime of the keys of new downloads.
    public var keyTerms = KeyTerms()
    /// True if tools for backups are told to pass over what is stored.
    public var isExcludedFromBackups = false
    /// Names beside localhost that may stand in a request's Host field, without port.
    public var hostNames: [String] = []
    /// Origins of web pages that may ask, as `scheme://host:port`.
    public var allowedOrigins: [String] = []
    /// Number of days for which session logs are kept, 0–3650; 0 for no log.
    public var logDays = 30
    /// The least severe level that is logged.
    public var logLevel: Logger.Level = .info
    /// The list of streams that are known by name; absolute.
    public var catalogue: String
    /// True if `catalogue` was left to its default, where no file need be.
    public var catalogueIsDefault = true
    /// The player that `play` starts: a program's name or path; empty for the first of mpv, vlc, ffplay that is there.
    public var player = ""

    /// The defaults of a user whose environment is this: the folders are those of the XDG Base Directory Specification.
    public init(environment: [String: String]) {
        listen = ListenAddress.standard
        store = Self.folder("XDG_DATA_HOME", ".local/share", environment)
        state = Self.folder("XDG_STATE_HOME", ".local/state", environment)
        catalogue = Self.folder("XDG_CONFIG_HOME", ".config", environment) + "/streams.toml"
    }

    /// The file that is read unless another one is named.
    public static func standardFile(environment: [String: String]) -> String {
        folder("XDG_CONFIG_HOME", ".config", environment) + "/weir.toml"
    }

    /// The specification has relative paths ignored.
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
