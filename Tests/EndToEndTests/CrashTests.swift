import TestSupport
import Testing

/// `tools/check/crash` kills Weir at each of its system calls, and lets each fail; here are some of these.
@Suite("A system call that is the last, or fails")
struct CrashTests {
    private func crash(_ options: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.path("tools/check/crash"), ["--seed", "1", "--jobs", "2"] + options, within: .seconds(180))
    }

    @Test("loses no piece, leaves no false one, and ends nothing but itself")
    func holds() async throws {
        let result = try await crash([
            "--calls", "rename,fdatasync", "--errors", "KILL,EIO,ENOSPC", "--every", "7", "--random", "5",
            "--weir", Repository.builtProgram("weir"),
        ])
        #expect(result.exit == .code(0), "\(result.output)\(result.errors)")
        for kind in ["at random", "rename KILL", "rename EIO", "fdatasync KILL", "fdatasync ENOSPC"] {
            #expect(result.output.contains("\n\(kind) "), "\(result.output)")
        }
    }

    @Test("does not hold for a program that is no Weir")
    func fails() async throws {
        let result = try await crash(["--calls", "", "--random", "1", "--weir", "/bin/echo"])
        #expect(result.exit == .code(1), "\(result.output)")
    }
}
