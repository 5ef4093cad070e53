import TestSupport
import Testing

/// Runs a sample of `tools/check/power-cut`, which cuts the power a hundred times.
@Suite("A loss of power")
struct PowerCutTests {
    private static func cut(_ options: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(Repository.path("tools/check/power-cut"), options, within: .seconds(180))
    }

    /// True if this machine lets a test mount a file system.
    private static func isPossible() async throws -> Bool {
        try await cut(["--runs", "0", "--weir", "/bin/echo"]).exit == .code(0)
    }

    @Test(
        "loses at most two seconds of pieces, and leaves no wrong piece",
        .enabled("mounting takes root and a loop device") { try await isPossible() })
    func losesAtMostTwoSeconds() async throws {
        let result = try await Self.cut(["--runs", "3", "--seed", "1", "--weir", Repository.builtProgram("weir")])
        #expect(result.exit == .code(0) && result.output.contains("3 of 3 hold"), "\(result.output)\(result.errors)")
    }

    @Test(
        "is reported for a program that is not Weir",
        .enabled("mounting takes root and a loop device") { try await isPossible() })
    func failsForAnotherProgram() async throws {
        let result = try await Self.cut(["--runs", "1", "--weir", "/bin/echo"])
        #expect(result.exit == .code(1) && result.output.contains("did not start"), "\(result.output)")
    }
}
