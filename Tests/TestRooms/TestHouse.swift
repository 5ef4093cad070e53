package import Assets
package import Downloads
package import EventLoop
import Foundation
package import Integrity
package import Origin
package import Playback
package import Retention
package import Sharing
import Store
package import Substitution
import Synchronization
package import TestSupport

/// The rooms of Weir put together for a test, over a store of their own, beside an origin that fails by rules.
///
/// Downloads and a server for players are there if they are named: `TestHouse(.downloader(), .clock(clock))`. All ends with the
/// last reference.
@LoopActor package final class TestHouse {
    package let origin: TestOrigin
    /// The store's folder.
    package private(set) var folder: TemporaryFolder
    package let substitutions = Substitutions()
    /// The library's messages to the user.
    package let log = Log()
    private let plan: Plan
    private var rooms: Rooms

    package final class Log: Sendable {
        private let all = Mutex<[String]>([])
        package var lines: [String] { all.withLock { $0 } }

        package func add(_ line: String) {
            all.withLock { $0.append(line) }
        }
    }

    package init(_ parts: Part...) async throws {
        plan = Plan().with(parts)
        folder = try TemporaryFolder()
        origin = if let root = plan.root { try await TestOrigin(root: root.path) } else { try await TestOrigin() }
        rooms = try Rooms(plan, in: folder, substitutions, log)
    }

    isolated deinit { rooms.end() }

    /// Opens new rooms over a copy of the folder in its current state, as after a kill. `changes` are for these rooms alone.
    package func restart(_ changes: Part...) async throws {
        let copy = try await folder.copy()
        rooms.end()
        folder = copy
        rooms = try Rooms(plan.with(changes), in: folder, substitutions, log)
    }

    package var client: OriginClient { rooms.client }
    package var library: Library { rooms.library }
    package var retention: RetentionService { rooms.retention }
    package var integrity: IntegrityService { rooms.integrity }
    /// The services for import, export, publication and moves.
    package var exchange: ExchangeServices { rooms.exchange }

    package var downloader: Downloader {
        guard let downloader = rooms.downloader else {
            preconditionFailure("This house has no downloads. Make it with TestHouse(.downloader()).")
        }
        return downloader
    }

    /// The server for players.
    package var players: PlayerServer {
        guard let players = rooms.players else {
            preconditionFailure("This house has no server for players. Make it with TestHouse(.playback()).")
        }
        return players
    }

    package var playback: PlayerRoutes { players.playback }
}

/// The rooms of one process.
@LoopActor private struct Rooms {
    let client: OriginClient
    let library: Library
    let retention: RetentionService
    let integrity: IntegrityService
    let exchange: ExchangeServices
    let downloader: Downloader?
    let players: PlayerServer?

    init(
        _ plan: TestHouse.Plan, in folder: TemporaryFolder, _ substitutions: Substitutions, _ log: TestHouse.Log
    ) throws {
        let clock = plan.clock
        let moves = MoveRegister()
        client = OriginClient(configuration: plan.client)
        library = Library(
            store: try BundleStore(path: folder.path, reserve: plan.reserve), client: client, mode: plan.mode,
            moves: moves,
            partialPlayback: substitutions, storedRecordings: RecordingRestorer(),
            now: { clock?.instant ?? .now }, date: clock.map { clock in { clock.date } },
            report: { log.add($0) })
        retention = RetentionService(of: library, cacheLimit: plan.cacheLimit, purge: plan.purge)
        integrity = IntegrityService(of: library, retention, now: clock.map { clock in { clock.date } })
        exchange = ExchangeServices(library, moves: moves)
        if let configuration = plan.downloader {
            downloader = Downloader(
                library: library, retention: retention, integrity: integrity, configuration: configuration)
        } else {
            downloader = nil
        }
        if let configuration = plan.playback {
            players = try PlayerServer(
                configuration, library: library, substitutions: substitutions, retention: retention, clock: clock)
        } else {
            players = nil
        }
    }

    /// Ends all work. A client whose origin has ended would look for it, and could reach the origin of a later test at the same
    /// port.
    func end() {
        downloader?.stop()
        client.stop()
        client.isOffline = true
    }
}
