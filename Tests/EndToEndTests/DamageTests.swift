import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Damaged files in the store")
struct DamageTests {
    @Test("a thousand of them are all found and repaired, and no other piece is fetched")
    func repairsAThousandPieces() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("DamageTests: seed \(seed)")
        var dice = SeededDice(state: seed)
        try await Scene.with { scene in
            let playlist = "/_vod/1050x1000/media.m3u8"
            let get = try await scene.weir.run(["get", scene.origin.url(playlist), "--name", "film"])
            #expect(get.exit == .code(0), "\(get.errors)")
            let sound = try await scene.weir.run(["verify", "film"])
            #expect(sound.exit == .code(0) && sound.output.hasPrefix("film  1.0 MB read, no damage\n"), "\(sound)")
            let before = try scene.contents()
            #expect(before.count == 1050)
            let damaged = try Damage.inflict(on: scene.pieces().shuffled(using: &dice).prefix(1000), by: &dice)
            try await scene.origin.clearRequests()

            let found = try await scene.verify("film")
            #expect(found.exit == 65)
            let names = Set(damaged.map { ($0 as NSString).lastPathComponent })
            #expect(names.count == 1000 && found.files == names, "seed \(seed)")
            #expect(try await scene.origin.requests().isEmpty)

            let repaired = try await scene.verify("film", "--repair")
            #expect(repaired.exit == 0 && repaired.remaining == 0)
            // A sound segment is compared with the origin's before the first one is fetched again; it is shorter than 4 KiB.
            let requests = try await scene.mediaRequests()
            let fetched = requests.filter { $0.range == nil }.map(\.path)
            #expect(fetched.sorted() == names.map { "/_vod/1050x1000/\($0)" }.sorted(), "seed \(seed)")
            #expect(requests.count <= fetched.count + 1)
            #expect(try scene.contents() == before)
            #expect(try await scene.verify("film").exit == 0)
        }
    }

    @Test(
        "in every piece of a fixture, with keys and initialization sections, are repaired and it plays as before",
        arguments: ["aes", "byterange-fmp4", "cmaf"])
    func repairsEveryPiece(fixture: String) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("DamageTests: seed \(seed)")
        var dice = SeededDice(state: seed)
        try await Scene.with { scene in
            #expect(try await scene.get(fixture).exit == .code(0))
            #expect(try await scene.weir.run(["verify", "--all"]).exit == .code(0))
            let before = try scene.contents()
            let damaged = try Damage.inflict(on: scene.pieces()[...], by: &dice)
            try await scene.origin.clearRequests()
            let repaired = try await scene.verify(fixture, "--repair")
            #expect(repaired.exit == 0 && repaired.found == damaged.count, "seed \(seed)")
            #expect(try await scene.repetitions() == [:])
            #expect(try await scene.origin.requests().allSatisfy { $0.isForMedia || $0.isComparison })
            #expect(try scene.contents() == before, "seed \(seed)")
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
        }
    }

    @Test("are never served, not even from memory: offline each of them is refused")
    func servesNoDamage() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("cmaf").exit == .code(0))
            #expect(try await scene.weir.run(["verify", "cmaf"]).exit == .code(0))
            let whole = try await PlaylistWalk.load(scene.weir.url("/offline/cmaf.m3u8"))
            #expect(whole.count == scene.pieces().count)
            // Small pieces are in memory from now on.
            for url in whole.keys {
                #expect(try await HTTPProbe.fetch(url).body == whole[url])
            }
            // The first damage that is found begins a download of what is missing.
            try await scene.origin.stop()
            for piece in scene.pieces() {
                try FileDamage.flipBit(of: piece, at: 100)
            }
            for url in whole.keys {
                let reply = try await HTTPProbe.fetch(url)
                #expect(reply.status >= 400, "\(url): \(reply.status)")
            }
        }
    }

    @Test("are set aside and reported while the origin is absent, and fetched when it is back")
    func repairsWhenOriginReturns() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0))
            let piece = try #require(scene.pieces().first { $0.hasSuffix("/3.ts") })
            try FileDamage.flipBit(of: piece, at: 5000)
            try await scene.origin.stop()
            let found = try await scene.weir.run(["verify", "ts"])
            #expect(found.exit == .code(65))
            #expect(found.output.contains("video-270p  0:06–0:08  3.ts  wrong bytes, set aside"))
            #expect(found.errors.contains("try: weir verify ts --repair"))
            let repair = try await scene.weir.run(["verify", "ts", "--repair"])
            #expect(repair.exit == .code(75) && repair.errors.contains("1 piece of ts"), "\(repair)")
            #expect(!scene.pieces().contains(piece))
            try await scene.origin.restart()
            #expect(try await scene.weir.run(["resume", "ts"]).exit == .code(0))
            try await scene.waitForCompletion(of: "ts")
            #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0))
        }
    }

    @Test("Ctrl-C cancels verification in the daemon too; exits with 66 for an unknown name, 69 without a daemon")
    func cancelsVerification() async throws {
        try await Scene.with(options: ["--verify-rate", "1"]) { scene in
            let playlist = "/_vod/40x300000/media.m3u8"
            #expect(try await scene.weir.run(["get", scene.origin.url(playlist), "--name", "film"]).exit == .code(0))
            let verify = try scene.weir.begin(["verify", "film", "--json"])
            try await waitUntil("progress") { verify.standardOutput.contains("\"t\":\"progress\"") }
            verify.send(SIGINT)
            #expect(try await verify.end() == .code(130))
            let events = try await scene.api("GET", "/assets/film/verification")
            #expect(events.contains("\"state\":\"cancelled\""), "\(events)")
            #expect(try await scene.weir.run(["verify", "no-such"]).exit == .code(66))
            #expect(try await scene.weir.run(["verify"]).exit == .code(64))
            try await scene.weir.terminate()
            #expect(try await scene.weir.run(["verify", "film"]).exit == .code(69))
        }
    }
}

/// A kind of damage to a file.
private enum Damage: CaseIterable {
    case flipped, cut, swapped, deleted

    /// Damages each of these files in some way.
    ///
    /// - Returns: their paths.
    static func inflict(on files: ArraySlice<String>, by dice: inout SeededDice) throws -> Set<String> {
        var left = files
        while let file = left.popFirst() {
            let size = try #require(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
            switch allCases.randomElement(using: &dice) ?? .deleted {
            case .flipped: try FileDamage.flipBit(of: file, at: Int.random(in: 0..<size, using: &dice))
            case .cut: #expect(truncate(file, Int.random(in: 0..<size, using: &dice)) == 0)
            case .swapped where !left.isEmpty:
                let other = left.removeFirst()
                #expect(rename(file, file + "~") == 0 && rename(other, file) == 0 && rename(file + "~", other) == 0)
            case .swapped, .deleted: try FileManager.default.removeItem(atPath: file)
            }
        }
        return Set(files)
    }
}

extension Scene {
    /// The result of `weir verify --json`.
    fileprivate struct Verdict: Decodable {
        struct Verification: Decodable {
            struct Part: Decodable {
                struct Hole: Decodable {
                    let first: String
                    let count: Int
                    let isSelected: Bool
                }
                struct Mismatch: Decodable { let file: String }
                let holes: [Hole]
                let mismatches: [Mismatch]
            }
            let found: Int
            let remaining: Int
            let parts: [Part]
        }
        let exit: Int
        let verification: Verification

        var found: Int { verification.found }
        var remaining: Int { verification.remaining }
        /// Missing or damaged pieces.
        var files: Set<String> {
            Set(
                verification.parts.flatMap { part in
                    part.mismatches.map(\.file)
                        + part.holes.filter(\.isSelected).flatMap { hole in
                            let first = Int(hole.first.prefix { $0 != "." }) ?? 0
                            return (first..<first + hole.count).map { "\($0).ts" }
                        }
                })
        }
    }

    fileprivate func verify(_ arguments: String...) async throws -> Verdict {
        let output = try await weir.run(["verify", "--json"] + arguments).output
        let last = try #require(output.split(separator: "\n").last)
        return try JSONDecoder().decode(Verdict.self, from: Data(last.utf8))
    }

    /// The bytes of each piece.
    fileprivate func contents() throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: pieces().map { ($0, try Data(contentsOf: URL(fileURLWithPath: $0))) })
    }

    /// Sends an API request.
    fileprivate func api(_ method: String, _ route: String) async throws -> String {
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8)
        let trimmed = token.trimmingCharacters(in: .whitespacesAndNewlines)
        return try await HTTPProbe.fetch(
            await weir.url("/api/v1" + route), method: method, fields: ["Authorization": "Bearer \(trimmed)"]
        ).text
    }
}
