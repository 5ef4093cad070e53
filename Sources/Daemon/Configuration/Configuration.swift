package import Control
package import Logging
package import Orders
package import Origin
package import Store
import WeirAPI

/// All settings with their defaults, and the table of their keys.
///
/// A new key is added here alone: a property with its default, a case of `Key`, and the case's entry. The options of
/// `weir serve`, the readers of the file and the environment, `weir config`, `conf/weir.toml` and the guide's table of
/// keys come from the entry.
package struct Configuration: Equatable, Sendable {
    /// Addresses of the daemon; never empty.
    package var listen: [ListenAddress]
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
    /// True if the machine does not sleep while something records or downloads.
    package var keepsAwake = true
    /// True if the machine is woken for planned recordings.
    package var wakesMachine = false
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
    /// Seconds of a live stream that are kept while somebody watches it, for a pause; nil for none.
    package var timeshift: Int64? = 1800
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
    /// True if it is noted where films were left.
    package var keepsHistory = true
    package var logLevel: Logger.Level = .info
    /// The absolute path of the streams file.
    package var streamsFile: String
    /// True if yt-dlp is asked for the streams of web pages.
    package var asksForPages = false
    /// The user's handlers.
    package var handlers: [HandlerRule] = []
    /// The defaults of selections: the file's table `[selection]`.
    package var selection = Selection()
    /// The user's commands for events.
    package var notices = NoticeCommands()
    /// True if a command that needs the daemon starts it.
    package var startsDaemon = true
    /// Seconds without work after which a daemon that a command started ends; nil: it stays.
    package var idleExit: Int64? = 600
    /// The player of `weir play`: a program's name or path; empty for the first installed one of mpv, vlc, ffplay.
    package var player = ""
    /// The file of hls.js for browsers that do not play HLS themselves; nil for the first of the usual places.
    package var pagePlayer: String?
    /// The keys that the user has set.
    package var given: Set<Key> = []
    /// True if the user did not set `listen`. A default address that the machine lacks is skipped.
    package var listenIsDefault: Bool { !given.contains(.listen) }

    /// Creates the defaults for a user's environment. The folders follow the XDG Base Directory Specification.
    package init(environment: [String: String]) {
        listen = ListenAddress.standard
        authorities = TrustedAuthorities(environment: environment)
        store = Self.folder(in: "XDG_DATA_HOME", else: ".local/share", environment)
        state = Self.folder(in: "XDG_STATE_HOME", else: ".local/state", environment)
        streamsFile = Self.folder(in: "XDG_CONFIG_HOME", else: ".config", environment) + "/streams.toml"
    }

    /// The path of the settings file that is read by default.
    package static func standardFile(environment: [String: String]) -> String {
        folder(in: "XDG_CONFIG_HOME", else: ".config", environment) + "/weir.toml"
    }

    /// Weir's folder in that of a variable; without one, in a folder of the home folder.
    private static func folder(
        in variable: String, else fallback: String, _ environment: [String: String]
    ) -> String {
        if let base = environment.absolutePath(inVariable: variable) {
            return base + "/weir"
        }
        let home = home(environment)
        guard home != "/" else { return "/\(fallback)/weir" }
        return "\(home)/\(fallback)/weir"
    }

    /// Network mode at start; the stricter one if both are set.
    package var mode: PlayMode {
        if offline {
            return .offline
        }
        return local ? .local : .auto
    }

    static func home(_ environment: [String: String]) -> String {
        environment.absolutePath(inVariable: "HOME") ?? "/"
    }

    static func hasHome(_ environment: [String: String]) -> Bool {
        environment.absolutePath(inVariable: "HOME") != nil
    }
}

extension Configuration {
    /// The keys, in the order of `conf/weir.toml`. A key is an option as `--key`, and an environment variable as
    /// `WEIR_KEY`.
    package enum Key: String, CaseIterable, Sendable {
        case listen
        case lan
        case store
        case state
        case offline
        case local
        case proxy
        case allowHosts = "allow-hosts"
        case caFile = "ca-file"
        case caFolder = "ca-folder"
        case http2
        case pages
        case maxParallel = "max-parallel"
        case maxDownloads = "max-downloads"
        case downloadHours = "download-hours"
        case metered
        case onBattery = "on-battery"
        case onlyIdle = "only-idle"
        case keepAwake = "keep-awake"
        case wakeMachine = "wake-machine"
        case limitRate = "limit-rate"
        case webhook
        case webhookEvents = "webhook-events"
        case reserve
        case playCache = "play-cache"
        case timeshift
        case verifyRate = "verify-rate"
        case purge
        case keysExpire = "keys-expire"
        case keysAfterFirstPlay = "keys-after-first-play"
        case backup
        case bundleMode = "bundle-mode"
        case bundleKeysMode = "bundle-keys-mode"
        case users
        case otherUsers = "other-users"
        case hostNames = "host-names"
        case allowedOrigins = "allowed-origins"
        case userAgent = "user-agent"
        case logDays = "log-days"
        case history
        case logLevel = "log-level"
        case streams
        case onComplete = "on-complete"
        case onFail = "on-fail"
        case onExpire = "on-expire"
        case start
        case idleExit = "idle-exit"
        case player
        case pagePlayer = "page-player"
    }
}

extension Configuration.Key {
    private typealias Entry = Configuration.Entry

    /// The declaration of the key.
    var entry: Configuration.Entry {
        switch self {
        case .listen:
            Entry(
                \.listen, .addresses, under: .addresses, option: .values("address"), of: .everyCommand,
                help: "Address of the daemon, such as 127.0.0.1:8216; port 0 for a free port. May be repeated.",
                manual: """
                    Addresses on which the daemon listens: loopback addresses with a port. Port 0 takes a free one;
                    `weir serve` prints which. WEIR_LISTEN takes several addresses with commas between them.
                    """)
        case .lan:
            Entry(
                \.lan, .network, under: .addresses, option: .value("address"),
                help: """
                    An address of this machine, an interface such as eth0, or auto, for players on the network, which need \
                    the token in the URL.
                    """,
                manual: """
                    An address of this machine on which other machines may play, such as "192.168.1.5", or with a port
                    of its own, "192.168.1.5:8300". "eth0" is the address of this interface, and "auto" the private one of
                    the interface with the default route: if DHCP changes it, Weir follows. Their URLs need a token, which
                    "weir url NAME --lan" prints. A phone gets a link of its own to the page, by "weir page --phone NAME".
                    The rest of the control API and /metrics are not available there. Empty: no other machine may play.
                    """)
        case .store:
            Entry(
                \.store, .folder, under: .folders, option: .value("dir"), of: .everyCommand,
                help: "Folder of the store.",
                manual: """
                    The folder for media: one folder for each asset, each playable by itself. The default follows
                    $XDG_DATA_HOME.
                    """)
        case .state:
            Entry(
                \.state, .folder, under: .folders, option: .value("dir"), of: .everyCommand,
                help: "Folder of the daemon's token, by which commands find the daemon.",
                manual: """
                    The folder for the token, the logs, and the daemon's address and socket; commands find the daemon by
                    it. The default follows $XDG_STATE_HOME.
                    """)
        case .offline:
            Entry(
                \.offline, .truth, under: .network, option: .flag(),
                help: "Do not use the network: play only stored media.",
                manual: """
                    True: Weir uses no network. It opens no connection, sends no DNS query, and plays stored media.
                    "weir mode" changes this while the daemon runs.
                    """)
        case .local:
            Entry(
                \.local, .truth, under: .network, option: .flag(),
                help: "List only complete renditions in playlists, if there are any.",
                manual: """
                    True: playlists list only complete renditions, if there are any, even for an origin's URL. Missing
                    media still comes from the origin.
                    """)
        case .proxy:
            Entry(
                \.proxy, .proxy, under: .wayToOrigins, option: .value("url"),
                help: "The proxy for origins: http, https, socks4a, socks5 or socks5h://HOST:PORT; direct: none.",
                manual: """
                    The proxy for all origins, for instance "http://proxy.home.arpa:3128". Kinds are http, https,
                    socks4a, socks5 and socks5h; with socks5 Weir resolves names, with the others the proxy does.
                    "http://USER:PASSWORD@HOST:PORT" for a proxy with credentials, which are shown nowhere. "direct"
                    uses none. Empty: the variables http_proxy, https_proxy and all_proxy, which a service does not
                    have. The variable no_proxy excepts hosts in each case, and this machine is always excepted.
                    """)
        case .allowHosts:
            Entry(
                // The commands' option for one asset has this name too.
                \.allowedHosts, .hosts, under: .wayToOrigins, option: .values("host"), named: "allow-host",
                help: """
                    A host that may be private although no URL names it: a name, an address or a network. May be \
                    repeated.
                    """,
                manual: """
                    Hosts that may have a private address although no URL of yours names them: names ("nas.local",
                    "*.example.com"), addresses and networks ("192.168.0.0/16"), with a port ("nas.local:9000") or
                    without. For playlists and redirects of home servers.
                    """)
        case .caFile:
            Entry(
                \.authorities.file, .readableFile, under: .wayToOrigins, option: .value("file"),
                help: "A file with certificates of further authorities in PEM.",
                manual: """
                    A file with certificates of authorities in PEM, beside the system's, for origins whose authority is
                    private or that leave out an intermediate certificate. SSL_CERT_FILE and CURL_CA_BUNDLE name a file
                    instead of the system's. Read when the daemon starts.
                    """)
        case .caFolder:
            Entry(
                \.authorities.folder, .readableFolder, under: .wayToOrigins, option: .value("dir"),
                help: "A folder with such files.",
                manual: """
                    A folder with such files (.pem, .crt, .cer). SSL_CERT_DIR names one too.
                    """)
        case .http2:
            Entry(
                \.usesHTTP2, .truth, under: .wayToOrigins, option: .value("choice"),
                help: "HTTP/2 for origins that offer it: true or false.",
                manual: """
                    HTTP/2 for origins that offer it: many requests on one connection. false: HTTP/1.1 for all. Weir
                    goes back to HTTP/1.1 by itself where an origin's HTTP/2 fails.
                    """)
        case .pages:
            Entry(
                \.asksForPages, .choice(false: "off", true: "yt-dlp"), under: .wayToOrigins, option: .value("choice"),
                help: "Ask yt-dlp for the stream where a URL of yours leads to a web page: off or yt-dlp.",
                manual: """
                    "yt-dlp": where a URL that you give yourself answers with a web page, Weir runs yt-dlp, which must be
                    installed, and plays or downloads the HLS stream that it finds there. It runs without a shell, for at
                    most 50 s, with your own yt-dlp settings. "off": it is not run, and the URL is refused.
                    """)
        case .maxParallel:
            Entry(
                \.maxParallel, .number(in: 1...64), under: .network, option: .value("n"),
                help: """
                    Maximum number of parallel transfers from one host, 1 to 64. With HTTP/2, 6 and more are at \
                    least 32.
                    """,
                manual: """
                    Maximum number of parallel transfers from one host, 1 to 64. An origin that answers by HTTP/2 gets
                    32, unless this is less than 6 or more than 32. A download begins with one transfer, and adds more
                    as long as that makes it faster.
                    """)
        case .maxDownloads:
            Entry(
                \.maxDownloads, .number(in: 1...64), under: .network, option: .value("n"),
                help: "Maximum number of running downloads, 1 to 64.",
                manual: """
                    Maximum number of running downloads, 1 to 64; further ones are queued.
                    """)
        case .downloadHours:
            Entry(
                \.rules.hours, .hours, under: .rules, option: .values("hours"),
                help: "Download only at this time of the day, as 22:00-06:00. May be repeated.",
                manual: """
                    Times of the day in which downloads may run, in local time, such as ["22:00-06:00", "12:00-13:00"];
                    over midnight too. Empty: always. This and the next three keys are rules for downloads, each with an
                    option of "weir get" and "weir add" for one download. What a rule stops waits, with its reason in
                    "weir list", and goes on by itself when the rule ends. Players are never stopped by a rule.
                    Recordings are, and say so; --ignore-rules records all the same.
                    """)
        case .metered:
            Entry(
                \.rules.metered, .metered, under: .rules,
                option: .value("choice"),
                help: "Downloads on a metered network: allow or pause.",
                manual: """
                    Downloads while the network is metered, as NetworkManager knows it (a phone's hotspot, for
                    instance): "allow" or "pause". Without NetworkManager, no network counts as metered.
                    """)
        case .onBattery:
            Entry(
                \.rules.battery, .battery, under: .rules, option: .value("choice"),
                help: "Downloads on battery: allow, pause, or a charge such as 30% below which they wait.",
                manual: """
                    Downloads while the machine runs on battery: "allow", "pause", or a charge such as "30%" below which
                    they wait.
                    """)
        case .onlyIdle:
            Entry(
                \.rules.onlyIdle, .truth, under: .rules, option: .flag(),
                help: "Download only while nobody uses the machine.",
                manual: """
                    true: downloads run only while nobody uses the machine, by the IdleHint of systemd-logind, which
                    desktops set some minutes after the last key. On a machine without logind they run always.
                    """)
        case .keepAwake:
            Entry(
                \.keepsAwake, .truth, under: .rules, option: .value("choice"),
                help: "Keep the machine from sleeping while something records or downloads: true or false.",
                manual: """
                    The machine does not sleep while something records or downloads: Weir asks systemd-logind for that, and
                    "systemd-inhibit --list" shows it. A lid that is closed still puts a laptop to sleep. false: it sleeps.
                    """)
        case .wakeMachine:
            Entry(
                \.wakesMachine, .truth, under: .rules, option: .flag(),
                help: "Wake the machine for planned recordings.",
                manual: """
                    true: a machine that sleeps wakes a minute before a planned recording. Weir sets a timer of your own
                    systemd, "systemctl --user list-timers" shows it. Debian 13 allows that; Debian 12 after one line as
                    root: see the guide, "Recording and live".
                    """)
        case .limitRate:
            Entry(
                \.limitRate, .rate, under: .rules, option: .value("size"),
                help: "Bytes per second of all downloads together: 500KB, 2MB, unlimited.",
                manual: """
                    Bytes per second of all downloads together: "500KB", "2MB" or "unlimited". Players are not limited.
                    """)
        case .webhook:
            Entry(
                \.webhook, .webhook, under: .events, option: .value("url"),
                help: "An http or https URL that is sent the events of downloads as JSON.",
                manual: """
                    An http or https URL that is sent the events of downloads as JSON, by POST, such as
                    "http://127.0.0.1:8080/weir". A failed request is repeated for a minute.
                    "http://USER:PASSWORD@HOST/" for a receiver with credentials. Empty: none.
                    """)
        case .webhookEvents:
            Entry(
                \.webhookEvents, .webhookEvents, under: .events, option: .values("event"),
                help: "An event that is sent there, such as complete. May be repeated.",
                manual: """
                    The events that are sent there: selection-resolved, selection-complete, selections-further,
                    complete, failed, waiting, expired, purged, content-changed or removed.
                    """)
        case .reserve:
            Entry(
                \.reserve, .reserve, under: .disk, option: .value("MB"),
                help: "Megabytes of the disk to leave free; auto: 256 or 2 %, whichever is larger.",
                manual: """
                    Megabytes of each disk that are left free for others. With less free, nothing more is stored and
                    streams play through. "auto" is the larger of 256 and 2 % of the disk.
                    """)
        case .playCache:
            Entry(
                \.playCache, .size, under: .disk, option: .value("size"),
                help: "Maximum size of the play cache: 500MB, 2GB, 0, unlimited.",
                manual: """
                    Size of the play cache: media that was cached by playback, for instance "500MB", "2GB" or
                    "unlimited". Above it, the least recently used media is evicted, but never a download, a recording,
                    or what a player is about to need. "0" keeps no more than players need at the moment.
                    """)
        case .timeshift:
            Entry(
                \.timeshift, .timeshift, under: .disk, option: .value("time"),
                help: "Time for which live media that somebody watches can be paused: 30m, or off.",
                manual: """
                    Time of a live stream that is kept while somebody watches it, so that players can pause and go back:
                    for instance "30m", or "off". It counts as a part of the play cache, is never in the list of assets,
                    and is gone two minutes after the last player has left. While a player is paused, the stream is
                    fetched for it, but not on a metered network with metered = "pause".
                    """)
        case .verifyRate:
            Entry(
                \.verifyRate, .number(in: 0...100_000), under: .disk, option: .value("MB"),
                help: "Megabytes per second to read for verification; 0: no limit.",
                manual: """
                    Megabytes per second at which stored pieces are read to check them for damage: by "weir verify", and
                    for each asset every 30 days while nothing plays and nothing is downloaded. 0 is as fast as the
                    disk.
                    """)
        case .purge:
            Entry(
                \.purge, .purge, under: .disk, option: .value("limit"),
                help: "Assets to purge if the disk is full: expired, default or important, each with those before.",
                manual: """
                    What is purged when the disk is full, beside the play cache. "expired": assets that have expired by
                    "weir policy". "default": downloads as well, the longest unplayed first, but none that "weir policy"
                    calls important, and no recording. "important": these as well, after all others. Nothing that is
                    being played is purged. The log and "weir list" show what was purged.
                    """)
        case .keysExpire:
            Entry(
                \.keyTerms.lifetime, .duration, under: .encryptionKeys, option: .value("time"),
                help: "Lifetime of the keys of new downloads after their fetch: 30d, or never.",
                manual: """
                    Time after which the keys of new downloads expire, counted from when each key was fetched, for
                    instance "30d". An expired key is given to no player, but the media stays, and "weir keys NAME
                    --renew" makes it playable again. "weir policy NAME --keys-expire" overrides this for one asset.
                    While Weir is online, it renews keys by itself a day before they expire, or after half of a shorter
                    time.
                    """)
        case .keysAfterFirstPlay:
            Entry(
                \.keyTerms.afterFirstPlay, .duration, under: .encryptionKeys, option: .value("time"),
                help: "Lifetime of the keys of new downloads after the first play: 48h, or never.",
                manual: """
                    As keys-expire, but counted from the first time that the key is played, for instance "48h".
                    """)
        case .backup:
            Entry(
                \.isExcludedFromBackups, .choice(false: "include", true: "exclude"), under: .disk,
                option: .value("choice"),
                help: "Include stored media in backups, or exclude it: include or exclude.",
                manual: """
                    Backups of stored media: "include", or "exclude" to mark the folder of media with CACHEDIR.TAG for
                    tools that look for it. The catalogue is not affected. "weir policy NAME --backup exclude" marks one
                    asset.
                    """)
        case .bundleMode:
            Entry(
                \.bundleMode.files, .permissions, under: .disk, option: .value("mode"),
                help: """
                    Permissions of stored media and playlists: 0600, 0640 or 0644, for a web server of another user.
                    """,
                manual: """
                    Permissions of stored media and playlists: "0600", "0640" for the group or "0644" for every user,
                    for instance for a web server that serves the folder "assets" of the store, where each complete
                    asset is plain HLS. Other users can then pass through the folders above; the folder of the store
                    itself must be reachable for them. Changes apply to what is stored already.
                    """)
        case .bundleKeysMode:
            Entry(
                \.bundleMode.keys, .permissions, under: .disk, option: .value("mode"),
                help: "Permissions of stored keys: 0600, 0640 or 0644.",
                manual: """
                    The same for the keys of encrypted media, which other users do not get with the media alone.
                    """)
        case .users:
            Entry(
                \.users, .users, under: .users, option: .values("user"),
                help: "A user of this machine, by name or number, who may do everything. May be repeated.",
                manual: """
                    Users of this machine, beside the daemon's own and root, whose programs may do everything that the
                    daemon's own user may without the token: ["alice", "1001"]. Weir asks the kernel whose process a
                    connection to a loopback address is.
                    """)
        case .otherUsers:
            Entry(
                \.otherUsers, .otherUsers, under: .users, option: .value("choice"),
                help: "What all other users of this machine may do: nothing or play.",
                manual: """
                    What all other users of this machine may do. "nothing": each request is refused. "play": play and
                    open URLs, but neither list nor change anything, nor play what has a limited time that has not
                    begun. With the token, everything.
                    """)
        case .hostNames:
            Entry(
                \.hostNames, .texts, under: .addresses, option: .values("name"),
                help: "A further host name of the daemon in requests. May be repeated.",
                manual: """
                    Names beside localhost by which players may address the daemon, for instance ["media.home.arpa"].
                    Requests under any other name are refused, so that no web page can reach Weir by a name of its own.
                    """)
        case .allowedOrigins:
            Entry(
                \.allowedOrigins, .origins, under: .addresses, option: .values("origin"),
                help: "An origin whose web pages may use Weir. May be repeated.",
                manual: """
                    Origins of web pages that may load from Weir, for instance ["http://localhost:3000"]. Others are
                    refused.
                    """)
        case .userAgent:
            Entry(
                \.userAgent, .agent, under: .wayToOrigins, option: .value("text"),
                help: """
                    The User-Agent of requests for assets that no player plays. A player's own is sent while it \
                    plays.
                    """,
                manual: """
                    The User-Agent of requests for assets that no player plays, such as downloads. While a player plays,
                    its own is sent, and one that was given by --header goes before both. Weir's own passes gates that
                    know only browsers and players.
                    """)
        case .logDays:
            Entry(
                \.logDays, .number(in: 0...3650), under: .logs, option: .value("n"),
                help: "Number of days for which session logs are kept, 0 to 3650; 0 for no log.",
                manual: """
                    Days for which the logs of sessions are kept, 0 to 3650: access and errors, a file a day in the
                    state folder's log/. 0 keeps no log.
                    """)
        case .history:
            Entry(
                \.keepsHistory, .truth, under: .logs, option: .value("choice"),
                help: "Note where films were left, to go on there: true or false.",
                manual: """
                    Notes where films were left, in the state folder's file history: "weir play" goes on there, and
                    "weir list" shows how much was seen. false deletes the file and notes nothing.
                    """)
        case .logLevel:
            Entry(
                \.logLevel, .level, under: .logs, option: .value("level"),
                help: "Minimum log level.",
                manual: """
                    Minimum log level on standard error: trace, debug, info, notice, warning, error or critical.
                    """)
        case .streams:
            Entry(
                \.streamsFile, .file, under: .folders, option: .value("file"),
                help: "The streams file: a list of streams with names, as in conf/streams.toml.",
                manual: """
                    The streams file: a list of streams that Weir knows by name, as in conf/streams.toml. "weir list"
                    shows them, and nothing is fetched of them until they are played or downloaded. The default follows
                    $XDG_CONFIG_HOME. The file need not exist.
                    """)
        case .onComplete:
            Entry(
                \.notices.complete, .command, under: .programs, option: .values("word"),
                help: "A program to run when a download is complete, then its arguments. May be repeated.",
                manual: """
                    A program and its arguments, to run when a download is complete, for instance
                    ["/usr/share/weir/hooks/notify"]. It runs without a shell and with a small environment, one event
                    after the other, for at most 30 s each. WEIR_EVENT is complete, failed or expired; WEIR_ASSET is the
                    name, and WEIR_ASSET_ID, WEIR_ASSET_TITLE, WEIR_ASSET_PATH, WEIR_ASSET_BYTES, WEIR_ASSET_DURATION
                    and WEIR_CAUSE say more, each where it is known. Standard input is one JSON object:
                    {"v":1,"t":"complete","asset":{…}}, with the asset as in the API.
                    """)
        case .onFail:
            Entry(
                \.notices.failed, .command, under: .programs, option: .values("word"),
                help: "The same for a download that has failed.",
                manual: """
                    The same for a download that has failed and does not continue by itself.
                    """)
        case .onExpire:
            Entry(
                \.notices.expired, .command, under: .programs, option: .values("word"),
                help: "The same for an asset or a key that has expired.",
                manual: """
                    The same for an asset that has expired by "weir policy", or a key that has, also while no daemon
                    ran.
                    """)
        case .start:
            Entry(
                \.startsDaemon, .truth, under: .background, option: .flag(false), of: .starting,
                help: "Do not start the daemon if none runs.",
                manual: """
                    True: a command that needs the daemon starts it where none runs, by the user's service manager if
                    Weir's units are enabled there, else in the background, with its log in the state folder. The option
                    is --no-start, and each such command has it.
                    """)
        case .idleExit:
            Entry(
                \.idleExit, .duration, under: .background, option: .value("time"),
                help: """
                    End if for so long nothing plays, downloads, records, waits or is connected: 10m, or never. \
                    Stays if left out.
                    """,
                manual: """
                    Time after which a daemon in the background ends if nothing plays, downloads, records, waits or is
                    connected: "10m", or "never". It is for daemons that a command has started. "weir serve" stays,
                    unless it has the option --idle-exit. A player that is paused counts as connected for 12 hours.
                    """)
        case .player:
            Entry(
                \.player, .program, under: .play, option: .value("program"), of: .play,
                help: "The player; if left out, mpv, vlc or ffplay.",
                manual: """
                    The player that `weir play` starts. Empty: the first of mpv, vlc and ffplay that is installed.
                    """)
        case .pagePlayer:
            Entry(
                \.pagePlayer, .readableFile, under: .play, option: .value("file"),
                help: "The file of hls.js, by which the page plays in browsers without HLS, such as Firefox.",
                manual: """
                    The file of hls.js (hls.mjs or hls.min.js, 1.4 or later), by which the page plays in browsers that do
                    not play HLS themselves, such as Firefox. It is never fetched. Empty: the first that is there of
                    hls.mjs in ~/.local/share/weir, in share/weir beside the program, and hls.js as npm or a package
                    installs it. Without it the page starts the player of "weir play".
                    """)
        }
    }
}
