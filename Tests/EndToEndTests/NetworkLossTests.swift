import Foundation
import TestSupport
import Testing

/// Runs a sample of `tools/check/lost`, which cuts the network a few hundred times, at four times real time.
@Suite("A network that is lost and restored")
struct NetworkLossTests {
    /// The tool's `--json` output.
    private struct Report: Decodable {
        struct Run: Decodable {
            let seed: Int
            let covered: Bool
            let standIns: Int
            let faults: [String]
        }
        let runs: [Run]
    }

    private func lost(_ options: [String], weir: String) async throws -> (ProcessResult, Report) {
        let folder = try TemporaryFolder()
        let result = try await ProcessRunner.run(
            Repository.path("tools/check/lost"),
            options + ["--rate", "4", "--weir", weir, "--json", folder.path("report")],
            within: .seconds(120))
        let report = try Data(contentsOf: URL(fileURLWithPath: folder.path("report")))
        return (result, try JSONDecoder().decode(Report.self, from: report))
    }

    @Test("does not interrupt playback of stored or substituted segments, and others wait for it")
    func playsThroughNetworkLoss() async throws {
        let seeds = [38, 60, 94, 149, 159, 183]
        let (result, report) = try await lost(["--run"] + seeds.map(String.init), weir: Repository.builtProgram("weir"))
        #expect(result.exit == .code(0), "\(result.output)")
        #expect(report.runs.map(\.seed) == seeds && report.runs.allSatisfy(\.faults.isEmpty))
        #expect(Set(report.runs.map(\.covered)) == [true, false])
        #expect(report.runs.contains { $0.standIns > 0 })
    }

    @Test("is reported for a program that is not Weir, with the command to reproduce it")
    func failsForAnotherProgram() async throws {
        let (result, report) = try await lost(["--run", "7"], weir: "/bin/echo")
        #expect(result.exit == .code(1) && result.output.contains("✗ --run 7: "), "\(result.output)")
        #expect(report.runs.first?.faults.first?.contains("did not start") == true)
    }
}
