import Foundation
import TestSupport
import Testing

@Suite("weir check")
struct CheckTests {
    private func check(_ arguments: String...) async throws -> ProcessResult {
        try await ProcessRunner.run(Repository.builtProgram("weir"), ["check"] + arguments)
    }

    @Test("finds only differing target durations in every fixture", arguments: Repository.fixtures)
    func acceptsFixtures(name: String) async throws {
        let origin = try await TestOrigin()
        let result = try await check(origin.master(name))
        #expect(result.exit == .code(0), "\(result.output)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.dropLast().allSatisfy { $0.contains(": warning: the target duration is ") }, "\(lines)")
        #expect(try await origin.requests().allSatisfy { $0.path.hasSuffix(".m3u8") })
    }

    @Test("reports a response that is not a playlist, and exits with 65")
    func reportsBadResponses() async throws {
        let origin = try await TestOrigin()
        try await origin.add(
            OriginRule("/ts/90p/media.m3u8") { $0.html = true }, OriginRule("/ts/180p/media.m3u8") { $0.status = 404 },
            OriginRule("/ts/270p/media.m3u8") { $0.redirect = "/aes/180p/media.m3u8?token=secret" })
        let result = try await check(origin.url("/ts/master.m3u8?token=secret"))
        #expect(result.exit == .code(65) && result.errors.isEmpty)
        let base = origin.url("/ts")
        let lines = result.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("\(base)/90p/media.m3u8:1: error: HTML or XML, not a playlist") })
        #expect(
            lines.contains {
                $0
                    == "\(base)/180p/media.m3u8: error: was not found (404); line 7 of the multivariant playlist names it "
                    + "(RFC 9110 §15)"
            }, "\(lines)")
        #expect(
            lines.contains { $0.hasPrefix("\(base)/270p/media.m3u8: note: redirects to \(origin.url("/aes/180p"))") })
        #expect(
            lines.last?.hasPrefix("4 playlists, 2 errors") == true
                && lines.last?.hasSuffix(": players will fail") == true)
        #expect(!result.output.contains("secret"))
    }

    @Test("with --json prints exactly one result for every status", arguments: [200, 401, 404, 503])
    func printsOneJSONResult(status: Int) async throws {
        let origin = try await TestOrigin()
        if status != 200 {
            try await origin.add(OriginRule("*") { $0.status = status })
        }
        let result = try await check(origin.master("ts"), "--json")
        let objects = try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["t"] as? String }.filter { $0 == "result" }.count == 1)
        #expect(objects.last?["t"] as? String == "result" && objects.allSatisfy { $0["v"] as? Int == 1 })
        let exit = [200: 0, 401: 77, 404: 76, 503: 76][status] ?? 1
        #expect(objects.last?["exit"] as? Int == exit && result.exit == .code(Int32(exit)))
        #expect(objects.count == (status == 200 ? 1 : 2))
    }
}
