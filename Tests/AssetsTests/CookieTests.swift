import EventLoop
import Foundation
import HTTPMessage
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// The cookies of an asset: sent with all its requests, kept in a file of their own.
@Suite @LoopActor struct CookieTests {
    private static let secret = "tr0ub4dor"

    private func keepCookies(of fixture: TestHouse, in folder: TemporaryFolder) {
        fixture.library.cookieFolder = CookieFolder(folder.path("cookies")) { [log = fixture.log] in log.add($0) }
    }

    private func cookies(_ origin: TestOrigin) async throws -> Set<String?> {
        Set(try await origin.requests().map { $0.headers["cookie"] })
    }

    @Test func cookieOfTheMasterIsSentWithSegmentsAndSurvivesARestart() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        keepCookies(of: fixture, in: folder)
        try await fixture.origin.add(
            OriginRule("/login/master.m3u8") {
                $0.redirect = "/aes/master.m3u8"
                $0.headers = ["Set-Cookie": "hdntl=\(Self.secret); Path=/"]
            })
        let asset = try await fixture.library.open(fixture.url("/login/master.m3u8"))
        try await fixture.origin.clearRequests()
        try await fixture.fetch("video-90p", of: asset)
        #expect(try await cookies(fixture.origin) == ["hdntl=\(Self.secret)"])
        asset.access.cookies.save()

        let file = folder.path("cookies/\(asset.id)")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        fixture.library.publish(asset)
        for file in fixture.folder.files() {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(file)))
            #expect(bytes.range(of: Data(Self.secret.utf8)) == nil, "\(file)")
        }
        try await fixture.restart()
        keepCookies(of: fixture, in: folder)
        let again = try #require(fixture.library.assets.first)
        try await fixture.origin.clearRequests()
        try await fixture.fetch("video-180p", of: again)
        #expect(try await cookies(fixture.origin) == ["hdntl=\(Self.secret)"])
        _ = try await fixture.library.remove(again)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(fixture.log.lines.allSatisfy { !$0.contains(Self.secret) })
    }

    @Test func cookiesOfAFileAreKeptForTheHostsOfTheAssetOnly() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        keepCookies(of: fixture, in: folder)
        let lines = ["127.0.0.1\tFALSE\t/ts\tFALSE\t0\ta\tb", "bank.example\tFALSE\t/\tFALSE\t0\tc\td"]
        let given = lines.compactMap { StoredCookie($0.utf8) }
        let asset = try await fixture.library.open(fixture.url("/ts/master.m3u8"), cookies: given)
        #expect(try await cookies(fixture.origin) == ["a=b"])
        asset.access.cookies.save()
        let kept = try String(contentsOfFile: folder.path("cookies/\(asset.id)"), encoding: .utf8)
        #expect(kept == lines[0] + "\n")
    }

    @Test func fileOfAnAssetThatIsGoneIsDeleted() async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("cookies"), withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("cookies/film-0000")))
        keepCookies(of: fixture, in: folder)
        #expect(!FileManager.default.fileExists(atPath: folder.path("cookies/film-0000")))
    }

    @Test func fieldsThatAreNoCredentialsReachOtherHosts() async throws {
        let fixture = try await TestHouse()
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n/ts/90p/0.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/film.m3u8") { ($0.status, $0.body) = (200, media) })
        let texts = [
            "Referer: https://page/", "User-Agent: Box/2", "X-Auth-Token: t", "Cookie: a=b", "Authorization: c",
        ]
        let fields = try UserFields(texts)
        #expect(fields.shared.map(\.name) == ["Referer", "User-Agent"])
        #expect(fields.credentials.map(\.name) == ["X-Auth-Token", "Cookie", "Authorization"])
        let asset = try await fixture.library.open(fixture.url("/film.m3u8"), fields: fields)
        var elsewhere = OriginRequest(try WebURL("https://cdn.example/0.ts"))
        asset.access.grant(to: &elsewhere)
        #expect(elsewhere.credentials?.origin == asset.origin.origin)
        #expect(elsewhere.fields.map(\.name) == ["Referer", "User-Agent"])
        let own = try #require(try await fixture.origin.requests().first)
        #expect(own.headers["referer"] == "https://page/" && own.headers["x-auth-token"] == "t")
    }
}
