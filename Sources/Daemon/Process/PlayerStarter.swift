internal import Control
internal import EventLoop
import Foundation
internal import Glibc
internal import Subprocess
internal import WeirAPI

/// Starts the user's player by `weir play`, on the desktop of the daemon's user.
///
/// A daemon that systemd has started has no desktop of its own: the user's manager knows it, and starts the player.
@LoopActor struct PlayerStarter: PlayerStarting {
    private let words: [String]
    private let log: String
    private let hasDesktop: Bool

    /// The time after which a player counts as started.
    private static let startTimeout = Duration.seconds(3)
    private static let pause = Duration.milliseconds(50)

    init(state: StateDirectory, environment: [String: String]) {
        let weir = [DaemonStarter.program, "play", "--state", state.path, "--no-start"]
        log = "\(state.path)/player.log"
        if environment["INVOCATION_ID"] != nil {
            words = ["systemd-run", "--user", "--quiet", "--collect", "--pipe", "--wait", "--"] + weir
            hasDesktop = true
        } else {
            words = weir
            hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        }
    }

    func play(_ name: String) async throws(APIError) {
        guard hasDesktop else {
            throw APIError(
                .noProgram,
                "no player can be started: Weir runs without a desktop, neither DISPLAY nor WAYLAND_DISPLAY is set",
                next: "weir play \(name)")
        }
        let process: SpawnedProcess
        do {
            let output = SpawnedProcess.Stream.file(log, O_WRONLY | O_CREAT | O_TRUNC)
            // A player goes on when the daemon ends.
            process = try SpawnedProcess(
                words + [name], streams: (.file("/dev/null", O_RDONLY), output, output), leadsSession: true)
        } catch {
            throw APIError(.programFailed, "no player can be started: \(String(cString: strerror(error.code)))")
        }
        Thread.detachNewThread { process.wait() }
        let end = ContinuousClock.now + Self.startTimeout
        while process.exit == nil, .now < end {
            try? await LoopActor.pause(for: Self.pause)
        }
        guard let exit = process.exit, exit != .code(0) else { return }
        throw failure()
    }

    /// Reads what `weir play` has written: `weir: SENTENCE`, and `try: COMMAND`.
    private func failure() -> APIError {
        let lines = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n") ?? []
        let sentence = lines.last { $0.hasPrefix("weir: ") }?.dropFirst("weir: ".count)
        let next = lines.last { $0.hasPrefix("try: ") }?.dropFirst("try: ".count)
        return APIError(
            .programFailed, sentence.map(String.init) ?? "the player has ended with an error; its words are in \(log)",
            next: next.map(String.init))
    }
}
