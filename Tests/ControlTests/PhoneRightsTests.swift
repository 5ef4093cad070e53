import AccessLog
import EventLoop
import Foundation
import HTTPMessage
import Orders
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// The requests of the API that a phone may make.
@Suite struct PhoneRightsTests {
    /// All that a phone may do. Every other endpoint is refused, new ones too.
    private static let admitted: Set<String> = [
        "GET /assets", "GET /assets/{name}", "GET /assets/{name}/artwork", "GET /assets/{name}/poster", "GET /mode",
        "GET /events", "GET /sessions",
        "GET /downloads", "POST /downloads", "GET /downloads/{id}", "POST /downloads/{id}/pause",
        "POST /downloads/{id}/resume", "POST /downloads/{id}/cancel", "POST /downloads/{id}/first", "POST /selection",
    ]

    @LoopActor private final class Stage {
        let service = ScriptedService()
        let routes: ControlRoutes
        let folder: TemporaryFolder

        private let house: TestHouse?

        /// - Parameter house: a house whose endpoints are all there; nil for those of a scripted service.
        init(of house: TestHouse? = nil) throws {
            folder = try TemporaryFolder()
            self.house = house
            let handlers = house.map { AllEndpoints.handlers(of: $0) } ?? service.handlers
            routes = ControlRoutes(handlers, events: EventFeed(snapshot: { [] }), token: "secret-token")
            routes.access.phones = Phones(in: StateDirectory(folder.path), now: { 7 })
            routes.access.lan = API.LAN(url: "http://192.168.1.5:8216/t/media-token")
        }

        func ask(_ method: HTTPMethod, _ path: String, _ body: String = "", isPhone: Bool = true) async
            -> ControlResponse
        {
            var request = ControlRequest(
                method, API.root + path, authorization: "Bearer secret-token", contentType: "application/json",
                body: Array(body.utf8))
            request.phone = isPhone ? "digest" : nil
            return await routes.respond(to: request)
        }

        var isUnchanged: Bool {
            service.removed.isEmpty && service.changes.isEmpty && service.policies.isEmpty
                && service.currentMode == API.Mode(.auto)
        }
    }

    @LoopActor @Test func eachEndpointIsDecided() async throws {
        let stage = try Stage(of: try await AllEndpoints.house())
        var decided: Set<String> = []
        for line in stage.routes.lines {
            let name = "\(line.method.rawValue) \(line.path)"
            guard !line.isForPhones else {
                decided.insert(name)
                continue
            }
            let answer = await stage.ask(line.method, line.path(with: ["x", "x"]), "{}")
            #expect(answer.status == .forbidden, "\(name)")
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"not-for-phones""#), "\(name)")
        }
        #expect(decided == Self.admitted)
    }

    @LoopActor
    @Test(arguments: [
        #""headers":[{"name":"Cookie","value":"a=b"}]"#, #""cookies":["a=b"]"#, #""route":{"proxy":"http://h:1"}"#,
        #""artwork":"AAAA""#, #""ignoreSpace":true"#, #""rules":{"metered":"allow"}"#, #""name":"other""#,
    ])
    func anOrderNamesNothingOfThisMachine(key: String) async throws {
        let stage = try Stage()
        for path in ["/downloads", "/selection"] {
            let answer = await stage.ask(.post, path, "{\"source\":\"https://h/m.m3u8\",\(key)}")
            #expect(answer.status == .forbidden, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        #expect(await stage.ask(.post, "/downloads/d1/resume", #"{"url":"https://h/n.m3u8"}"#).status == .forbidden)
        #expect(stage.service.requests.isEmpty)
    }

    @LoopActor @Test func aURLOfAPhoneCountsAsALink() async throws {
        let stage = try Stage()
        let answer = await stage.ask(.post, "/downloads", #"{"source":"https://h/m.m3u8","quality":"worst"}"#)
        #expect(answer.status == .accepted, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(stage.service.requests.map(\.isFromLink) == [true])
    }

    @Test func pathsOriginsAndClientsAreLeftOut() throws {
        var asset = API.Asset(name: "film", id: "i", title: "The Film", url: "https://h.example/m.m3u8?token=secret")
        asset.path = "/home/secret"
        asset.volume = API.Volume(path: "/mnt/secret", isPresent: true)
        asset.unreadable = "/home/secret is newer"
        asset.logo = "https://h/secret"
        asset.playable = Playability(.no, "the disk /mnt/secret is absent")
        var download = API.Download(id: "i", asset: "film", title: "The Film")
        download.error = API.Download.Failure(code: .diskFull, message: "/home/secret is full")
        download.reasons = [.init(.space, "/home/secret"), .init(kind: .user, message: "until tonight")]
        let replies: [any Encodable] = [
            API.AssetList(assets: [asset]), asset, API.DownloadList(downloads: [download]), download,
        ]
        for reply in replies {
            #expect(String(decoding: try API.encode(reply), as: UTF8.self).contains("secret"))
            let text = String(decoding: try PhoneRights.encoded(reply), as: UTF8.self)
            #expect(text.contains("The Film") && !text.contains("secret"), "\(text)")
        }
        #expect(throws: APIError.self) { try PhoneRights.encoded(API.Removal(name: "film", bytes: 5)) }
        let event = try #require(API.Event.snapshot([download]).forPhone)
        #expect(!String(decoding: try event.data, as: UTF8.self).contains("secret"))
        #expect(API.Event.move(API.Move(asset: "film", state: .running)).forPhone == nil)
        let error = PhoneRights.filtered(APIError(.diskFull, "/home/secret is full", next: "weir serve --store DIR"))
        #expect(error.message == "the disk is full" && error.next?.contains("--store") != true)
    }

    @LoopActor @Test func sixteenPhonesAreKeptAsDigests() async throws {
        let stage = try Stage()
        let made = await stage.ask(.post, "/phones", #"{"name":"0"}"#, isPhone: false)
        let link: API.PhoneLink = try API.decode(from: made.body)
        let token = try #require(link.url.split(separator: "/").last.map(String.init))
        #expect(link.url == "http://192.168.1.5:8216/t/\(token)/" && StateDirectory.isToken(token))
        #expect(await stage.ask(.post, "/phones", #"{"name":"0"}"#, isPhone: false).status.code == 409)
        for name in ["", " a", String(repeating: "a", count: 41), "a\\nb", "\\u202eb"] {
            #expect(await stage.ask(.post, "/phones", "{\"name\":\"\(name)\"}", isPhone: false).status == .badRequest)
        }
        for number in 1...16 {
            let answer = await stage.ask(.post, "/phones", "{\"name\":\"\(number)\"}", isPhone: false)
            #expect(answer.status.code == (number < 16 ? 201 : 409))
        }
        let file = stage.folder.path("phones")
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains(token))
        let phones = try #require(stage.routes.access.phones)
        #expect(phones.phone(with: token.utf8) != nil && phones.phone(with: token.dropLast().utf8) == nil)
        #expect(phones.all[0] == API.Phone(name: "0", created: 7, seen: 7))
        // The next daemon knows them, unless others could have written the file.
        phones.close()
        #expect(Phones(in: StateDirectory(stage.folder.path)).all.count == 16)
        #expect(await stage.ask(.delete, "/phones/0", isPhone: false).status == .ok)
        #expect(phones.phone(with: token.utf8) == nil)
        #expect(await stage.ask(.delete, "/phones/0", isPhone: false).status == .notFound)
        #expect(Phones(in: StateDirectory(stage.folder.path)).all.count == 15)
        chmod(file, 0o620)
        var reports: [String] = []
        #expect(Phones(in: StateDirectory(stage.folder.path), report: { reports.append($0) }).all.isEmpty)
        #expect(reports.count == 1 && reports[0].contains("no phone is admitted"))
        #expect(await stage.ask(.delete, "/phones", isPhone: false).status == .ok)
        #expect(phones.all.isEmpty)
    }
}
