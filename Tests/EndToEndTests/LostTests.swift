import Foundation
import TestSupport
import Testing

/// `tools/check/lost` takes the network away a few hundred times; here are some of these, at four times real time.
@Suite("The network that is lost and comes back")
struct LostTests {
    /// What the tool writes with `--json`.
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
            Repository.path("tools/check/lost"), options + ["--rate", "4", "--weir", weir, "--json", folder.path("report")],
            within: .seconds(120))
        let report = try Data(contentsOf: URL(fileURLWithPath: folder.path("report")))
        return (result, try JSONDecoder().decode(Report.self, from: report))
    }

    @Test("is not noticed where something covers the playhead, and waited for where nothing does")
    func holds() async throws {
        let seeds = [38, 60, 94, 149, 159, 183]
        let (result, report) = try await lost(["--run"] + seeds.map(String.init), weir: Repository.builtProgram("weir"))
        #expect(result.exit == .code(0), "\(result.output)")
        #expect(report.runs.map(\.seed) == seeds && report.runs.allSatisfy(\.faults.isEmpty))
        #expect(Set(report.runs.map(\.covered)) == [true, false])
        #expect(report.runs.contains { $0.standIns > 0 })
    }

    @Test("does not hold for a program that is no Weir, and the run says how to see it again")
    func fails() async throws {
        let (result, report) = try await lost(["--run", "7"], weir: "/bin/echo")
        #expect(result.exit == .code(1) && result.output.contains("✗ --run 7: "), "\(result.output)")
        #expect(report.runs.first?.faults.first?.contains("did not start") == true)
    }
}
