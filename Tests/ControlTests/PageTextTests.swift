import API
import EventLoop
import Foundation
import HTTPMessage
import Orders
import TestSupport
import Testing

@testable import Control

/// The page's text without scripts, and its routes.
@Suite struct PageTextTests {
    @Test func onlyPlaceholdersOfATemplateAreFilled() {
        let template = PageTemplate(
            Array("a<!--weir:assets-->b<!--weir:none--><!-- c --><!--weir:rest-->d<!--weir:".utf8))
        let filled = template.filled([.assets: "<!--weir:rest-->", .rest: "R"])
        #expect(String(decoding: filled, as: UTF8.self) == "a<!--weir:rest-->b<!--weir:none--><!-- c -->Rd<!--weir:")
        #expect(PageTemplate([]).filled([.assets: "x"]).isEmpty)
    }

    @Test func outsideContentIsEscaped() {
        var asset = API.Asset(
            name: "a<b>", id: "i", title: "<script>\"'&\u{0}", url: "https://h/m.m3u8", duration: 3725.4)
        asset.tracks.audio = [API.Rendition(id: "audio-en", group: "g", name: "<i>en</i>")]
        asset.tracks.audio[0].stored = .saved
        asset.bytes = 1_611_000_000
        let html = PageRow(asset, base: "http://localhost:8216").html
        #expect(html.contains("<bdi>&lt;script&gt;&quot;&#39;&amp;\u{FFFD}</bdi>"))
        #expect(html.contains("1:02:05 · 1.5 GB") && html.contains(">&lt;i&gt;en&lt;/i&gt;</li>"))
        #expect(html.contains("mpv http://localhost:8216/a%3Cb%3E.m3u8"))
    }

    @Test func aTrackHasTheWordOfItsState() {
        var asset = API.Asset(name: "a", id: "i", url: "https://h/m.m3u8")
        asset.tracks.audio = [AssetState.saved, .partlySaved, .cached, .notStored].map { state in
            var rendition = API.Rendition(id: "audio-\(state.rawValue)", group: "g", name: state.rawValue)
            rendition.stored = state
            return rendition
        }
        let html = PageRow(asset, base: "http://h").html
        #expect(html.contains("<li class=\"chip chip-saved\">saved</li>"))
        #expect(html.contains("<li class=\"chip chip-partly-saved\">partly-saved, partly saved</li>"))
        #expect(html.contains("<li class=\"chip chip-cached\">cached, cached</li>"))
        #expect(!html.contains("not-stored</li>"))
    }

    @Test(arguments: [
        (AssetState.saved, "Saved"), (.partlySaved, "Partly saved"), (.notStored, "Not stored"), (.failed, "Failed"),
    ])
    func theBadgeIsTheWordOfState(state: AssetState, word: String) {
        var asset = API.Asset(name: "a", id: "i", url: "https://h/m.m3u8")
        asset.state = state
        #expect(PageRow(asset, base: "http://h").html.contains(">\(word)</span>"))
    }

    @Test func longListsAreCut() throws {
        let all = API.AssetList(assets: (1...5).map { API.Asset(name: "a\($0)", id: "i", url: "https://h/m") })
        let body = try API.encode(all)
        let first = try #require(PageList(body, after: nil, limit: 2))
        #expect(first.assets.map(\.name) == ["a1", "a2"] && first.rest.contains("?after=a2"))
        let last = try #require(PageList(body, after: "a4", limit: 2))
        #expect(last.assets.map(\.name) == ["a5"] && last.rest.isEmpty)
        let cut = Array(String(decoding: body, as: UTF8.self).dropLast().utf8) + Array(",\"next\":\"a<\"}".utf8)
        #expect(try #require(PageList(cut, after: "x", limit: 9)).rest.contains("?after=a%3C"))
        #expect(PageList(Array("{}".utf8), after: nil, limit: 2) == nil)
    }

    @LoopActor @Test func thePageKeyOpensTheAPIAndIsNotDisclosed() async throws {
        let routes = ControlRoutes(ScriptedService().handlers, token: "secret-token")
        func ask(_ path: String, _ key: String) async -> ControlResponse {
            await routes.respond(to: ControlRequest(.get, path, authorization: "Bearer \(key)"))
        }
        let link = try API.decode(API.PageLink.self, from: await ask("/api/v1/page", "secret-token").body)
        let key = try #require(link.path.split(separator: "/").last.map(String.init))
        #expect(link.path == "/in/\(key)/" && StateDirectory.isToken(key))
        #expect(await ask("/api/v1/downloads", key).status == .ok)
        for wrong in ["", String(key.dropLast()), key + "A", key.lowercased(), "secret-tokem"] {
            #expect(await ask("/api/v1/page", wrong).status == .unauthorized)
        }
        // A kept key counts only for the owner's processes.
        let folder = try TemporaryFolder()
        let claim = try StateDirectory(folder.path).claim()
        try routes.pageKey.keep(in: claim)
        for isFromOwner in [true, false] {
            var request = ControlRequest(.get, "/api/v1/mode", authorization: "Bearer \(routes.pageKey.text)")
            request.isFromOwner = isFromOwner
            #expect(await routes.respond(to: request).status == (isFromOwner ? .ok : .unauthorized))
        }
        let kept = routes.pageKey.text
        let replaced = try API.decode(
            API.PageLink.self,
            from: await routes.respond(to: ControlRequest(.delete, "/api/v1/page", authorization: "Bearer \(kept)"))
                .body)
        #expect(replaced.path == "/in/\(routes.pageKey.text)/" && routes.pageKey.text != kept)
        #expect(await ask("/api/v1/mode", kept).status == .unauthorized)
        #expect(try String(contentsOfFile: folder.path("page-key"), encoding: .utf8) == routes.pageKey.text + "\n")
        let other = ControlRoutes(ScriptedService().handlers, token: "secret-token")
        let answer = await other.respond(to: ControlRequest(.get, "/api/v1/page", authorization: "Bearer \(key)"))
        #expect(answer.status == .unauthorized)
    }
}
