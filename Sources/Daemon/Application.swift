package import Assets
internal import CDocument
internal import Control
internal import EventLoop
internal import Foundation
internal import Glibc
internal import Logging
internal import Origin
internal import Store
internal import WeirAPI

/// The composition root: builds the rooms in order, serves until a signal, and stops the rooms in reverse order.
package enum Application {
    /// The version of the product, as in the names of its packages.
    package static let version = "0.2.0"

    /// Output of `weir --version`: the version and the commit, and the versions of the libraries that are loaded.
    package static var versionText: String {
        let commit = String(cString: weir_commit())
        return """
            weir \(version)\(commit.isEmpty ? "" : " (\(commit))")
            libcurl \(OriginClient.library.version), libevent \(LoopThread.libraryVersion), SQLite \(Catalogue.libraryVersion)
            """
    }

    /// Runs the daemon until SIGINT or SIGTERM. Prints one line when it is ready, and notifies a service manager of the
    /// start and the stop.
    ///
    /// - Parameter endsWhenIdle: true if the daemon also ends after `idleExit` without work.
    package static func run(
        _ configuration: Configuration, streams: [KnownStream] = [], endsWhenIdle: Bool = false
    ) async throws(ApplicationError) {
        let environment = ProcessInfo.processInfo.environment
        DescriptorLimit.raise()
        ProcessMemory.configure()
        let inherited = try InheritedSockets.descriptors(environment)
        let claim: StateClaim
        do {
            claim = try StateDirectory(configuration.state).claim()
        } catch {
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        StandardErrorLog.install(
            level: configuration.logLevel, environment: environment,
            file: "\(configuration.state)/\(DaemonStarter.logFile)")
        let logger = Logger(label: "weir")
        let daemon = try await RunningDaemon(
            configuration, streams: streams, token: claim.token, environment: environment, logger: logger)
        await ProcessMemory.trimAfterWork()
        let url = try await daemon.start(configuration, inherited: inherited, claim)
        if let path = claim.prepareSocket() {
            await daemon.open(socket: path)
        }
        var idleExit: Int64?
        if endsWhenIdle {
            idleExit = configuration.idleExit
            // A daemon in the background must not keep the disk of a command's folder from being unmounted.
            _ = chdir("/")
        }
        let lan = try await openNetwork(configuration, claim, for: daemon, at: url)
        do {
            try claim.publish(url: url, record: record(idleExit: idleExit, store: configuration.store))
        } catch {
            await daemon.stop()
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        let invitation = lan.map { Self.invitation($0) }
        let manager = ServiceManager(environment)
        let end = await firstEnd(of: daemon, idleExit: idleExit) {
            print("weir is listening on \(url)")
            if let invitation {
                print(invitation)
            }
            if isatty(STDOUT_FILENO) != 0 {
                print(nextCommands(url))
            }
            fflush(nil)  // A program that started the daemon through a pipe waits for this line.
            report(to: logger) { () throws(ApplicationError) in try manager.ready(status: "listening on \(url)") }
        }
        report(to: logger) { () throws(ApplicationError) in try manager.stopping(status: "stopping") }
        logger.info("stopping \(end)")
        claim.withdraw()
        await daemon.stop()
        StandardErrorLog.end(environment: environment)
    }

    /// Waits for the first reason to end, and returns it in words.
    ///
    /// Catches signals before `begun` prints the first line: a reader of the line may end the process at once.
    private static func firstEnd(
        of daemon: RunningDaemon, idleExit: Int64?, _ begun: @escaping @Sendable () -> Void
    ) async -> String {
        await withTaskGroup(of: String.self) { group in
            group.addTask {
                guard let signal = await Signals.first(of: [SIGINT, SIGTERM], begun: begun) else { return "early" }
                return "on signal \(signal)"
            }
            if let idleExit {
                group.addTask {
                    await daemon.idle(for: .seconds(idleExit))
                    return "after \(TimeSpan.text(idleExit)) without work"
                }
            }
            let end = await group.next() ?? "early"
            group.cancelAll()
            return end
        }
    }

    private static func record(idleExit: Int64?, store: String) -> DaemonRecord {
        DaemonRecord(
            version: version, process: getpid(), started: Int(Date().timeIntervalSince1970),
            idleExit: idleExit.map { Int($0) }, store: store)
    }

    /// The next steps for a user at a terminal.
    private static func nextCommands(_ url: String) -> String {
        let url = PlayerURL(base: url).origin(url: "https://example.com/master.m3u8")
        return """
            in another terminal:
              mpv \(url)    plays any HLS stream, and keeps what it plays
              weir get https://example.com/master.m3u8    downloads it
              weir page --open    shows everything in the browser
            """
    }

    /// Logs a failure to notify the service manager. Players are not affected by it.
    private static func report(to logger: Logger, _ body: () throws(ApplicationError) -> Void) {
        do { try body() } catch { logger.warning("\(error)") }
    }

    /// Listens on the network if that is configured; nil otherwise.
    private static func openNetwork(
        _ configuration: Configuration, _ claim: StateClaim, for daemon: RunningDaemon, at url: String
    ) async throws(ApplicationError) -> String? {
        guard let address = configuration.lan else { return nil }
        let port = ListenAddress.port(ofURL: url) ?? ListenAddress.standardPort
        do {
            return try await daemon.open(address, port: port, token: try claim.mediaToken())
        } catch {
            await daemon.stop()
            guard let refused = error as? APIError else {
                throw error as? ApplicationError ?? ApplicationError(.address, "\(error)", underlying: error)
            }
            throw ApplicationError(.stateDirectory, refused.message, next: refused.next, underlying: refused)
        }
    }

    /// A text that explains how to play from another device. The token is shown on a terminal only: other outputs may
    /// be logs.
    private static func invitation(_ lan: String) -> String {
        guard isatty(STDOUT_FILENO) != 0 else {
            return "players on the network are admitted; \"weir url NAME --lan\" prints the URL, with its token"
        }
        let picture = QRCode.lines(of: lan + "/") ?? "install qrencode to see a QR code for a phone here"
        return "on the network: \(lan)/\n\(picture)"
    }
}
