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

    @Test func descriptionContainsNamesOnly() throws {
        let fields = try UserFields(["Cookie: secret", "X-Token: secret"])
        #expect("\(fields)" == "Cookie, X-Token")
    }
}
