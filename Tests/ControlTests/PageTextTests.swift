import CPage
import EventLoop
import Foundation
import HTTPMessage
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// The page's document, and its routes.
@Suite struct PageTextTests {
    @Test func onlyPlaceholdersOfATemplateAreFilled() {
        let template = PageTemplate(
            Array("a<!--weir:mount-->b<!--weir:none--><!-- c --><!--weir:mount-->d<!--weir:".utf8))
        let filled = template.filled([.mount: "<!--weir:none-->"])
        #expect(
            String(decoding: filled, as: UTF8.self)
                == "a<!--weir:none-->b<!--weir:none--><!-- c --><!--weir:none-->d<!--weir:")
        #expect(PageTemplate([]).filled([.mount: "x"]).isEmpty)
    }

    /// The page has no build step: its files are as they are read, and are small together.
    @Test func theFilesOfThePageAreSmall() {
        let size = (0..<page_file_count()).reduce(0) { $0 + page_file_at($1).length }
        #expect((100_000..<150_000).contains(size), "\(size) bytes")
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
