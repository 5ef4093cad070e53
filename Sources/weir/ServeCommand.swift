import Application
import ArgumentParser

struct ServeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the daemon in the foreground.",
        discussion: """
            Prints one line when it is ready, and ends on SIGINT or SIGTERM. A service manager is notified of both (systemd: \
            Type=notify). Its sockets, if any, replace --listen; then clients wait while Weir restarts.
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: ArgumentHelp(
            "An address of this machine for players on the network, which need the token in the URL.",
            valueName: "address"))
    var lan: String?
    @Flag(help: "Do not use the network: play only stored media.")
    var offline = false
    @Flag(help: "List only complete renditions in playlists, if there are any.")
    var local = false
    @Option(
        help: ArgumentHelp(
            "The proxy for origins: http, https, socks4a, socks5 or socks5h://HOST:PORT; direct: none.",
            valueName: "url"))
    var proxy: String?
    @Option(
        help: ArgumentHelp(
            "A host that may be private although no URL names it: a name, an address or a network. May be repeated.",
            valueName: "host"))
    var allowHosts: [String] = []
    @Option(help: ArgumentHelp("A file with certificates of further authorities in PEM.", valueName: "file"))
    var caFile: String?
    @Option(help: ArgumentHelp("A folder with such files.", valueName: "dir"))
    var caFolder: String?
    @Option(help: ArgumentHelp("HTTP/2 for origins that offer it: true or false.", valueName: "choice"))
    var http2: String?
    @Option(
        help: ArgumentHelp(
            "Maximum number of parallel transfers from one host, 1 to 64. With HTTP/2, 6 and more are at least 32.",
            valueName: "n"))
    var maxParallel: String?
    @Option(help: ArgumentHelp("Maximum number of running downloads, 1 to 64.", valueName: "n"))
    var maxDownloads: String?
    @Option(
        help: ArgumentHelp(
            "Download only at this time of the day, as 22:00-06:00. May be repeated.", valueName: "hours"))
    var downloadHours: [String] = []
    @Option(help: ArgumentHelp("Downloads on a metered network: allow or pause.", valueName: "choice"))
    var metered: String?
    @Option(
        help: ArgumentHelp(
            "Downloads on battery: allow, pause, or a charge such as 30% below which they wait.", valueName: "choice"))
    var onBattery: String?
    @Flag(help: "Download only while nobody uses the machine.")
    var onlyIdle = false
    @Option(
        help: ArgumentHelp("Bytes per second of all downloads together: 500KB, 2MB, unlimited.", valueName: "size"))
    var limitRate: String?
    @Option(help: ArgumentHelp("An http or https URL that is sent the events of downloads as JSON.", valueName: "url"))
    var webhook: String?
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("An event that is sent there, such as complete. May be repeated.", valueName: "event"))
    var webhookEvents: [String] = []
    @Option(
        help: ArgumentHelp(
            "Megabytes of the disk to leave free; auto: 256 or 2 %, whichever is larger.", valueName: "MB"))
    var reserve: String?
    @Option(
        help: ArgumentHelp("Maximum size of the play cache: 500MB, 2GB, 0, unlimited.", valueName: "size"))
    var playCache: String?
    @Option(
        help: ArgumentHelp("Megabytes per second to read for verification; 0: no limit.", valueName: "MB"))
    var verifyRate: String?
    @Option(
        help: ArgumentHelp(
            "Assets to purge if the disk is full: expired, default or important, each with those before.",
            valueName: "limit"))
    var purge: String?
    @Option(
        help: ArgumentHelp(
            "Lifetime of the keys of new downloads after their fetch: 30d, or never.", valueName: "time"))
    var keysExpire: String?
    @Option(
        help: ArgumentHelp(
            "Lifetime of the keys of new downloads after the first play: 48h, or never.", valueName: "time"))
    var keysAfterFirstPlay: String?
    @Option(
        help: ArgumentHelp("Include stored media in backups, or exclude it: include or exclude.", valueName: "choice"))
    var backup: String?
    @Option(
        help: ArgumentHelp(
            "Permissions of stored media and playlists: 0600, 0640 or 0644, for a web server of another user.",
            valueName: "mode"))
    var bundleMode: String?
    @Option(help: ArgumentHelp("Permissions of stored keys: 0600, 0640 or 0644.", valueName: "mode"))
    var bundleKeysMode: String?
    @Option(
        help: ArgumentHelp(
            "A user of this machine, by name or number, who may do everything. May be repeated.", valueName: "user"))
    var users: [String] = []
    @Option(
        help: ArgumentHelp("What all other users of this machine may do: nothing or play.", valueName: "choice"))
    var otherUsers: String?
    @Option(help: ArgumentHelp("A further host name of the daemon in requests. May be repeated.", valueName: "name"))
    var hostNames: [String] = []
    @Option(help: ArgumentHelp("An origin whose web pages may use Weir. May be repeated.", valueName: "origin"))
    var allowedOrigins: [String] = []
    @Option(
        help: ArgumentHelp(
            "The User-Agent of requests for assets that no player plays. A player's own is sent while it plays.",
            valueName: "text"))
    var userAgent: String?
    @Option(
        help: ArgumentHelp(
            "The streams file: a list of streams with names, as in conf/streams.toml.", valueName: "file"))
    var streams: String?
    @Option(
        help: ArgumentHelp("Number of days for which session logs are kept, 0 to 3650; 0 for no log.", valueName: "n"))
    var logDays: String?
    @Option(help: ArgumentHelp("Minimum log level.", valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "A program to run when a download is complete, then its arguments. May be repeated.", valueName: "word"))
    var onComplete: [String] = []
    @Option(help: ArgumentHelp("The same for a download that has failed.", valueName: "word"))
    var onFail: [String] = []
    @Option(help: ArgumentHelp("The same for an asset or a key that has expired.", valueName: "word"))
    var onExpire: [String] = []
    @Option(
        help: ArgumentHelp(
            "End if for so long nothing plays, downloads, records, waits or is connected: 10m, or never. Stays if left out.",
            valueName: "time"))
    var idleExit: String?

    func execute() async throws {
        var settings: [ConfigurationKey: [String]] = [
            .hostNames: hostNames, .allowedOrigins: allowedOrigins, .allowHosts: allowHosts, .users: users,
            .downloadHours: downloadHours, .webhookEvents: webhookEvents,
            .onComplete: onComplete, .onFail: onFail, .onExpire: onExpire,
        ]
        settings[.offline] = offline ? ["true"] : nil
        settings[.local] = local ? ["true"] : nil
        settings[.onlyIdle] = onlyIdle ? ["true"] : nil
        let texts: [(ConfigurationKey, String?)] = [
            (.maxParallel, maxParallel), (.maxDownloads, maxDownloads), (.reserve, reserve), (.playCache, playCache),
            (.verifyRate, verifyRate), (.purge, purge), (.keysExpire, keysExpire),
            (.keysAfterFirstPlay, keysAfterFirstPlay), (.backup, backup), (.logDays, logDays), (.logLevel, logLevel),
            (.lan, lan), (.streams, streams), (.userAgent, userAgent), (.proxy, proxy), (.caFile, caFile),
            (.caFolder, caFolder), (.http2, http2), (.otherUsers, otherUsers),
            (.metered, metered), (.onBattery, onBattery), (.limitRate, limitRate), (.webhook, webhook),
            (.idleExit, idleExit), (.bundleMode, bundleMode), (.bundleKeysMode, bundleKeysMode),
        ]
        for (key, text) in texts { settings[key] = text.map { [$0] } }
        let configuration = try common.configuration(with: settings)
        try await Application.run(configuration, streams: try configuration.streams(), endsWhenIdle: idleExit != nil)
    }
}
