import Daemon
import WeirAPI

/// Starts the daemon for a command that needs it, and says so on standard error.
struct CommandStarter: APIClientDelegate {
    /// Nil if the command must not start a daemon.
    let starter: DaemonStarter?

    func startDaemon(insteadOf error: APIError) async throws(APIError) {
        guard let starter else { throw error }
        do throws(ApplicationError) {
            if let line = Self.line(try await starter.start()) {
                Output.error("weir: \(line)\n")
            }
        } catch {
            Output.error(error.details.map { "log: \($0)\n" }.joined())
            throw APIError(.noDaemon, error.message, next: error.next, underlying: error)
        }
    }

    static func line(_ outcome: DaemonStarter.Outcome) -> String? {
        switch outcome {
        case .present: nil
        case .service: "started the daemon as a service: systemctl --user status weir"
        case .background(let idleExit?):
            "started the daemon, which ends after \(TimeSpan.text(idleExit)) without work, or with: weir stop"
        case .background(nil): "started the daemon, which ends with: weir stop"
        }
    }

    func daemonHangs(process: Int32?) {
        var subject = "the daemon"
        if let process {
            subject += " (process \(process))"
        }
        Output.error("weir: \(subject) has not answered for 3 s; still waiting. To end it: weir stop\n")
    }
}
