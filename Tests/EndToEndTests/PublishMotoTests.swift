import Foundation
import TestSupport
import Testing

/// Publishes to moto, an independent S3 implementation; the other tests use our own store.
@Suite("A publication to moto")
struct PublishMotoTests {
    private static let keys = ["AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"]

    @Test("plays, downloads to a second Weir, and takes an exact number of requests, also after a kill")
    func playsAndCountsRequests() async throws {
        let process = try ChildProcess(Repository.path("tools/lab/moto"), [])
        let endpoint = try await process.line(startingWith: "moto is listening on ", within: .seconds(300))
        try await makeReadableBucket(at: endpoint)
        try await Scene.with { scene in
            try await expectOneRequestForEachFile(scene, endpoint)
            try await expectNoRepetitionAfterKill(scene, endpoint)
            try await scene.origin.stop()
        }
        try await expectOriginFrames(of: endpoint + "/films/by/weir/master.m3u8")
    }

    /// Makes a bucket from which everyone may read.
    private func makeReadableBucket(at endpoint: String) async throws {
        #expect(try await HTTPProbe.fetch(endpoint + "/films", method: "PUT").status == 200)
        let policy =
            #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","#
            + #""Resource":"arn:aws:s3:::films/*"}]}"#
        let opened = try await HTTPProbe.fetch(endpoint + "/films?policy", method: "PUT", body: Data(policy.utf8))
        #expect((200..<300).contains(opened.status), "\(opened.text)")
    }

    private func publication(to endpoint: String) -> [String] {
        ["publish", "cmaf", "s3://films/by/weir", "--endpoint", endpoint]
    }

    private func publish(_ scene: Scene, to endpoint: String) async throws -> ProcessResult {
        try await scene.weir.run(publication(to: endpoint), environment: Self.keys)
    }

    /// The number of successful uploads since the last call.
    private func uploads(to endpoint: String) async throws -> Int {
        let requests = try JSONDecoder().decode(
            [String].self, from: try await HTTPProbe.fetch(endpoint + "/_requests", method: "DELETE").body)
        return requests.count { $0.hasPrefix("PUT /films/by/weir/") && $0.hasSuffix(" 200") }
    }

    /// Expects one upload for each file and one for the record, and none the second time.
    private func expectOneRequestForEachFile(_ scene: Scene, _ endpoint: String) async throws {
        try await scene.store("cmaf", ["-q", "90p"])
        _ = try await uploads(to: endpoint)
        for (sent, requests) in [(27, 28), (0, 0)] {
            let result = try await publish(scene, to: endpoint)
            #expect(
                result.exit == .code(0) && result.output.contains(": \(sent) of 27 files sent"),
                "\(result.output)\(result.errors)")
            #expect(try await uploads(to: endpoint) == requests)
        }
    }

    /// Expects that what was uploaded before a kill is not uploaded again, when a better variant was stored meanwhile.
    private func expectNoRepetitionAfterKill(_ scene: Scene, _ endpoint: String) async throws {
        // The first variant's playlist is second to last: at the kill, all its pieces are stored.
        try await scene.store("cmaf", ["-q", "best"])
        let command = try scene.weir.begin(publication(to: endpoint), environment: Self.keys)
        var before = 0
        try await waitUntil("some files", within: .seconds(30)) {
            before += try await uploads(to: endpoint)
            return before > 0
        }
        try await scene.weir.kill()
        let exit = try await command.end()
        #expect([.code(75), .code(69), .code(0)].contains(exit), "\(exit) \(command.standardError)")

        try await scene.weir.start()
        before += try await uploads(to: endpoint)
        let last = try await publish(scene, to: endpoint)
        #expect(last.exit == .code(0), "\(last.errors)")
        let after = try await uploads(to: endpoint)
        // The record, 14 pieces with their checksums and playlist, and the multivariant playlist. Each upload in progress
        // at the kill, with its response lost, costs only a HEAD.
        #expect(before + after == 1 + 15 + 1, "\(before) and \(after)")
    }

    /// Expects that the publication plays as the origin did, and through a second Weir as itself.
    private func expectOriginFrames(of master: String) async throws {
        let frames = try await FrameHashes.of(master)
        #expect(frames.streams.count == 3)
        #expect(try await frames.firstDifference(fromPartOf: PlainFrames.of("cmaf")) == nil)
        try await Scene.with { scene in
            let again = try await FrameHashes.of(scene.weir.url("/" + master))
            #expect(again.firstDifference(from: frames) == nil)
        }
    }
}
