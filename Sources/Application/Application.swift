internal import API
internal import Control
internal import EventLoop
internal import Foundation
internal import Glibc
public import Library
internal import Logging

/// The composition root: builds the rooms in order, serves until it is told to stop, and takes them down in reverse.
public enum Application {
    /// Output of `weir --version`.
    public static let version = "0.1.0"

    /// Runs the daemon until SIGINT or SIGTERM.
    ///
    /// Prints one line when it is ready: `weir is listening on http://127.0.0.1:8216`. A service manager that wants to
    /// know hears of that, and of the end.
    ///
    /// - Parameter streams: what is known by name, of `Configuration.streams()`.
    /// - Throws: `ApplicationError` for what keeps it from serving.
    public static func run(
        _ configuration: Configuration, streams: [KnownStream] = []
    ) async throws(ApplicationError) {
        let environment = ProcessInfo.processInfo.environment
        let inherited = try InheritedSockets.descriptors(environment)
        let claim: StateClaim
        do {
            claim = try StateDirectory(configuration.state).claim()
        } catch {
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        StandardErrorLog.install(level: configuration.logLevel, environment: environment)
        let logger = Logger(label: "weir")
        let daemon = try await Daemon(configuration, streams: streams, token: claim.token, logger: logger)
        let url = try await daemon.start(configuration, inherited: inherited)
        let lan = try await openNetwork(configuration, claim, daemon, url)
        do {
            try claim.publish(url: url)
        } catch {
            await daemon.stop()
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        let invitation = lan.map { Self.invitation($0) }
        let manager = ServiceManager(environment)
        // Whoever hears that it is ready may end it at once.
        let signal = await Signals.first(of: [SIGINT, SIGTERM]) {
            print("weir is listening on \(url)")
            if let invitation { print(invitation) }
            fflush(nil)  // Whoever started the daemon through a pipe waits for this line.
            report(to: logger) { () throws(ApplicationError) in try manager.ready(status: "listening on \(url)") }
        }
        report(to: logger) { () throws(ApplicationError) in try manager.stopping(status: "stopping") }
        logger.info("stopping\(signal.map { " on signal \($0)" } ?? "")")
        claim.withdraw()
        await daemon.stop()
    }

    /// A manager that cannot be told is none of the players' business.
    private static func report(to logger: Logger, _ body: () throws(ApplicationError) -> Void) {
        do { try body() } catch { logger.warning("\(error)") }
    }

    /// Lets the network in, where it was asked for; else nil.
    private static func openNetwork(
        _ configuration: Configuration, _ claim: StateClaim, _ daemon: Daemon, _ url: String
    ) async throws(ApplicationError) -> String? {
        guard let address = configuration.lan else { return nil }
        let port = UInt16(url.split(separator: ":").last ?? "") ?? ListenAddress.standardPort
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

    /// What tells a person how others get in. The token goes to a terminal alone: what is written elsewhere may be a log.
    private static func invitation(_ lan: String) -> String {
        guard isatty(STDOUT_FILENO) != 0 else {
            return "the network is let in; \"weir url NAME --lan\" tells the URL, with its token"
        }
        let picture = QRCode.lines(of: lan + "/") ?? "with qrencode installed, a picture for a phone would be here"
        return "on the network: \(lan)/\n\(picture)"
    }
}
