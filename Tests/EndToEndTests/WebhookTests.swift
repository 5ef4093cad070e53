import Foundation
import TestSupport
import Testing

/// Events of downloads at a receiver of the user's.
@Suite("A webhook")
struct WebhookTests {
    /// Answers the first `failures` requests with 500, and prints the body of each other one, with its Authorization.
    private static let receiver = """
        import http.server, json, sys
        left = int(sys.argv[1])
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                global left
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                left -= 1
                if left < 0:
                    body["authorization"] = self.headers.get("Authorization")
                    body["type"] = self.headers.get("Content-Type")
                    print(json.dumps(body), flush=True)
                self.send_response(500 if left >= 0 else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()
            def do_HEAD(self):
                self.send_response(405)
                self.end_headers()
            def log_message(self, *words):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print("listening on %d" % server.server_port, flush=True)
        server.serve_forever()
        """

    private struct Receiver {
        let process: ChildProcess
        let port: String

        init(failures: Int = 0) async throws {
            process = try ChildProcess("python3", ["-c", WebhookTests.receiver, "\(failures)"])
            port = try await process.line(startingWith: "listening on ")
        }

        var messages: [[String: Any]] {
            process.standardOutput.split(separator: "\n").compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
        }

        var events: [String] { messages.compactMap { $0["event"] as? String } }
    }

    @Test("gets the events of a download in their order, after failures too, and no secret")
    func events() async throws {
        let receiver = try await Receiver(failures: 2)
        let all = ["selection-resolved", "selection-complete", "selections-further", "complete", "removed"]
        let options =
            ["--webhook", "http://anna:pa%20ss@127.0.0.1:\(receiver.port)/weir"]
            + all.flatMap { ["--webhook-events", $0] }
        try await Scene.with(options: options) { scene in
            let url = scene.origin.master("ts") + "?token=secret"
            let got = try await scene.weir.run(["get", url, "-q", "worst", "--header", "Authorization: Bearer secret"])
            #expect(got.exit == .code(0), "\(got.errors)")
            #expect(try await scene.weir.run(["remove", "ts", "--yes"]).exit == .code(0))
            try await waitUntil("all events") { receiver.events.last == "removed" }
            #expect(
                receiver.events == [
                    "selection-resolved", "selections-further", "selection-complete", "complete", "removed",
                ])
            let complete = try #require(receiver.messages.first { $0["event"] as? String == "complete" })
            #expect(complete["message"] as? String == "ts is saved" && complete["asset"] as? String == "ts")
            #expect((complete["download"] as? [String: Any])?["state"] as? String == "complete")
            #expect(complete["authorization"] as? String == "Basic YW5uYTpwYSBzcw==")
            #expect(complete["type"] as? String == "application/json")
            #expect(!receiver.process.standardOutput.contains("secret"))
            let log = await scene.weir.log
            #expect(!log.contains("pa%20ss") && !log.contains("pa ss"))
        }
    }

    @Test("is told which download failed, and only the events that were chosen")
    func failure() async throws {
        let receiver = try await Receiver()
        let options = ["--webhook", "http://127.0.0.1:\(receiver.port)/weir", "--webhook-events", "failed"]
        try await Scene.with(options: options) { scene in
            try await scene.origin.add(OriginRule("/ts/*/5.ts") { $0.status = 404 })
            #expect(try await scene.get("ts", ["-q", "worst"]).exit != .code(0))
            try await waitUntil("the failure") { !receiver.events.isEmpty }
            #expect(receiver.events == ["failed"])
            let words = receiver.messages.first?["message"] as? String
            #expect(words?.hasPrefix("the download of ts failed: ") == true, "\(words ?? "")")
        }
    }

    @Test("is looked at by weir doctor, which sends no event")
    func doctor() async throws {
        let receiver = try await Receiver()
        try await Scene.with(isStarted: false) { scene in
            func found(_ url: String) async throws -> String {
                let result = try await scene.weir.run(["doctor"], environment: ["WEIR_WEBHOOK": url])
                return result.output.split(separator: "\n").first { $0.contains("webhook") }.map(String.init) ?? ""
            }
            let good = try await found("http://127.0.0.1:\(receiver.port)/weir")
            #expect(good.contains("answers (405)"), "\(good)")
            let bad = try await found("http://127.0.0.1:1/weir")
            #expect(bad.contains("it gets no events"), "\(bad)")
            #expect(receiver.events == [])
        }
    }
}
