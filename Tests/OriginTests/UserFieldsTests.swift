import HTTPMessage
import Testing

@testable import Origin

@Suite struct UserFieldsTests {
    @Test func fieldsAreSentUnchangedExceptForOuterBlanks() throws {
        let fields = try UserFields(["Cookie: a=b; c=\"d\"", "X-Empty:", "Authorization:\tBearer é.x  "])
        #expect(fields.lines.map(\.name) == ["Cookie", "X-Empty", "Authorization"])
        #expect(fields.lines.map(\.value) == ["a=b; c=\"d\"", "", "Bearer é.x"])
        #expect(try UserFields(fields.texts) == fields)
        #expect(UserFields().isEmpty && !fields.isEmpty)
    }

    @Test(arguments: [
        "", "Cookie", ": x", "Co okie: x", "Cook\u{e9}: x", "X-A: b\r\nX-C: d", "X-A: b\n", "X-A: b\r", "X-A: b\0c",
        "X-A: \u{7f}", "X-A: \u{1b}[0m", " X-A: b", "X-A : b",
    ])
    func invalidFieldLineIsRefusedWithoutBeingRepeated(_ text: String) throws {
        let refusal = #expect(throws: UserFields.Refusal.self) { try UserFields(["X-Fine: secret", text]) }
        let sentence = try #require(refusal?.description)
        #expect(sentence.hasPrefix("header field 2 is refused: ") && !sentence.contains("secret"))
        #expect(text.isEmpty || !sentence.contains(text))
    }

    @Test(arguments: [
        "host", "RANGE", "If-Range", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Accept-Encoding",
        "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade", "If-None-Match", "If-Modified-Since", "If-Match",
        "If-Unmodified-Since",
    ])
    func ownAndConditionalFieldsAreRefusedByName(_ name: String) throws {
        let refusal = #expect(throws: UserFields.Refusal.self) { try UserFields(["\(name): secret"]) }
        let sentence = try #require(refusal?.description)
        #expect(sentence.hasPrefix("header field \(name) is refused: ") && !sentence.contains("secret"))
    }

    @Test func tooManyOrTooLongFieldsAreRefused() throws {
        let many = (0...UserFields.maximumCount).map { "X-\($0): a" }
        #expect(throws: UserFields.Refusal.self) { try UserFields(many) }
        #expect(try UserFields(many.dropLast()).lines.count == UserFields.maximumCount)
        let long = "X-A: " + String(repeating: "a", count: UserFields.maximumByteCount - 5)
        #expect(try UserFields([long]).lines.count == 1)
        #expect(throws: UserFields.Refusal.self) { try UserFields([long + "a"]) }
    }

    @Test(arguments: [
        ("cdn.example", "https://cdn.example/a", true), ("cdn.example", "http://cdn.example/a", true),
        ("cdn.example", "https://cdn.example:8443/a", false), ("CDN.example", "https://cdn.example/a", true),
        ("cdn.example:8443", "https://cdn.example:8443/a", true), ("cdn.example:8443", "https://cdn.example/a", false),
        ("cdn.example:443", "https://cdn.example/a", true), ("example", "https://cdn.example/a", false),
        ("[::1]", "http://[::1]/a", true), ("[::1]:80", "http://[::1]/a", true), ("[::1]", "http://[::1]:81/", false),
    ])
    func aFieldForAHostGoesThereOnly(host: String, url: String, isSent: Bool) throws {
        let fields = try UserFields(["@\(host) X-Key: k", "Referer: r", "X-Key: own"])
        #expect(fields.texts[0].hasPrefix("@") && fields.credentials.map(\.value) == ["own"])
        #expect(try UserFields(fields.texts) == fields)
        var request = OriginRequest(try WebURL(url))
        request.fields = fields.shared
        request.credentials = .init(origin: request.url.origin, fields: fields.credentials)
        request.scopedFields = fields.scoped
        #expect(request.fields(for: request.url).filter { $0.name == "X-Key" }.map(\.value) == [isSent ? "k" : "own"])
    }

    @Test(arguments: [
        ("Referer", true), ("ORIGIN", true), ("User-Agent", true), ("Accept", true), ("Accept-Language", true),
        ("Sec-CH-UA", true), ("DNT", true), ("X-Requested-With", true), ("Cache-Control", true), ("Pragma", true),
        ("Accepted", false), ("Security", false), ("Authorization", false), ("Cookie", false), ("X-Api-Key", false),
        ("X-Session", false), ("X-Csrf", false), ("X-Forwarded-For", false), ("X-Signature", false), ("Ticket", false),
        ("X-Playback-Session-Id", false), ("X-Device", false), ("X-JWT", false), ("X-Client-Id", false),
        ("From", false),
    ])
    func onlyFieldsAboutTheSourceReachOtherHosts(name: String, isShared: Bool) throws {
        let fields = try UserFields(["\(name): v"])
        #expect(fields.shared.map(\.name) == (isShared ? [name] : []))
        #expect(fields.credentials.map(\.name) == (isShared ? [] : [name]))
    }

    @Test(arguments: [
        ("*.example", "https://cdn.example/a", true), ("*.example", "https://a.b.example/a", true),
        ("*.example", "https://example/a", false), ("*.example", "https://cdnexample/a", false),
        ("*.example", "https://cdn.example:8443/a", false), ("*.EXAMPLE:8443", "https://cdn.example:8443/a", true),
        ("*", "http://h:81/a", true), ("*", "https://[::1]/a", true),
    ])
    func aFieldForASiteOrForAllGoesThere(hosts: String, url: String, isSent: Bool) throws {
        let fields = try UserFields(["@\(hosts) X-Key: k"])
        #expect(try UserFields(fields.texts) == fields)
        var request = OriginRequest(try WebURL(url))
        request.scopedFields = fields.scoped
        #expect(request.fields(for: request.url).map(\.value) == (isSent ? ["k"] : []))
    }

    @Test(arguments: [
        ("https://cdn.a.example/", "host"), ("https://b.a.example/", "near"), ("https://b.example/", "site"),
        ("https://other/", "all"), ("https://own/", "own"),
    ])
    func theClosestHostDecides(url: String, value: String) throws {
        let fields = try UserFields([
            "X-Key: own", "@* X-Key: all", "@*.example X-Key: site", "@*.a.example X-Key: near",
            "@cdn.a.example X-Key: host",
        ])
        var request = OriginRequest(try WebURL(url))
        request.credentials = .init(origin: try WebURL("https://own/").origin, fields: fields.credentials)
        request.scopedFields = fields.scoped
        #expect(request.fields(for: request.url).map(\.value) == [value])
    }

    @Test(arguments: [("https://cdn/", ["X-Site"]), ("http://h/", []), ("https://h/", []), ("http://cdn/", [])])
    func theWithheldFieldsAreThoseThatAnOptionWouldSend(url: String, names: [String]) throws {
        let fields = try UserFields(["Referer: r", "X-Site: 1"])
        var request = OriginRequest(try WebURL("https://h/"))
        request.fields = fields.shared
        request.credentials = .init(origin: request.url.origin, fields: fields.credentials)
        #expect(request.withheldFields(at: try WebURL(url)).map(\.name) == names)
    }

    @Test func fieldsOfEarlierRecordsKeepTheirRule() throws {
        let old = UserFields(record: "Referer: r\nX-Site: 1\nX-Api-Key: k\n@h X-Other: o\n@ Cookie: c")
        #expect(old.texts == ["Referer: r", "@* X-Site: 1", "X-Api-Key: k", "@h X-Other: o", "@ Cookie: c"])
        #expect(UserFields(record: old.record) == old)

        let new = try UserFields(["X-Site: 1"])
        #expect(new.record?.contains("X-Site: 1") == true && UserFields(record: new.record) == new)
        #expect(UserFields().record == nil && UserFields(record: nil).isEmpty && UserFields(record: "x").isEmpty)
    }

    @Test(arguments: [
        ("https://cdn.example/", "cdn.example"), ("https://cdn.example:8443/", "cdn.example:8443"),
        ("http://cdn.example:443/", "cdn.example:443"), ("https://[::1]/", "[::1]"),
    ])
    func aHostIsNamedAsAUserWouldWriteIt(url: String, text: String) throws {
        #expect(FieldHost.naming(try WebURL(url))?.description == text)
    }

    @Test(arguments: [
        "*.", "*.*", "**", "*a", "a*", "*.h/", "*.h h", "http://h", "h/", "h h", "u@h", "h:0", "h:x", "", "é!",
    ])
    func aFieldForWhatIsNoHostIsRefused(host: String) {
        #expect(FieldHost(host) == nil)
        if !host.isEmpty {
            #expect(throws: UserFields.Refusal.self) { try UserFields(["@\(host) X: y"]) }
        }
    }

    @Test func aPlayersFieldsReplaceThoseOfPlayersOnly() throws {
        func lines(_ texts: String...) -> [FieldLine] { texts.compactMap { FieldLine($0.utf8) } }
        let given = try UserFields(["Referer: mine", "@h X: y"])
        let one = given.adding(fieldsOfPlayer: lines("referer: other", "Cookie: a=b"))
        #expect(one.texts == ["Referer: mine", "@h X: y", "@ Cookie: a=b"] && one.given == given)
        #expect(one.contradict(lines("Cookie: c=d")) && one.contradict(lines("COOKIE: c=d")))
        #expect(!one.contradict(lines("Cookie: a=b", "Authorization: x", "Referer: other")))
        #expect(one.adding(fieldsOfPlayer: lines("Cookie: c=d")).texts.last == "@ Cookie: c=d")
        #expect(try UserFields(one.texts) == one)
    }

    /// As curl and FFmpeg do, a user name in a URL is sent with that URL, whatever led there.
    @Test func aUserNameInAURLIsSentThereUnlessAFieldReplacesIt() throws {
        let base = try WebURL("https://h/m.m3u8")
        var request = OriginRequest(base)
        let url = try base.resolving("https://u:p@cdn.example/0.ts")
        #expect(request.fields(for: url).map(\.value) == ["Basic dTpw"])
        #expect(request.fields(for: base).isEmpty)
        request.scopedFields = try UserFields(["@cdn.example Authorization: mine"]).scoped
        #expect(request.fields(for: url).map(\.value) == ["mine"])
    }

    @Test func descriptionContainsNamesOnly() throws {
        let fields = try UserFields(["Cookie: secret", "X-Token: secret"])
        #expect("\(fields)" == "Cookie, X-Token")
    }
}
