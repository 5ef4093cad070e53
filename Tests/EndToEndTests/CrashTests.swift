import TestSupport
import Testing

/// Runs a sample of `tools/check/crash`, which kills Weir at each of its system calls, and makes each fail.
@Suite("A crash at, or failure of, a system call")
struct CrashTests {
    private func crash(_ options: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.path("tools/check/crash"), ["--seed", "1", "--jobs", "2"] + options, within: .seconds(180))
    }

    @Test("loses no piece, leaves no wrong piece, and affects only the failed operation")
    func losesNoPiece() async throws {
        let result = try await crash([
            "--calls", "rename,fdatasync", "--errors", "KILL,EIO,ENOSPC", "--every", "7", "--random", "5",
            "--weir", Repository.builtProgram("weir"),
        ])
        #expect(result.exit == .code(0), "\(result.output)\(result.errors)")
        for kind in ["at random", "rename KILL", "rename EIO", "fdatasync KILL", "fdatasync ENOSPC"] {
            #expect(result.output.contains("\n\(kind) "), "\(result.output)")
        }
    }

    @Test("is reported for a program that is not Weir")
    func failsForAnotherProgram() async throws {
        let result = try await crash(["--calls", "", "--random", "1", "--weir", "/bin/echo"])
        #expect(result.exit == .code(1), "\(result.output)")
    }
}
