internal import Glibc
package import WeirAPI

/// Ends the daemon of a state directory, and waits for its end.
package struct DaemonStopper: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// No daemon ran.
        case absent
        case stopped
        /// The user's service manager has stopped it.
        /// - Parameter keepsSockets: true if a connection starts it again.
        case service(keepsSockets: Bool)
    }

    /// The daemon gives running requests two seconds, and syncs what it received.
    private static let timeLimit = Duration.seconds(20)
    private static let pause = Duration.milliseconds(20)

    private let state: StateDirectory
    private let environment: [String: String]

    package init(_ state: StateDirectory, environment: [String: String]) {
        self.state = state
        self.environment = environment
    }

    package func stop() async throws(ApplicationError) -> Outcome {
        let deadline = ContinuousClock.now + Self.timeLimit
        // One that is about to start has no process to name yet, and one that ends has none any more.
        while state.daemonProcess == nil, state.isClaimed {
            try await wait(until: deadline)
        }
        guard let process = state.daemonProcess else { return .absent }
        switch UserService.Owner(ofProcess: process) {
        case .system:
            throw ApplicationError(
                .refused, "the daemon (process \(process)) is a service of this machine",
                next: "sudo systemctl stop \(UserService.name)")
        case .user:
            guard let service = UserService(environment) else {
                throw ApplicationError(
                    .refused, "the daemon (process \(process)) is a service of another session's systemd",
                    next: "systemctl --user stop \(UserService.name)")
            }
            if let reason = await service.stop() {
                throw ApplicationError(
                    .refused, "systemd could not stop the service \(UserService.name): \(reason)",
                    next: "systemctl --user status \(UserService.name)")
            }
            return .service(keepsSockets: await service.keepsSockets)
        case .nobody:
            try end(process)
            while state.isClaimed {
                try await wait(until: deadline)
            }
            return .stopped
        }
    }

    private func end(_ process: Int32) throws(ApplicationError) {
        guard kill(process, SIGTERM) != 0, errno != ESRCH else { return }
        throw ApplicationError(
            .refused, "the daemon (process \(process)) cannot be ended: \(String(cString: strerror(errno)))",
            next: "run the command as the user whose daemon it is")
    }

    private func wait(until deadline: ContinuousClock.Instant) async throws(ApplicationError) {
        guard .now < deadline, (try? await Task.sleep(for: Self.pause)) != nil else {
            let process = state.daemonProcess
            throw ApplicationError(
                .busy, "the daemon\(process.map { " (process \($0))" } ?? "") has not ended for 20 s",
                next: process.map { "kill -9 \($0), which loses nothing that is stored" })
        }
    }
}
