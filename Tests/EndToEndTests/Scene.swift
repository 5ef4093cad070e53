import Foundation
import TestSupport

/// An origin, and a Weir in front of it, for one test.
struct Scene: Sendable {
    /// The origin, which serves the fixtures.
    let origin: TestOrigin
    /// The tested daemon.
    let weir: WeirProcess

    /// Runs the body with a new origin and a new Weir, once fewer scenes than the limit run.
    static func with(
        options: [String] = [], root: String = Repository.path("fixtures/media"), isStarted: Bool = true,
        _ body: (Scene) async throws -> Void
    ) async throws {
        await Room.shared.enter()
        do {
            let scene = Scene(
                origin: try await TestOrigin(root: root),
                weir: try await WeirProcess(options: options, started: isStarted))
            let played = await Result { try await body(scene) }
            // Ended before its folder is deleted, so that it writes no more files there.
            try await scene.weir.kill()
            try played.get()
        } catch {
            await Room.shared.leave()
            throw error
        }
        await Room.shared.leave()
    }

    /// The URL of an origin path through Weir.
    func url(_ path: String) async -> String { await weir.url("/" + origin.url(path)) }

    /// The URL of a fixture's multivariant playlist through Weir.
    func master(_ fixture: String) async -> String { await url("/\(fixture)/master.m3u8") }

    /// Runs `weir get` on a fixture to its end.
    @discardableResult
    func get(_ fixture: String, _ options: [String] = []) async throws -> ProcessResult {
        try await weir.run(["get", origin.master(fixture)] + options)
    }

    /// The paths of the pieces in the store, sorted: segments, initialization sections and keys.
    ///
    /// - Parameter root: prefix of the store's path, if Weir has its own mounts.
    func pieces(in root: String = "") -> [String] {
        let assets = root + weir.store + "/assets/"
        let found = FileManager.default.enumerator(atPath: assets)
        return (found?.allObjects as? [String] ?? []).filter { path in
            let file = path.split(separator: "/").last ?? ""
            // A kill may leave a temporary file such as asset.json.new, which the next write replaces.
            return file.contains(".") && !file.contains(".m3u8") && !file.contains(".json")
        }.map { assets + $0 }.sorted()
    }

    /// Waits for a number of pieces: the last byte may reach a player shortly before the piece is committed.
    func waitForPieces(_ count: Int) async throws {
        try await waitUntil("\(count) pieces") { pieces().count == count }
    }

    /// Waits until an asset's download is complete; a partial asset plays before that.
    func waitForCompletion(of name: String, within bound: Duration = .seconds(30)) async throws {
        try await waitUntil("all of \(name)", within: bound) {
            try await weir.run(["list", "--json"]).output.split(separator: "\n").contains { line in
                let asset = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return asset?["name"] as? String == name && asset?["state"] as? String == "saved"
            }
        }
    }
}

extension Result where Failure == any Error {
    /// Runs asynchronous work and captures its result.
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// Limits concurrent scenes: each has several processes, and players need their time slices.
private actor Room {
    static let shared = Room()
    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard free == 0 else { return free -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
