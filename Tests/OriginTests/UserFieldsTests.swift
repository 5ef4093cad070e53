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

    @Test(arguments: ["http://h", "h/", "h h", "u@h", "h:0", "h:x", "", "é!"])
    func aFieldForWhatIsNoHostIsRefused(host: String) {
        #expect(FieldHost(host) == nil)
        if !host.isEmpty { #expect(throws: UserFields.Refusal.self) { try UserFields(["@\(host) X: y"]) } }
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
