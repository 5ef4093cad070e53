import HTTPMessage
import Testing

@testable import Origin

/// The settings that a user gave for one origin, once the author of a channel list has chosen another.
@Suite struct MovedRouteTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let change: @Sendable (inout OriginRoute) throws -> Void
        /// In the words of a route; empty for the configuration's way.
        let kept: String
        let lost: String

        var testDescription: String { rule }
    }

    static let cases = [
        Case(rule: "nothing is given", change: { _ in }, kept: "", lost: ""),
        Case(
            rule: "certificates are verified again", change: { $0.isInsecure = true }, kept: "",
            lost: "certificates are not verified"),
        Case(
            rule: "a client certificate is shown to its own origin",
            change: { ($0.certificate, $0.key) = ("/me.pem", "/me.key") }, kept: "", lost: "client certificate /me.pem"),
        Case(
            rule: "a client certificate stays where the user gave it for the new host too",
            change: {
                $0.certificate = "/me.pem"
                $0.certificateHosts = [try #require(FieldHost("*.new.example"))]
            }, kept: "client certificate /me.pem also for *.new.example", lost: ""),
        Case(
            rule: "a proxy hides the user from every origin",
            change: { $0.proxy = try ProxyChoice("socks5h://me:s3cret@proxy.example:1080") },
            kept: "proxy socks5h://proxy.example:1080", lost: ""),
        Case(
            rule: "the way without a proxy is for one origin", change: { $0.proxy = .direct }, kept: "",
            lost: "proxy direct"),
        Case(
            rule: "a private host is allowed to the former origin alone",
            change: { $0.allowedHosts = [try AllowedHost("192.168.1.0/24"), try AllowedHost("nas.local")] }, kept: "",
            lost: "allowed hosts 192.168.1.0/24, nas.local"),
        Case(
            rule: "the new host stays allowed",
            change: { $0.allowedHosts = [try AllowedHost("*.new.example"), try AllowedHost("10.0.0.0/8")] },
            kept: "allowed hosts *.new.example", lost: "allowed hosts 10.0.0.0/8"),
        Case(
            rule: "the class of an address is no setting", change: { $0.firstClass = .public }, kept: "", lost: ""),
    ]

    @Test(arguments: cases) func aSettingStaysOrIsLeftBehind(_ example: Case) throws {
        var route = OriginRoute()
        try example.change(&route)
        let (kept, lost) = route.split(forMoveTo: try WebURL("https://tv.new.example/one.m3u8"))
        #expect(kept.description == example.kept && lost.description == example.lost)
        #expect(kept.key == nil && kept.firstClass == nil && lost.firstClass == nil)
    }
}
