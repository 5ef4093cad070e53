import Control
import Foundation
import SafeText
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Runs `weir link` with the conditioner that it controls.
@Suite struct LinkCommandTests {
    private static let advice = "\ntry: tools/link --preset 3G http://HOST:PORT\n"
    private let weir: WeirProcess

    init() async throws { weir = try await WeirProcess(started: false) }

    private func link(_ arguments: String...) async throws -> ProcessResult { try await weir.run(["link"] + arguments) }

    @Test(arguments: [["show"], ["off"], ["set", "3G"], ["show", "--json"]])
    func withoutAConditionerACommandSaysHowToStartOne(arguments: [String]) async throws {
        let result = try await weir.run(["link"] + arguments)
        #expect(result.exit == .code(69))
        #expect(result.output.isEmpty == !arguments.contains("--json"))
        #expect(
            result.errors == "weir: no link conditioner runs with the state directory \(weir.state)" + Self.advice)
    }

    @Test func aStaleConditionerFileIsIgnored() async throws {
        try FileManager.default.createDirectory(atPath: weir.state, withIntermediateDirectories: true)
        try Data("http://127.0.0.1:1\n".utf8).write(to: URL(fileURLWithPath: weir.state + "/link"))
        let result = try await link("show")
        #expect(result.exit == .code(69))
        #expect(result.errors == "weir: no link conditioner answers at http://127.0.0.1:1" + Self.advice)
    }

    @Test(arguments: [
        ["set"], ["set", "4G"], ["set", "--down", "fast"], ["set", "--loss", "101%"], ["set", "--delay-up", "1h"],
        ["show", "--control", "http://example.com:80/_link"], ["show", "--control", "http://127.0.0.1:1/x"], ["frob"],
    ])
    func aBadNumberIsAUsageError(arguments: [String]) async throws {
        let result = try await weir.run(["link"] + arguments)
        #expect(result.exit == .code(64))
        #expect(!result.errors.isEmpty)
    }

    @Test func anUnknownPresetListsThePresets() async throws {
        let errors = try await link("set", "4G").errors
        #expect(errors.contains("\"4G\"; the presets are: 100% Loss, EDGE, 3G, DSL, LTE, Wi-Fi, "))
    }

    @Test func thePresetsAreListedWithoutAConditioner() async throws {
        let result = try await ProcessRunner.run(Repository.builtProgram("weir"), ["link", "list"])
        #expect(result.exit == .code(0))
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 11)
        #expect(lines[2] == "EDGE              240 kb/s   200 kb/s   400 ms      440 ms    0%    0 ms")
    }

    @Test func presetsMatchTheConditioner() async throws {
        let link = try await LinkConditioner(to: "http://127.0.0.1:9")
        let theirs = try await HTTPProbe.fetch(link.control + "/presets").body
        #expect(try API.decode([LinkFigures].self, from: Array(theirs)) == LinkFigures.presets)
    }

    @Test func theLatestConditionerIsControlled() async throws {
        let first = try await LinkConditioner(to: "http://127.0.0.1:9", preset: "DSL", state: weir.state)
        let last = try await LinkConditioner(to: "http://127.0.0.1:9", preset: "DSL", state: weir.state)
        var status = stat()
        #expect(lstat(weir.state + "/link", &status) == 0 && status.st_mode & 0o777 == 0o600)

        #expect(
            try await link("set", "wi-fi", "802.11AC").output
                == "Wi-Fi 802.11ac  down 250 Mb/s 1 ms  up 100 Mb/s 1 ms\n")
        #expect(try await last.traffic().preset == "Wi-Fi 802.11ac")
        #expect(try await first.traffic().preset == "DSL")
        #expect(try await link("show", "--control", first.control).output.hasPrefix("DSL  down 2.0 Mb/s 5 ms"))

        _ = try await first.stop()
        #expect(try await link("off").output == "off\n")
        _ = try await last.stop()
        #expect(lstat(weir.state + "/link", &status) == -1)
        #expect(try await link("show").exit == .code(69))
    }

    @Test func optionsReplaceSingleValues() async throws {
        let conditioner = try await LinkConditioner(to: "http://127.0.0.1:9", preset: "3G", state: weir.state)
        #expect(
            try await link("set", "--down", "2.5M", "--delay-up", "1.5s").output
                == "down 2.5 Mb/s 100 ms  up 330 kb/s 1500 ms\n")
        #expect(
            try await link("set", "High Latency DNS", "--up", "0", "--loss", "0.5%").output
                == "down unlimited 0 ms  up nothing 0 ms  loss 0.5%  DNS 3000 ms\n")
        let refused = try await link("set", "--down", "5")
        #expect(refused.exit == .code(64))
        #expect(refused.errors == "weir: down is to be 0, or 1000 b/s at least\ntry: weir link list\n")
        let shown = try await link("show", "--json")
        let state = try API.decode(LinkState.self, from: Array(shown.output.utf8))
        #expect(state.figures.down == .unlimited && state.figures.up == .bits(0) && state.figures.preset == nil)
        #expect(state.traffic.listening == conditioner.address && state.traffic.upstream == "http://127.0.0.1:9")
        #expect(shown.output.contains(#""down":null"#))
    }
}
