import Application
import ArgumentParser

/// `weir serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the daemon in the foreground.",
        discussion: """
            It prints one line when it is ready, and ends at SIGINT or SIGTERM. A service manager that is to be notified of both \
            does, as of systemd (Type=notify); sockets that it hands over are used in place of --listen: who connects while \
            Weir is started anew waits for it.
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "An address of this machine where others on the network may play, with a token in the URL.",
            valueName: "address"))
    var lan: String?

    @Flag(help: "Stay off the network: play what is stored.")
    var offline = false

    @Flag(help: "Where something is stored whole, offer that alone.")
    var local = false

    @Option(help: ArgumentHelp("Most transfers at a time from one host, 1 to 64.", valueName: "n"))
    var maxParallel: String?

    @Option(help: ArgumentHelp("Most downloads that run at a time, 1 to 64.", valueName: "n"))
    var maxDownloads: String?

    @Option(
        help: ArgumentHelp("Megabytes of the disk to leave free; auto: the larger of 256 and 2 %.", valueName: "MB"))
    var reserve: String?

    @Option(
        help: ArgumentHelp(
            "How much is kept of what is played and not downloaded: 500MB, 2GB, 0, unlimited.", valueName: "size"))
    var playCache: String?

    @Option(
        help: ArgumentHelp(
            "Megabytes a second at which pieces are read to be verified; 0: as fast as the disk is.", valueName: "MB"))
    var verifyRate: String?

    @Option(
        help: ArgumentHelp(
            "What is purged where the disk is full: expired, default or important; each with those before it.",
            valueName: "limit"))
    var purge: String?

    @Option(
        help: ArgumentHelp(
            "How long keys of what is downloaded from now on are used from when they came: 30d, or never.",
            valueName: "time"))
    var keysExpire: String?

    @Option(
        help: ArgumentHelp("The same from the first time on that it is played: 48h, or never.", valueName: "time"))
    var keysAfterFirstPlay: String?

    @Option(help: ArgumentHelp("Whether backups have what is stored: include or exclude.", valueName: "wish"))
    var backup: String?

    @Option(help: ArgumentHelp("A name by which players may call the daemon. May be repeated.", valueName: "name"))
    var hostNames: [String] = []

    @Option(help: ArgumentHelp("An origin whose web pages may load from Weir. May be repeated.", valueName: "origin"))
    var allowedOrigins: [String] = []

    @Option(help: ArgumentHelp("A list of streams to be known by name, as conf/streams.toml.", valueName: "file"))
    var catalogue: String?

    @Option(help: ArgumentHelp("How many days' logs of sessions are kept, 0 to 3650; 0 for none.", valueName: "n"))
    var logDays: String?

    @Option(help: ArgumentHelp("Minimum log level.", valueName: "level"))
    var logLevel: String?

    func run() async throws {
        try await reporting(common) {
            var settings: [ConfigurationKey: [String]] = [.hostNames: hostNames, .allowedOrigins: allowedOrigins]
            settings[.offline] = offline ? ["true"] : nil
            settings[.local] = local ? ["true"] : nil
            settings[.maxParallel] = maxParallel.map { [$0] }
            settings[.maxDownloads] = maxDownloads.map { [$0] }
            settings[.reserve] = reserve.map { [$0] }
            settings[.playCache] = playCache.map { [$0] }
            settings[.verifyRate] = verifyRate.map { [$0] }
            settings[.purge] = purge.map { [$0] }
            settings[.keysExpire] = keysExpire.map { [$0] }
            settings[.keysAfterFirstPlay] = keysAfterFirstPlay.map { [$0] }
            settings[.backup] = backup.map { [$0] }
            settings[.logDays] = logDays.map { [$0] }
            settings[.logLevel] = logLevel.map { [$0] }
            settings[.lan] = lan.map { [$0] }
            settings[.catalogue] = catalogue.map { [$0] }
            let configuration = try common.configuration(with: settings)
            try await Application.run(configuration, streams: try configuration.streams())
        }
    }
}
