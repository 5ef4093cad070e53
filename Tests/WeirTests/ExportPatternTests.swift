import Foundation
import TestSupport
import Testing

@testable import weir

/// The pattern of `weir get --to`.
@Suite struct ExportPatternTests {
    private static let film = ExportPattern.Film(name: "film", title: "A/B: C?", quality: "720p", date: "2026-12-24")

    @Test(arguments: [
        ("/v/{title}.mkv", "/v/A_B_ C_.mkv"), ("/v/{name}-{quality}.mp4", "/v/film-720p.mp4"),
        ("/v/{date} {title}.{ext}", "/v/2026-12-24 A_B_ C_.mkv"), ("~/{name}.mkv", "/home/me/film.mkv"),
        ("/v/{title}", "/v/A_B_ C_"),
        ("/v/{quality}{name}{name}.mkv", "/v/720pfilmfilm.mkv"), ("/v/{name}.tar", "/v/film.tar"), ("x.mkv", "x.mkv"),
    ])
    func wordsInBracesStandForTheFilms(pattern: String, path: String) throws {
        let target = try ExportPattern(pattern, home: ExportPattern.home(["HOME": "/home/me"]))
        #expect(target.path(for: Self.film) { _ in false } == path)
    }

    @Test func bracesInATitleStandForThemselves() throws {
        let film = ExportPattern.Film(name: "film", title: "{date} {x", quality: nil, date: "2026-12-24")
        #expect(try ExportPattern("/v/{title}.mkv").path(for: film) { _ in false } == "/v/{date} {x.mkv")
    }

    @Test func aFolderGetsTheTitle() throws {
        let folder = try TemporaryFolder()
        for text in [folder.path, folder.path + "/"] {
            let target = try ExportPattern(text)
            let path = target.path(for: Self.film) { _ in false }
            #expect(DiskPath.absolute(path) == folder.path + "/A_B_ C_.mkv")
            #expect(DiskPath.absolute(target.knownFolder) == folder.path)
        }
    }

    @Test(arguments: [
        ("/v/{name}.mkv", ["/v/film.mkv"], "/v/film (2).mkv"),
        ("/v/{name}.mkv", ["/v/film.mkv", "/v/film (2).mkv"], "/v/film (3).mkv"),
        ("/v/{name}", ["/v/film"], "/v/film (2)"), ("/v/a.b", ["/v/a.b"], "/v/a.b (2)"),
    ])
    func nothingIsOverwritten(pattern: String, taken: [String], path: String?) throws {
        let target = try? ExportPattern(pattern)
        #expect(target?.path(for: Self.film) { taken.contains($0) } == path)
    }

    @Test(arguments: ["", "/v/{titel}.mkv", "/v/{title.mkv", "/v/{title}.zip", "/v/{title}.webm"])
    func refuses(pattern: String) {
        #expect(throws: (any Error).self) { try ExportPattern(pattern) }
    }

    @Test(arguments: [("/v/{title}.mkv", "/v"), ("{title}.mkv", "."), ("/{title}.mkv", "/"), ("a/b/c.mkv", "a/b")])
    func knowsTheFolderBeforeTheFilm(pattern: String, folder: String) throws {
        #expect(try ExportPattern(pattern).knownFolder == folder)
    }

    @Test(arguments: [
        ("..", ""), (".hidden", "hidden"), ("a\u{0}b\nc", "a_b_c"), ("Ä 日本", "Ä 日本"), ("end. ", "end"),
        (String(repeating: "ä", count: 150), String(repeating: "ä", count: 100)),
    ])
    func namesAreSafe(text: String, name: String) {
        #expect(FileName.safe(text) == name)
    }
}
