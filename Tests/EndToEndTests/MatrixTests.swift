import Foundation
import TestSupport
import Testing

/// Runs a small part of `tools/matrix`, which plays everything in every player, so that the tool stays correct.
@Suite("The matrix of fixtures, states and players")
struct MatrixTests {
    /// The tool's `--json` output.
    private struct Report: Decodable {
        struct Cell: Decodable {
            let state: String
            let verdict: String
            let reason: String?
        }
        let holds: Int
        let of: Int
        let cells: [Cell]
    }

    /// Runs the tool with a program, one fixture and ffmpeg.
    private func matrix(_ states: String, weir: String) async throws -> (ProcessResult, Report) {
        let folder = try TemporaryFolder()
        let result = try await ProcessRunner.run(
            Repository.path("tools/matrix"),
            [
                "--fixtures", "ts", "--states", states, "--players", "ffmpeg", "--seed", "1", "--weir", weir,
                "--json", folder.path("report"),
            ], within: .seconds(120))
        let report = try Data(contentsOf: URL(fileURLWithPath: folder.path("report")))
        return (result, try JSONDecoder().decode(Report.self, from: report))
    }

    @Test("passes for a complete asset, and for a network loss during playback")
    func passesForWeir() async throws {
        let (result, report) = try await matrix("complete,lost", weir: Repository.builtProgram("weir"))
        #expect(result.exit == .code(0) && result.output.contains("2 of 2 cells hold"), "\(result.output)")
        #expect(report.cells.map(\.verdict) == ["✓", "✓"] && report.holds == report.of)
    }

    @Test("fails for a program that is not Weir, with the reason")
    func failsForAnotherProgram() async throws {
        let (result, report) = try await matrix("cold", weir: "/bin/echo")
        #expect(result.exit == .code(1) && result.output.contains("0 of 1 cells hold"), "\(result.output)")
        #expect(report.cells.map(\.verdict) == ["✗"])
        #expect(report.cells.first?.reason?.contains("did not start") == true)
    }
}
