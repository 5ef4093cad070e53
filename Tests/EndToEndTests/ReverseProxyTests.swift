import Foundation
import TestSupport
import Testing

@Suite("nginx in front of Weir, with the recipe of the guide")
struct ReverseProxyTests {
    private func recipe() throws -> String {
        try String(contentsOfFile: Repository.path("conf/nginx/weir-proxy.conf"), encoding: .utf8)
    }

    @Test("plays the origin's frames by name, and admits to nothing else")
    func admitsPlayers() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("cmaf", ["-q", "best"]).exit == .code(0))
            _ = try await FrameHashes.of(scene.master("ts"))
            let weir = "127.0.0.1:\(await scene.weir.port)"
            let nginx = try await PlainServer(root: scene.weir.state, recipe: try recipe(), weir: weir)
            try await expectFrames(nginx.url("/ts.m3u8"), of: "ts")
            try await scene.origin.stop()
            try await expectFrames(nginx.url("/offline/cmaf.m3u8"), ofBestOf: "cmaf")
            let refused = [
                "", "weir.m3u", "cmaf.en.vtt", "metrics", "api/v1/mode", "api/v1/openapi.json", "token",
                scene.origin.master("ts"), "offline/" + scene.origin.master("ts"), "./" + scene.origin.master("ts"),
                "a/../api/v1/mode", "a/..%2Fapi/v1/mode", "a//../../metrics",
            ]
            for path in refused {
                let answer = try await HTTPProbe.fetch(nginx.url("/" + path))
                #expect(answer.status >= 400 && !answer.text.contains("#EXTM3U"), "\(path): \(answer.status)")
                #expect(!answer.text.contains("weir_") && !answer.text.contains("\"mode\""), "\(path)")
            }
        }
    }

    @Test("has its own name in absolute URLs, whatever the client claims")
    func givesItsName() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let fields = ["x-forwarded-host": "evil.example", "x-forwarded-proto": "https"]
            // The whole of Weir, for those who are trusted.
            let all = try recipe().replacing("return 404;", with: "proxy_pass http://127.0.0.1:8216;")
            let nginx = try await PlainServer(
                root: scene.weir.state, recipe: all, weir: "127.0.0.1:\(await scene.weir.port)")
            let list = try await HTTPProbe.fetch(nginx.url("/weir.m3u"), fields: fields)
            #expect(list.status == 200 && list.text.contains(nginx.url("/ts.m3u8")), "\(list.text)")
            #expect(!list.text.contains("evil") && !list.text.contains("https:"), "\(list.text)")
        }
    }
}
