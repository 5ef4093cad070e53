import EventLoop
import HTTPMessage
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Header fields that a player sends with its request for an entry, and that go to the origin.
@Suite struct PlayerFieldsTests {
    private func read(_ fields: [String], isOwners: Bool = true) throws -> PlayerFields {
        let lines = ["GET /https://h/m.m3u8 HTTP/1.1", "Host: localhost:8216"] + fields
        let head = try RequestHead(parsing: lines.joined(separator: "\r\n") + "\r\n\r\n")
        return PlayerFields(of: head, isOwners: isOwners, secrets: ["t0ken"])
    }

    @Test(arguments: [
        (["User-Agent: Lavf/59", "Referer: https://s/", "Range: bytes=0-"], ["Referer"]),
        (["User-Agent: Box/2", "Origin: https://s"], ["Origin", "User-Agent"]),
        (["Authorization: Bearer a", "Cookie: b=c", "Accept: */*"], ["Authorization", "Cookie"]),
        (["User-Agent: libmpv"], []), (["User-Agent: VLC/3.0.24 LibVLC/3.0.24"], []),
        (["Authorization: Bearer t0ken", "Referer: https://s/"], ["Referer"]),
        (["User-Agent: Mozilla/5.0 (X11) Firefox/1", "Referer: https://s/"], []),
        (["User-Agent: Box/2", "Referer: https://s/", "Sec-Fetch-Site: none"], []),
        (["User-Agent: Box/2", "Sec-Fetch-Dest: video"], []),
        (["User-Agent: Box/2", "Referer: http://localhost:8216/", "Authorization: a"], []),
        (["User-Agent: Box/2", "Referer: http://127.0.0.1:9/x", "Cookie: a=b"], []),
        (["User-Agent: Box/2", "Origin: http://[::1]:3000", "Cookie: a=b"], []),
        (["Referer: https://a/", "Referer: https://b/"], []), (["Referer:"], []),
    ])
    func onlyFieldsOfAPlayerCount(fields: [String], expected: [String]) throws {
        #expect(try read(fields).lines.map(\.name) == expected)
        #expect(try read(fields, isOwners: false).lines == [], "another user, or another machine")
    }

    @Test func theAgentOfABrowserIsSentWhileItPlaysAndNotKept() throws {
        let fields = try read(["User-Agent: Mozilla/5.0", "Sec-Fetch-Site: same-origin"], isOwners: false)
        #expect(fields.agent?.value == "Mozilla/5.0" && fields.lines.isEmpty)
        let added = fields.added(to: try UserFields(["DNT: 1"]))
        #expect(added.texts == ["DNT: 1"] && added.shared.map(\.name) == ["DNT", "User-Agent"])
        #expect(fields.added(to: try UserFields(["User-Agent: TV"])).shared.map(\.value) == ["TV"])
    }

    @LoopActor @Test func fieldsOfAPlayerReachTheOriginAndStay() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = fixture.typed("/ts/master.m3u8")
        let sent = [
            "Referer": "https://site.example/", "Origin": "https://site.example", "User-Agent": "Box/2",
            "Authorization": "Bearer a", "Cookie": "c=d",
        ]
        let path = try #require(try await fixture.paths(at: entry, sent).first)
        let segment = try #require(try await fixture.paths(at: path).first)
        #expect(try await fixture.get(segment).status == 200)
        for request in try await fixture.origin.requests() {
            for (name, value) in sent {
                #expect(request.headers[name.lowercased()] == value, "\(request.path)")
            }
        }
        let asset = try #require(fixture.library.assets.first)
        #expect(Set(asset.fields.texts) == Set(sent.map { "@ \($0.key): \($0.value)" }))
        #expect(asset.fields.given.isEmpty)
        // A player without them has them too, but for its own name.
        try await fixture.origin.clearRequests()
        _ = try await fixture.get("/" + fixture.origin.url("/ts/master.m3u8") + "?", ["User-Agent": "Lavf/59"])
        _ = try await fixture.get(entry, ["User-Agent": "Lavf/59"])
        #expect(asset.fields.shared.filter { $0.name == "User-Agent" }.map(\.value) == ["Lavf/59"])
        #expect(asset.fields.texts.contains("@ User-Agent: Box/2"))
    }

    @LoopActor @Test func aSessionOfAnotherAccountSharesNothing() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = fixture.typed("/ts/master.m3u8")
        let agent = ["User-Agent": "Lavf/59"]
        func play(_ account: String) async throws -> String {
            let fields = agent.merging(["Authorization": account]) { $1 }
            let path = try #require(try await fixture.paths(at: entry, fields).first)
            let segment = try #require(try await fixture.paths(at: path).first)
            #expect(try await fixture.get(segment).status == 200)
            return segment
        }
        let first = try await play("Bearer a")
        let asset = try #require(fixture.library.assets.first)
        let bytes = asset.bytes
        #expect(bytes > 0)
        try await fixture.origin.clearRequests()
        let second = try await play("Bearer b")
        let requests = try await fixture.origin.requests()
        #expect(requests.contains { $0.path.hasSuffix(".ts") }, "it gets nothing of the first account")
        #expect(requests.allSatisfy { $0.headers["authorization"] == "Bearer b" })
        #expect(first.split(separator: "/")[1] != second.split(separator: "/")[1])
        #expect(fixture.library.assets.count == 1 && asset.bytes == bytes)
        #expect(asset.fields.texts.contains("@ Authorization: Bearer a"))
        // The first account goes on with what is stored.
        try await fixture.origin.clearRequests()
        #expect(try await fixture.get(first).status == 200)
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @LoopActor @Test func theOriginsChallengeDoesNotReachThePlayer() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.origin.add(
            OriginRule("*/master.m3u8") {
                ($0.status, $0.headers) = (401, ["WWW-Authenticate": "Basic realm=\"tv\""])
            })
        let answer = try await fixture.get(fixture.typed("/ts/master.m3u8"))
        #expect(answer.status >= 400 && answer["www-authenticate"] == nil)
    }
}
