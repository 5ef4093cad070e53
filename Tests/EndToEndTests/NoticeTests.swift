import Foundation
import TestSupport
import Testing

@Suite("The user's programs for events")
struct NoticeTests {
    /// A program that keeps its environment and its standard input in files named after the event.
    private func recorder(in folder: TemporaryFolder) throws -> String {
        let script = """
            #!/bin/sh
            env >"\(folder.path)/environment"
            cat >"\(folder.path)/input"
            echo "$WEIR_EVENT $WEIR_ASSET $# $1 $WEIR_CAUSE" >>"\(folder.path)/events"
            """
        let path = try folder.write(Data(script.utf8), to: "recorder")
        chmod(path, 0o755)
        return path
    }

    private func events(_ folder: TemporaryFolder) -> [String] {
        let text = try? String(contentsOfFile: folder.path("events"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    @Test("run when a download is complete or has failed, and when an asset has expired")
    func run() async throws {
        let folder = try TemporaryFolder()
        let program = try recorder(in: folder)
        let options = ["complete", "fail", "expire"].flatMap { ["--on-\($0)", program, "--on-\($0)", "an argument"] }
        try await Scene.with(options: options) { scene in
            let url = scene.origin.master("ts")
            let get = try await scene.weir.run(["get", url, "-q", "worst", "--title", "A 'title'"])
            #expect(get.exit == .code(0), "\(get)")
            try await waitUntil("the first event") { !events(folder).isEmpty }
            #expect(events(folder) == ["complete ts 1 an argument "])
            let environment = try String(contentsOfFile: folder.path("environment"), encoding: .utf8)
            #expect(environment.contains("WEIR_ASSET_TITLE=A 'title'\n"))
            #expect(environment.contains("WEIR_STATE=\(scene.weir.state)\n"))
            #expect(!environment.contains("NO_COLOR"), "the environment is not small: \(environment)")
            let input = try Data(contentsOf: URL(fileURLWithPath: folder.path("input")))
            let object = try #require(try JSONSerialization.jsonObject(with: input) as? [String: Any])
            let asset = try #require(object["asset"] as? [String: Any])
            #expect(object["t"] as? String == "complete" && asset["local"] as? String == "yes")
            let log = await scene.weir.log
            #expect(log.contains(": ts: download begins") && log.contains(": ts: saved, "), "\(log)")
            #expect(try await scene.weir.run(["policy", "ts", "--expires", "1s"]).exit == .code(0))
            try await waitUntil("the expiry", within: .seconds(20)) { events(folder).count > 1 }
            #expect(events(folder).last == "expired ts 1 an argument its time by its policy is over")
        }
    }

    @Test("do not hold up Weir, and their failure is logged")
    func doNotHoldUp() async throws {
        let options = ["--on-complete", "/no/such/program"]
        try await Scene.with(options: options) { scene in
            let get = try await scene.weir.run(["get", scene.origin.master("ts"), "-q", "worst"])
            #expect(get.exit == .code(0), "\(get)")
            try await waitUntil("the log") {
                await scene.weir.log.contains("/no/such/program for ts (complete) has failed: ")
            }
        }
        let folder = try TemporaryFolder()
        let slow = try folder.write(Data("#!/bin/sh\nexec sleep 25\n".utf8), to: "slow")
        chmod(slow, 0o755)
        try await Scene.with(options: ["--on-complete", slow]) { scene in
            for name in ["ts", "cmaf"] {
                let get = try await scene.get(name, ["-q", "worst"])
                #expect(get.exit == .code(0), "\(get)")
            }
            #expect(try await scene.weir.run(["list"]).exit == .code(0))
        }
    }
}
