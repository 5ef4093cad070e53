import Foundation
import Glibc
import TestSupport
import Testing

/// Films go on where they were left.
@Suite("A film that was left")
struct HistoryTests {
    /// Says that a player has left a film, as the page does.
    private static func leave(_ name: String, at position: Double, in weir: WeirProcess) async throws {
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8)
        let words = [
            "-sS", "-f", "-X", "PUT", "-H", "Authorization: Bearer \(token.filter { !$0.isNewline })", "-H",
            "Content-Type: application/json", "-d", "{\"position\":\(position)}",
            await weir.url("/api/v1/assets/\(name)/position"),
        ]
        let result = try await ProcessRunner.run("curl", words)
        guard result.exit == .code(0) else { throw TimedOut("the position: \(result.errors)") }
    }

    /// Installs a player by the name of mpv, which prints its arguments.
    private static func player(in folder: TemporaryFolder) throws -> String {
        let path = try folder.write(Data("#!/bin/sh\necho \"$@\"\n".utf8), to: "mpv")
        guard chmod(path, 0o755) == 0 else { throw SystemCallError("chmod") }
        return path
    }

    @Test("goes on there with weir play, is listed with the part that was seen, and is forgotten with it")
    func goesOn() async throws {
        let folder = try TemporaryFolder()
        let player = try Self.player(in: folder)
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            func play(_ options: [String] = []) async throws -> ProcessResult {
                try await scene.weir.run(["play", "ts", "--player", player] + options)
            }
            #expect(try await !play().output.contains("--start="))
            try await Self.leave("ts", at: 5.25, in: scene.weir)
            #expect(try await scene.weir.run(["list"]).output.contains(" 43 % "))
            let played = try await play()
            #expect(played.output.contains("--start=5.25 ") && played.errors.contains("goes on at 0:05"), "\(played)")
            #expect(try await !play(["--start-over"]).output.contains("--start="))
            #expect(try await play(["--from", "2"]).output.contains("--start=2.0 "))
            #expect(try await play(["--from", "2", "--start-over"]).exit == .code(64))

            try await scene.weir.restart()
            #expect(try await play().output.contains("--start=5.25 "))
            let file = scene.weir.state + "/history"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try await Self.leave("ts", at: 11.9, in: scene.weir)
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("seen: watched"))
            #expect(try await !play().output.contains("--start="))
            #expect(try await scene.weir.run(["remove", "ts", "--yes"]).exit == .code(0))
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"films\":{}"))
        }
    }

    @Test("begins anew in mpv if it is fragmented MP4, in which mpv loses its place, and says where it was left")
    func beginsFragmentsAnew() async throws {
        let folder = try TemporaryFolder()
        let player = try Self.player(in: folder)
        try await Scene.with { scene in
            #expect(try await scene.get("cmaf", ["-q", "worst"]).exit == .code(0))
            try await Self.leave("cmaf", at: 5.25, in: scene.weir)
            let played = try await scene.weir.run(["play", "cmaf", "--player", player])
            #expect(!played.output.contains("--start=") && played.errors.contains("left at 0:05"), "\(played)")
            #expect(try await scene.weir.run(["show", "cmaf", "--json"]).output.contains("\"isFragmented\":true"))
        }
    }

    @Test("is not noted where the key history is false, and earlier notes are deleted")
    func canBeTurnedOff() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            try await Self.leave("ts", at: 5.25, in: scene.weir)
            try await scene.weir.terminate()
            #expect(FileManager.default.fileExists(atPath: scene.weir.state + "/history"))
            try await scene.weir.start(options: ["--history", "false"])
            try await Self.leave("ts", at: 5.25, in: scene.weir)
            #expect(try await !scene.weir.run(["list"]).output.contains("%"))
            try await scene.weir.terminate()
            #expect(!FileManager.default.fileExists(atPath: scene.weir.state + "/history"))
        }
    }

    @Test("by mpv with Weir's script goes on where mpv was ended")
    func byScript() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let mpv = try MPV(["weir://ts", "--start=6", "--pause"], scene.weir)
            func waitForNote(_ position: String) async throws {
                try await waitUntil("a note of \(position)") {
                    try await scene.weir.run(["list", "--json"]).output.contains("\"position\":\(position)")
                }
            }
            try await waitForNote("6")
            try await mpv.command(["seek", "8", "absolute"])
            try await waitUntil("the picture") { try await mpv.get("time-pos") as? Double ?? 0 > 7.5 }
            try await mpv.command(["quit"])
            _ = try await mpv.process.end(within: .seconds(20))
            try await waitForNote("8")
        }
    }

    @Test(
        "goes on in mpv by its plain URL and by the menu's, with Weir's script, unless mpv is told where to begin",
        arguments: [
            (["PLAIN"], 5.25), (["weir://ts"], 5.25), (["PLAIN", "--start=2"], 2.0),
            (["PLAIN", "--script-opts-append=weir-resume=no"], 0.0),
        ])
    func goesOnInPlainPlayer(_ arguments: [String], _ position: Double) async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            try await Self.leave("ts", at: 5.25, in: scene.weir)
            let words = arguments.map { $0.replacing("PLAIN", with: scene.origin.master("ts")) }
            let mpv = try MPV(words + ["--pause", "--hr-seek=yes"], scene.weir)
            // The script shows the name once it knows the film; it seeks in the same step.
            try await waitUntil("the film's name") {
                try await mpv.get("file-local-options/force-media-title") as? String == "ts"
            }
            try await waitUntil("the picture at \(position)") {
                let time = try await mpv.get("time-pos") as? Double
                return time.map { abs($0 - position) < 0.35 } ?? false
            }
            try await mpv.command(["quit"])
            _ = try await mpv.process.end(within: .seconds(20))
        }
    }
}
