internal import Foundation
internal import Glibc

/// Weir's unit in the service manager of this user, if there is one.
package struct UserService: Sendable {
    static let name = "weir.service"
    private static let socket = "weir.socket"

    private let systemctl: String
    private let variables: [String]

    /// Finds the service manager; nil without one, as in a container.
    package init?(_ environment: [String: String]) {
        guard let folder = environment["XDG_RUNTIME_DIR"], access("\(folder)/systemd/private", F_OK) == 0 else {
            return nil
        }
        let folders = environment["PATH"] ?? "/usr/bin:/bin"
        let paths = folders.split(separator: ":").map { "\($0)/systemctl" }
        guard let program = paths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        systemctl = program
        variables = environment.map { "\($0.key)=\($0.value)" }
    }

    /// True if the unit of the service or that of its sockets is enabled.
    var isEnabled: Bool {
        get async {
            if await run(["is-enabled", "--quiet", Self.socket]) == nil {
                return true
            }
            return await run(["is-enabled", "--quiet", Self.name]) == nil
        }
    }

    /// Starts the service, and returns when it is ready; else the reason why it is not.
    func start() async -> String? { await run(["start", Self.name]) }

    /// Ends the service; else returns the reason.
    package func stop() async -> String? { await run(["stop", Self.name]) }

    /// True if the sockets stay with the service manager, so that the next connection starts the service again.
    package var keepsSockets: Bool {
        get async { await run(["is-active", "--quiet", Self.socket]) == nil }
    }

    private func run(_ words: [String]) async -> String? {
        switch await HandlerProgram().run([systemctl, "--user"] + words, variables: variables) {
        case .output: nil
        case .failure(let reason): reason
        }
    }

    /// The manager of a daemon's process, by its control group.
    package enum Owner: Equatable, Sendable {
        case nobody
        /// The service manager of its user.
        case user
        /// The service manager of the machine.
        case system

        package init(ofProcess process: Int32) {
            self.init(controlGroups: (try? String(contentsOfFile: "/proc/\(process)/cgroup", encoding: .utf8)) ?? "")
        }

        init(controlGroups text: String) {
            let groups = text.split(separator: "\n").filter { $0.hasSuffix("/\(UserService.name)") }
            if groups.isEmpty {
                self = .nobody
            } else if groups.contains(where: { $0.contains("/user@") }) {
                self = .user
            } else {
                self = .system
            }
        }
    }
}
