import Assets
package import EventLoop
import HTTPMessage
package import HTTPServer
package import Playback
import Retention
import Sessions
import Substitution
package import TestSupport

/// A server for players on a port of its own, with logs.
@LoopActor package final class PlayerServer {
    package struct Configuration: Sendable {
        /// The longest time that a player waits for the first byte.
        package var playerTimeout = Duration.seconds(8)
        /// The limits of time shifts of live streams; nil for none.
        package var timeShift: TimeShifts.Limits?
        /// The server's limits.
        package var http = WebServer.Configuration()
        /// Called with each request, before it is answered.
        package var seen: @LoopActor (Exchange) -> Void = { _ in }
    }

    package let playback: PlayerRoutes
    package let server: WebServer
    package let connections: ConnectionPool
    package let port: Int
    /// The logs are in its folder `log`.
    package let logs: TemporaryFolder

    init(
        _ configuration: Configuration, library: Library, substitutions: Substitutions, retention: RetentionService,
        clock: TestClock?
    ) throws {
        logs = try TemporaryFolder()
        var sessions = SessionRecords.Configuration()
        if let clock {
            sessions = SessionRecords.Configuration { clock.exactDate }
        }
        sessions.folder = logs.path("log")
        sessions.software = "Weir/test"
        let playback = PlayerRoutes(
            library: library, substitutions: substitutions, retention: retention,
            playerTimeout: configuration.playerTimeout, timeShift: configuration.timeShift, logs: sessions)
        self.playback = playback
        connections = ConnectionPool(limit: configuration.http.connections)
        server = WebServer(configuration: configuration.http, pool: connections) { exchange in
            configuration.seen(exchange)
            if !playback.handle(exchange) {
                exchange.reply(.notFound, "Not a player's.")
            }
        }
        port = Int(try server.listen(host: "127.0.0.1", port: 0))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
