import EventLoop
import HTTPMessage
import Orders
import Testing
import WeirAPI

@testable import Control

@LoopActor @Suite struct ControlRoutesTests {
    private let service = ScriptedService()
    private let token = "secret-token"

    private func respond(_ request: ControlRequest) async throws -> (response: ControlResponse, text: String) {
        let routes = ControlRoutes(service.handlers, events: EventFeed(snapshot: { [] }), token: token)
        let response = await routes.respond(to: request)
        return (response, String(decoding: response.body, as: UTF8.self))
    }

    private func ask(
        _ method: HTTPMethod, _ path: String, query: String? = nil, type: String? = nil, body: String = ""
    ) async throws -> (response: ControlResponse, text: String) {
        try await respond(
            ControlRequest(
                method, path, query: query, authorization: "Bearer \(token)", contentType: type, body: Array(body.utf8))
        )
    }

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Bearer secret-toke", "Bearer secret-token ", "Bearer secret-tokem",
        "bearer secret-token", "secret-token", "Basic secret-token", "Bearer \u{0}",
    ])
    func withoutTheTokenNothingIsToldNotEvenWhatExists(authorization: String?) async throws {
        for path in ["/api/v1/assets", "/api/v1/nothing", "/api"] {
            let (response, text) = try await respond(ControlRequest(.get, path, authorization: authorization))
            #expect(response.status == .unauthorized)
            #expect(response.isProblem)
            #expect(!text.contains("sintel"))
        }
    }

    @Test func anEmptyTokenIsRefused() async {
        let routes = ControlRoutes(service.handlers, token: "")
        let response = await routes.respond(to: ControlRequest(.get, "/api/v1/assets", authorization: "Bearer "))
        #expect(response.status == .unauthorized)
    }

    @Test(arguments: [
        ("/api/v1/assets", #"{"assets":[{"bytes":0,"duration":888.1,"id":"sintel-k3f9","#),
        ("/api/v1/assets/sintel", #"{"bytes":0,"duration":888.1,"id":"sintel-k3f9","#),
        ("/api/v1/assets/a%20b%2Fc", #"{"bytes":0,"duration":888.1,"id":"sintel-k3f9","#),
        ("/api/v1/downloads", #"{"downloads":[{"asset":"sintel","bytes":0,"expected":[],"#),
        ("/api/v1/downloads/d1", #"{"asset":"sintel","bytes":0,"expected":[],"fraction":0,"id":"d1","#),
    ])
    func aGetIsAnsweredWithItsShape(path: String, start: String) async throws {
        let (response, text) = try await ask(.get, path)
        #expect(response.status == .ok)
        #expect(!response.isProblem)
        #expect(text.hasPrefix(start), "\(text)")
        #expect(try await ask(.head, path).response.status == .ok)
    }

    @Test func theModeIsToldAndChanged() async throws {
        #expect(try await ask(.get, "/api/v1/mode").text == #"{"mode":"auto"}"#)
        let put = try await ask(.put, "/api/v1/mode", type: "application/json", body: #"{"mode":"offline"}"#)
        #expect(put.response.status == .ok && put.text == #"{"mode":"offline"}"#)
        #expect(service.currentMode == API.Mode(.offline))
        for (type, body, status) in [
            ("application/json", #"{"mode":"sideways"}"#, 400), ("application/json", "", 400),
            ("text/plain", #"{"mode":"auto"}"#, 415),
        ] {
            let answer = try await ask(.put, "/api/v1/mode", type: type, body: body)
            #expect(answer.response.status.code == status, "\(body)")
        }
        #expect(service.currentMode == API.Mode(.offline))
        #expect(try await ask(.post, "/api/v1/mode").response.allow == "GET, HEAD, PUT")
    }

    @Test func aPresentationIsRequestedByItsEncodedURL() async throws {
        let (response, text) = try await ask(
            .get, "/api/v1/presentation", query: "url=https%3A%2F%2Fh%2Fm.m3u8%3Fa%3D1%26b%3D2")
        #expect(response.status == .ok)
        #expect(text.contains(#""url":"https://h/m.m3u8?a=1&b=2""#))
        for query in [nil, "url=", "url", "url=%", "url=%FF", "u=1", "url=a&url=b", "url=a&x=1"] {
            #expect(try await ask(.get, "/api/v1/presentation", query: query).response.status == .badRequest)
        }
    }

    @Test(arguments: [
        ("GET", "assets", "foo=1", "foo"), ("GET", "assets", "brief=1&limit=2&brief=1", "brief"),
        ("GET", "assets", "Limit=2", "Limit"), ("GET", "assets", "limit%3D=2", "limit="), ("GET", "assets", "=1", ""),
        ("POST", "assets", "limit=2", "limit"), ("GET", "assets/sintel", "brief=1", "brief"),
        ("DELETE", "assets/sintel", "force=1", "force"), ("GET", "mode", "x", "x"), ("PUT", "mode", "x=1", "x"),
        ("GET", "downloads", "state=running", "state"), ("POST", "downloads/d1/pause", "x=1", "x"),
        ("GET", "events", "since=1", "since"), ("GET", "openapi.json", "v=2", "v"), ("HEAD", "assets", "foo=1", "foo"),
    ])
    func anUnknownOrRepeatedQueryKeyIsRefusedByName(
        method: String, path: String, query: String, key: String
    ) async throws {
        let (response, text) = try await ask(
            try #require(HTTPMethod(rawValue: method)), "/api/v1/\(path)", query: query, type: "application/json",
            body: method == "PUT" ? #"{"mode":"offline"}"# : "")
        #expect(response.status == .badRequest)
        #expect(text.contains(#"\"\#(key)\""#) || text.contains("\(key)= is repeated"), "\(text)")
        #expect(service.removed.isEmpty && service.currentMode == API.Mode(.auto))
        // An empty query counts as no query.
        if method == "GET" {
            #expect(try await ask(.get, "/api/v1/assets", query: "&").response.status == .ok)
        }
    }

    @Test func aDeleteRemoves() async throws {
        let (response, text) = try await ask(.delete, "/api/v1/assets/sintel")
        #expect(response.status == .ok)
        #expect(text == #"{"bytes":5,"name":"sintel"}"#)
        #expect(service.removed == ["sintel"])
        #expect(try await ask(.delete, "/api/v1/assets/none").response.status == .notFound)
    }

    @Test func putSetsAPolicyAndPatchRenames() async throws {
        let path = "/api/v1/assets/sintel"
        let put = try await ask(
            .put, path + "/policy", type: "application/json", body: #"{"expires":9,"priority":"important"}"#)
        #expect(put.response.status == .ok && put.text.contains(#""expires":9"#))
        #expect(service.policies == ["sintel": StoragePolicy(expires: 9, priority: .important)])
        let patch = try await ask(.patch, path, type: "application/json", body: #"{"name":"film"}"#)
        #expect(patch.response.status == .ok && patch.text.contains(#""name":"film""#))
        #expect(service.assetChanges == ["sintel": API.AssetChange(name: "film")])
        for (type, body, status) in [
            ("application/json", #"{"priority":"sacred"}"#, 400), ("application/json", "[]", 400),
            ("text/plain", "{}", 415),
        ] {
            let answer = try await ask(.put, path + "/policy", type: type, body: body)
            #expect(answer.response.status.code == status, "\(body)")
        }
        #expect(
            try await ask(.get, path + "/policy").text == #"{"backup":"include","expires":9,"priority":"important"}"#)
        #expect(try await ask(.post, path + "/policy").response.allow == "GET, HEAD, PUT")
        #expect(try await ask(.post, path).response.allow == "GET, HEAD, PATCH, DELETE")
    }

    @Test func aPostStartsADownload() async throws {
        let body = #"{"source":"https://h/m.m3u8","quality":"720p","audio":"en,ja"}"#
        let (response, text) = try await ask(
            .post, "/api/v1/downloads", type: "application/json; charset=utf-8", body: body)
        #expect(response.status == .accepted)
        #expect(text.contains(#""id":"d1""#))
        #expect(
            service.requests == [
                .init(source: "https://h/m.m3u8", Selection(quality: .height(720), audio: .languages(["en", "ja"])))
            ])
    }

    @Test func aPostExplainsASelection() async throws {
        let body = #"{"source":"https://h/m.m3u8","preferences":{"minimumSize":"720p","isFast":true}}"#
        let (response, text) = try await ask(.post, "/api/v1/selection", type: "application/json", body: body)
        #expect(response.status == .ok)
        #expect(
            text == #"{"explanation":{"chosen":{"id":"video-720p","index":0,"reason":"the highest bit rate"},"#
                + #""others":[],"selection":{"audio":[],"subtitles":[],"variants":[]}},"isLive":false,"#
                + #""tracks":{"audio":[],"subtitles":[],"variants":[]},"url":"https://h/m.m3u8"}"#)
        #expect(
            service.requests.map(\.order.selection.preferences?.minimumSize) == [
                Selection.Size(width: nil, height: 720)
            ])
        #expect(service.requests.map(\.order.selection.preferences?.isFast) == [true])
    }

    @Test(arguments: ["pause", "resume", "cancel"])
    func aPostChangesADownload(change: String) async throws {
        let (response, text) = try await ask(.post, "/api/v1/downloads/d1/\(change)")
        #expect(response.status == .ok && text.contains(#""id":"d1""#))
        #expect(service.changes == ["\(change) -"])
        #expect(try await ask(.post, "/api/v1/downloads/none/\(change)").response.status == .notFound)
        let body = #"{"url":"https://h/new"}"#
        #expect(try await ask(.post, "/api/v1/downloads/d1/\(change)", body: body).response.status.code == 415)
        _ = try await ask(.post, "/api/v1/downloads/d1/\(change)", type: "application/json", body: body)
        #expect(service.changes.last == "\(change) https://h/new")
    }

    @Test(arguments: [
        (nil as String?, "{}", 415, "unsupported-media-type"), ("text/plain", #"{"source":"x"}"#, 415, "unsupported"),
        ("application/x-www-form-urlencoded", "source=x", 415, "unsupported"),
        ("application/json", "{", 400, "bad-request"), ("application/json", "{}", 400, "source is missing"),
        ("application/json", "", 400, "bad-request"), ("application/json", "\u{FFFD}", 400, "bad-request"),
    ])
    func aBodyThatIsNotTheShapeIsRefused(type: String?, body: String, status: Int, words: String) async throws {
        let (response, text) = try await ask(.post, "/api/v1/downloads", type: type, body: body)
        #expect(response.status.code == status)
        #expect(text.contains(words), "\(text)")
        #expect(service.requests.isEmpty)
    }

    @Test(arguments: [
        (HTTPMethod.put, "/api/v1/assets", "GET, HEAD, POST"), (.delete, "/api/v1/assets", "GET, HEAD, POST"),
        (.get, "/api/v1/assets/sintel/export", "POST"),
        (.put, "/api/v1/assets/sintel", "GET, HEAD, PATCH, DELETE"), (.put, "/api/v1/downloads", "GET, HEAD, POST"),
        (.get, "/api/v1/downloads/d1/pause", "POST"), (.post, "/api/v1/events", "GET, HEAD"),
        (.put, "/api/v1/presentation", "GET, HEAD, POST"), (.options, "/api/v1/downloads/d1", "GET, HEAD"),
        (.get, "/api/v1/selection", "POST"),
    ])
    func anUnsupportedMethodIsRefusedWithTheAllowedOnes(method: HTTPMethod, path: String, allow: String) async throws {
        let (response, _) = try await ask(method, path, type: "application/json", body: "{}")
        #expect(response.status == .methodNotAllowed)
        #expect(response.allow == allow)
    }

    @Test(arguments: [
        "/api", "/api/", "/api/v1", "/api/v1/", "/api/v/assets", "/api/vx/assets", "/api/v1/assets/",
        "/api/v1/assets/a/b",
        "/api/v1/assets/%", "/api/v1/assets/%FF", "/api/v1//assets", "/api/v1/Assets", "/api/v1/presentation/x",
        "/api/v1/downloads/d1/stop", "/api/v1/downloads/d1/pause/x", "/api/v1/events/1", "/api/v1/downloads//pause",
        // Routes of services that this daemon does not have.
        "/api/v1/store", "/api/v1/link",
    ])
    func anUnknownRouteIsAProblem(path: String) async throws {
        let (response, text) = try await ask(.get, path)
        #expect(response.status == .notFound)
        #expect(text.contains(#""code":"no-such-route""#))
    }

    @Test(arguments: ["/api/v2", "/api/v2/assets", "/api/v10/assets", "/api/v0/x"])
    func anotherVersionOfTheAPIIsUnknown(path: String) async throws {
        let (response, text) = try await ask(.get, path)
        #expect(response.status == .notFound)
        #expect(text.contains(#""code":"unknown-version""#) && text.contains("has version 1 of the API"), "\(text)")
    }

    @Test(arguments: [
        (#"{"source":"x","quailty":"best"}"#, "there is no field quailty"),
        (#"{"source":"x","preferences":{"isFast":true,"minSize":"720p"}}"#, "there is no field preferences.minSize"),
        (#"{"source":"x","additional":[{"audio":"en"},{"sound":"en"}]}"#, "there is no field additional.[1].sound"),
        (#"{"source":"x","title":null}"#, "title is null"), (#"{"source":"x","audio":null}"#, "audio is null"),
        (#"{"source":"x","nothing":null}"#, "nothing is null"),
        (#"{"source":"x","x":{"deep":[[[[[[[[{}]]]]]]]]}}"#, "there is no field x"),
    ])
    func aFieldThatIsNotKnownIsNamedAndNothingBegins(body: String, words: String) async throws {
        for path in ["/api/v1/downloads", "/api/v1/selection"] {
            let (response, text) = try await ask(.post, path, type: "application/json", body: body)
            #expect(response.status == .badRequest && text.contains(words), "\(text)")
        }
        #expect(service.requests.isEmpty)
    }

    @Test func aRequestWithEveryFieldIsAccepted() async throws {
        let body =
            #"{"source":"x","quality":"2M","audio":"all","subtitles":"en","range":[1,null],"name":"a","title":"b","#
            + #""preferences":{"minimumSize":"1x2","codecs":["avc1"]},"additional":[{},{"audio":"en"}],"paused":false,"#
            + #""headers":[{"name":"Referer","value":"y"}],"priority":"important","note":"","record":false,"ignoreSpace":true}"#
        #expect(
            try await ask(.post, "/api/v1/downloads", type: "application/json", body: body).response.status.code == 202)
        #expect(service.requests.count == 1)
    }

    @Test func theDocumentIsReturned() async throws {
        let document = try await ask(.get, "/api/v1/openapi.json")
        #expect(document.response.status == .ok && document.text.hasPrefix("{\n  \"openapi\": \"3.1.0\","))
    }

    @Test func anErrorOfTheServiceBecomesAProblemWithItsStatus() async throws {
        let (response, text) = try await ask(.get, "/api/v1/assets/broken")
        #expect(response.status == .insufficientStorage)
        #expect(
            text == #"{"code":"disk","detail":"broken: the disk gives errors","next":"weir show broken","status":507,"#
                + #""title":"The disk reports errors","type":"/api/v1/openapi.json#disk"}"#)
    }

    @Test func onlyAPIPathsBelongToTheAPI() {
        #expect(ControlRoutes.owns(path: "/api") && ControlRoutes.owns(path: "/api/x"))
        #expect(!ControlRoutes.owns(path: "/apiary.m3u8") && !ControlRoutes.owns(path: "/"))
    }
}
