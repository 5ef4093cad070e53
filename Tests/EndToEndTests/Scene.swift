import Foundation
import TestSupport

/// An origin, and a Weir of its own in front of it, for the length of one test.
struct Scene: Sendable {
    /// Where the fixtures are.
    let origin: TestOrigin
    /// What is tested.
    let weir: WeirProcess

    /// Runs the body with a fresh origin and a fresh Weir, as soon as there is room for one more of both.
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
            // Ended before its folder is deleted, it leaves nothing behind there.
            try await scene.weir.kill()
            try played.get()
        } catch {
            await Room.shared.leave()
            throw error
        }
        await Room.shared.leave()
    }

    /// The URL by which players load a path of the origin through Weir.
    func url(_ path: String) async -> String { await weir.url("/" + origin.url(path)) }

    /// The same for a fixture's multivariant playlist.
    func master(_ fixture: String) async -> String { await url("/\(fixture)/master.m3u8") }

    /// Runs `weir get` on a fixture to its end.
    @discardableResult
    func get(_ fixture: String, _ options: [String] = []) async throws -> ProcessResult {
        try await weir.run(["get", origin.master(fixture)] + options)
    }

    /// The paths of the pieces in the store, sorted: segments, initialization sections and keys.
    ///
    /// - Parameter root: in front of the store's path, where Weir has file systems of its own.
    func pieces(in root: String = "") -> [String] {
        let assets = root + weir.store + "/assets/"
        let found = FileManager.default.enumerator(atPath: assets)
        return (found?.allObjects as? [String] ?? []).filter { path in
            let file = path.split(separator: "/").last ?? ""
            // A kill may leave a text that was about to take its place, such as asset.json.new: the next one writes
            // over it.
            return file.contains(".") && !file.contains(".m3u8") && !file.contains(".json")
        }.map { assets + $0 }.sorted()
    }

    /// Waits until there are so many pieces: the last byte may reach a player a moment before its piece is there.
    func waitForPieces(_ count: Int) async throws {
        try await waitUntil("\(count) pieces") { pieces().count == count }
    }

    /// Waits until an asset's download has come to its end: what there is of it plays before.
    func waitForCompletion(of name: String, within bound: Duration = .seconds(30)) async throws {
        try await waitUntil("all of \(name)", within: bound) {
            try await weir.run(["list", "--json"]).output.split(separator: "\n").contains { line in
                let asset = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return asset?["name"] as? String == name && asset?["state"] as? String == "complete"
            }
        }
    }
}

extension Result where Failure == any Error {
    /// What work that may throw comes to.
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// Bounds the scenes that are played at one time: each has several processes, and players want their time slices.
private actor Room {
    static let shared = Room()
    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard free == 0 else { return free -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
