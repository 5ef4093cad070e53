import HTTPMessage
import Testing

@testable import Origin

/// The hosts that see the user's client certificate: those that get a secret header field.
@Suite struct CertificateUseTests {
    @Test(arguments: [
        ("https://tv.example/main.m3u8", "shown"),
        ("https://tv.example:8443/main.m3u8", "withheld from tv.example:8443"),
        ("https://cdn.example/0.ts", "withheld from cdn.example"),
        ("https://media.site.example/0.ts", "shown"),
        ("https://media.site.example:8443/0.ts", "withheld from media.site.example:8443"),
        ("https://near.example:8443/0.ts", "shown"),
        ("http://tv.example/0.ts", "none"),
    ])
    func theOriginOfTheURLAndHostsThatTheUserNamedSeeIt(url: String, expected: String) throws {
        var request = OriginRequest(try WebURL("https://tv.example/main.m3u8"))
        request.credentials = .init(origin: request.url.origin, fields: [])
        request.route.certificate = "/me.pem"
        request.route.certificateHosts = try ["*.site.example", "near.example:8443"].map { text in
            try #require(FieldHost(text))
        }
        let words =
            switch request.certificateUse(at: try WebURL(url)) {
            case .none: "none"
            case .shown(let path, let key): path == "/me.pem" && key == path ? "shown" : "another file"
            case .withheld(let host): "withheld from \(host)"
            }
        #expect(words == expected)
    }

    @Test(arguments: [
        ("https://cdn.example/0.ts", 400, true), ("https://cdn.example/0.ts", 403, true),
        ("https://cdn.example/0.ts", 404, false), ("https://tv.example/0.ts", 403, false),
    ])
    func aRefusalOfAHostThatDidNotSeeItNamesTheOption(url: String, status: Int, isNamed: Bool) throws {
        var request = OriginRequest(try WebURL(url))
        request.credentials = .init(origin: try WebURL("https://tv.example/").origin, fields: [])
        request.route.certificate = "/me.pem"
        var state = TransferState(request, rule: GiveUpRule(), redirectLimit: 5, now: .now)
        _ = state.begin()
        var reply = Reply()
        for line in ["HTTP/1.1 \(status) Refused\r\n", "\r\n"] {
            _ = Array(line.utf8).withUnsafeBytes { reply.receive(line: $0) }
        }
        _ = state.received(reply)
        guard case .end(let error?) = state.ended(.finished, now: .now, jitter: 1) else {
            Issue.record("the request has not failed")
            return
        }
        let advice = error.underlying ?? ""
        #expect(advice.contains("--cert-for cdn.example shows it here too") == isNamed, "\(error)")
    }

    @Test(arguments: [
        (CertificateUse.none, "the server requires a client certificate. Give one with --cert and --key"),
        (.shown(path: "/c", key: "/k"), "the server does not accept the client certificate. Check --cert and --key"),
        (
            .withheld(from: .everyHost),
            "the server requires a client certificate. Yours goes to the stream's own host alone; --cert-for * shows it here too"
        ),
    ])
    func aHandshakeThatRequiresOneSaysHowToGiveIt(use: CertificateUse, words: String) {
        #expect(ConnectionFailure.handshake("tlsv13 alert certificate required", with: use) == words)
    }
}
