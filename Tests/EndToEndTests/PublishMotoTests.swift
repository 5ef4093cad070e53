import Foundation
import TestSupport
import Testing

/// Publishes to moto, an independent S3 implementation; the other tests use our own store.
@Suite("A publication to moto")
struct PublishMotoTests {
    @Test("plays, downloads to a second Weir, and takes an exact number of requests, also after a kill")
    func playsAndCountsRequests() async throws {
        let process = try ChildProcess(Repository.path("tools/lab/moto"), [])
        let endpoint = try await process.line(startingWith: "moto is listening on ", within: .seconds(300))
        #expect(try await HTTPProbe.fetch(endpoint + "/films", method: "PUT").status == 200)
        // The bucket is publicly readable.
        let policy =
            #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","#
            + #""Resource":"arn:aws:s3:::films/*"}]}"#
        let opened = try await HTTPProbe.fetch(endpoint + "/films?policy", method: "PUT", body: Data(policy.utf8))
        #expect((200..<300).contains(opened.status), "\(opened.text)")
        let publish = ["publish", "cmaf", "s3://films/by/weir", "--endpoint", endpoint]
        let keys = ["AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"]
        func count(_ method: String) async throws -> Int {
            let requests = try JSONDecoder().decode(
                [String].self, from: try await HTTPProbe.fetch(endpoint + "/_requests", method: "DELETE").body)
            return requests.count { $0.hasPrefix(method + " /films/by/weir/") && $0.hasSuffix(" 200") }
        }
        try await Scene.with { scene in
            try await scene.store("cmaf", ["-q", "90p"])
            _ = try await count("PUT")
            let first = try await scene.weir.run(publish, environment: keys)
            #expect(
                first.exit == .code(0) && first.output.contains(": 27 of 27 files sent"),
                "\(first.output)\(first.errors)")
            #expect(try await count("PUT") == 28)
            let second = try await scene.weir.run(publish, environment: keys)
            #expect(
                second.exit == .code(0) && second.output.contains(": 0 of 27 files sent"),
                "\(second.output)\(second.errors)")
            #expect(try await count("PUT") == 0)

            // The first variant's playlist is second to last: at the kill, all its pieces are stored.
            try await scene.store("cmaf")
            let command = try scene.weir.begin(publish, environment: keys)
            var before = 0
            try await waitUntil("some files", within: .seconds(30)) {
                before += try await count("PUT")
                return before > 0
            }
            try await scene.weir.kill()
            let exit = try await command.end()
            #expect([.code(75), .code(69), .code(0)].contains(exit), "\(exit) \(command.standardError)")
            try await scene.weir.start()
            before += try await count("PUT")
            let last = try await scene.weir.run(publish, environment: keys)
            #expect(last.exit == .code(0), "\(last.errors)")
            let after = try await count("PUT")
            // The record, 14 pieces with their checksums and playlist, and the multivariant playlist. Each upload in progress
            // at the kill, with its response lost, costs only a HEAD.
            #expect(before + after == 1 + 15 + 1, "\(before) and \(after)")
            try await scene.origin.stop()
        }
        let master = endpoint + "/films/by/weir/master.m3u8"
        let frames = try await FrameHashes.of(master)
        #expect(frames.streams.count == 3)
        #expect(try await frames.firstDifference(fromPartOf: PlainFrames.of("cmaf")) == nil)
        try await Scene.with { scene in
            let again = try await FrameHashes.of(scene.weir.url("/" + master))
            #expect(again.firstDifference(from: frames) == nil)
        }
    }
}
