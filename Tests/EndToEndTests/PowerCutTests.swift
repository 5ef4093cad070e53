import TestSupport
import Testing

/// `tools/check/power-cut` cuts the power a hundred times; here are some of these.
@Suite("A loss of power")
struct PowerCutTests {
    private static func cut(_ options: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(Repository.path("tools/check/power-cut"), options, within: .seconds(180))
    }

    /// Whether this machine lets a test mount a file system of its own.
    private static func isPossible() async throws -> Bool {
        try await cut(["--runs", "0", "--weir", "/bin/echo"]).exit == .code(0)
    }

    @Test(
        "costs what came within two seconds, and nothing is wrong afterwards",
        .enabled("mounting takes root and a loop device") { try await isPossible() })
    func holds() async throws {
        let result = try await Self.cut(["--runs", "3", "--seed", "1", "--weir", Repository.builtProgram("weir")])
        #expect(result.exit == .code(0) && result.output.contains("3 of 3 hold"), "\(result.output)\(result.errors)")
    }

    @Test(
        "is no excuse for a program that is no Weir",
        .enabled("mounting takes root and a loop device") { try await isPossible() })
    func fails() async throws {
        let result = try await Self.cut(["--runs", "1", "--weir", "/bin/echo"])
        #expect(result.exit == .code(1) && result.output.contains("did not start"), "\(result.output)")
    }
}
