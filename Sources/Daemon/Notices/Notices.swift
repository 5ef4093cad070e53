internal import Assets
internal import Control
internal import Downloads
internal import EventLoop
internal import Foundation
internal import Logging
import Orders
internal import Store
internal import WeirAPI

/// The user's commands for events: the keys `on-complete`, `on-fail` and `on-expire`, each a program and its arguments.
package struct NoticeCommands: Equatable, Sendable {
    var complete: [String] = []
    var failed: [String] = []
    var expired: [String] = []

    subscript(kind: Notice.Kind) -> [String] {
        switch kind {
        case .complete: complete
        case .failed: failed
        case .expired: expired
        }
    }
}

/// Runs the user's commands for events, without a shell and one after the other, so that nothing waits for them.
@LoopActor final class Notices {
    struct Setup {
        let commands: NoticeCommands
        let state: StateDirectory
        /// The daemon's environment.
        let environment: [String: String]
        let logger: Logger
    }

    private let commands: NoticeCommands
    private let library: Library
    private let service: LibraryService
    private let state: StateDirectory
    private let logger: Logger
    private let environment: [String]
    private var subscriptions: [Subscription] = []
    private var watch: Task<Void, Never>?
    private var waiting: [(kind: Notice.Kind, asset: String, cause: String?)] = []
    private var isRunning = false
    private var isOver = false

    /// Most events that wait for a slow command; further ones are dropped, and logged.
    private static let mostWaiting = 100
    private static let timeLimit = 30
    private static let pause = Duration.seconds(5)
    /// The file with the time of the last look for expired assets, so that those are found that expired while no daemon ran.
    private static let clockFile = "expiry-notices"
    /// The variables by which a program reaches the user's desktop, beside what handlers get.
    private static let keptVariables =
        Handlers.keptVariables + [
            "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
        ]

    init(_ setup: Setup, of downloader: Downloader, _ library: Library, service: LibraryService) {
        self.library = library
        self.service = service
        commands = setup.commands
        state = setup.state
        logger = setup.logger
        // A command of Weir in the program finds this daemon.
        self.environment =
            setup.environment.assignments(of: Self.keptVariables) + ["WEIR_STATE=\(state.path)"]
        guard commands != NoticeCommands() else { return }
        subscriptions = [
            downloader.changes.subscribe { [weak self] in self?.react(to: $0.download, $0.event) },
            library.events.subscribe { [weak self] in self?.react(to: $0) },
        ]
        guard !commands.expired.isEmpty else { return }
        watch = Task { [weak self] in
            var clock = ExpiryClock(last: self?.lastLook ?? 0)
            while !Task.isCancelled {
                self?.look(&clock)
                try? await LoopActor.pause(for: Self.pause)
            }
        }
    }

    func stop() {
        isOver = true
        watch?.cancel()
        subscriptions = []
        waiting = []
    }

    private func react(to download: Download, _ event: DownloadEvent) {
        guard case .state = event, !download.asset.isRevision else { return }
        switch download.state {
        case .complete: add(.complete, for: download.asset.name, because: nil)
        case .failed:
            let cause = download.failure?.message ?? "the download has failed"
            add(.failed, for: download.asset.name, because: cause)
        default: break
        }
    }

    private func react(to event: LibraryEvent) {
        guard case .keysChanged(let asset, .expired, let numbers) = event, !asset.isRevision else { return }
        let cause = numbers.count == 1 ? "a key has expired" : "\(numbers.count) keys have expired"
        add(.expired, for: asset.name, because: cause)
    }

    private func add(_ kind: Notice.Kind, for asset: String, because cause: String?) {
        guard !isOver, let program = commands[kind].first else { return }
        guard waiting.count < Self.mostWaiting else {
            return logger.warning(
                "\(program) does not run for \(asset) (\(kind.rawValue)): too many events wait for it")
        }
        waiting.append((kind, asset, cause))
        guard !isRunning else { return }
        isRunning = true
        Task { await runWaiting() }
    }

    private func runWaiting() async {
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            // The asset may have been removed meanwhile.
            guard let asset = try? await service.asset(named: next.asset) else { continue }
            await run(Notice(kind: next.kind, asset: asset, cause: next.cause))
        }
        isRunning = false
    }

    private func run(_ notice: Notice) async {
        let words = commands[notice.kind]
        let program = HandlerProgram(timeLimit: Self.timeLimit, input: notice.json)
        if case .failure(let reason) = await program.run(words, variables: environment + notice.variables) {
            logger.warning("\(words[0]) for \(notice.asset.name) (\(notice.kind.rawValue)) has failed: \(reason)")
        }
    }

    // MARK: Expiry

    /// The time of the last look of an earlier daemon; now if there was none.
    private var lastLook: Int64 {
        guard case .success(let text) = state.readFile(Self.clockFile), let time = Int64(text) else {
            return library.date()
        }
        return min(time, library.date())
    }

    private func look(_ clock: inout ExpiryClock) {
        var expirations: [String: Int64] = [:]
        for asset in library.assets {
            expirations[asset.id] = asset.life.expiration
        }
        for id in clock.expired(of: expirations, at: library.date()) {
            guard let asset = library.asset(id: id) else { continue }
            add(.expired, for: asset.name, because: "its time by its policy is over")
        }
        do throws(APIError) { try state.writeFile(Self.clockFile, "\(clock.last)") } catch {
            logger.debug("\(error)")  // The daemon's other files show that the folder cannot be written.
        }
    }
}
