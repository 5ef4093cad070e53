import Assets
import Orders
import Testing

@testable import Playback

@Suite struct RouteTests {
    private func route(_ target: String) -> Route? { Route(target: Array(target.utf8)[...]) }

    private static func session(_ id: String) -> Session { Session(id: id) ?? Session(.auto) }

    private static func name(_ text: String) -> Interstitials.Name {
        guard let name = Interstitials.Name(text) else { preconditionFailure("\(text) is no interstitial's name") }
        return name
    }

    static let routes: [(String, Route)] = [
        ("/sintel.m3u8", .entry(name: "sintel", mode: .auto)),
        ("/sintel.m3u8?x=/a/b", .entry(name: "sintel", mode: .auto)),
        ("/das-gl%C3%BCck.m3u8", .entry(name: "das-glück", mode: .auto)),
        ("/das-glu%CC%88ck.m3u8", .entry(name: "das-glück", mode: .auto)),
        ("/offline/sintel.m3u8", .entry(name: "sintel", mode: .offline)),
        ("/local/sintel.m3u8", .entry(name: "sintel", mode: .local)),
        ("/auto/sintel.m3u8", .entry(name: "sintel", mode: .adaptive)),
        ("/a.m3u8", .entry(name: "a", mode: .auto)),
        ("/api.m3u8", .entry(name: "api", mode: .auto)),
        ("/offline.m3u8", .entry(name: "offline", mode: .auto)),
        ("/local.m3u8", .entry(name: "local", mode: .auto)),
        ("/offline/offline.m3u8", .entry(name: "offline", mode: .offline)),
        ("/http.m3u8", .entry(name: "http", mode: .auto)),
        ("/.m3u8", .entry(name: "", mode: .auto)),
        ("/https://host/a/b.m3u8?c=d&e=http://f", .origin("https://host/a/b.m3u8?c=d&e=http://f", mode: .auto)),
        ("/offline/https://host/a.m3u8?b", .origin("https://host/a.m3u8?b", mode: .offline)),
        ("/local/https:/host/a.m3u8", .origin("https://host/a.m3u8", mode: .local)),
        ("/auto/https://host/a.m3u8?b", .origin("https://host/a.m3u8?b", mode: .adaptive)),
        ("/auto.m3u8", .entry(name: "auto", mode: .auto)),
        ("/select.m3u8", .entry(name: "select", mode: .auto)),
        ("/select/quality=720p/a.m3u8", .entry(name: "a", mode: .auto, choice: Selection(quality: .height(720)))),
        (
            "/select/quality=%3C%3D720p&audio=de,en&subs=none/offline/https://host/a.m3u8?b",
            .origin(
                "https://host/a.m3u8?b", mode: .offline,
                choice: Selection(quality: .heightAtMost(720), audio: .languages(["de", "en"]), subtitles: .nothing))
        ),
        (
            "/select/quality%3D90p/local/a.m3u8",
            .entry(name: "a", mode: .local, choice: Selection(quality: .height(90)))
        ),
        ("/http://host", .origin("http://host", mode: .auto)),
        ("/https%3A%2F%2Fhost%2Fa%2520b.m3u8%3Ft%3D1%26u%3D2", .origin("https://host/a%20b.m3u8?t=1&u=2", mode: .auto)),
        ("/offline/HTTP%3a%2f%2fhost%2fa%20b.m3u8", .origin("HTTP://host/a%20b.m3u8", mode: .offline)),
        ("/https%3A//host/a%20b.m3u8?c=%2F", .origin("https://host/a%20b.m3u8?c=%2F", mode: .auto)),
        ("/https%3A%2F%2Fhost%2Fa.m3u8?CMCD=x", .origin("https://host/a.m3u8?CMCD=x", mode: .auto)),
        ("/https%3A%2F%2Fhost%2Fa.m3u8%3Ft%3D1?CMCD=x", .origin("https://host/a.m3u8?t=1&CMCD=x", mode: .auto)),
        ("/HTTP://host/", .origin("HTTP://host/", mode: .auto)),
        ("/https:/host/a.m3u8", .origin("https://host/a.m3u8", mode: .auto)),
        ("/file:///etc/passwd", .origin("file:///etc/passwd", mode: .auto)),
        ("/ftp://host/a.m3u8", .origin("ftp://host/a.m3u8", mode: .auto)),
        (
            "/a/sintel-k3f9/aabcde/video-720p/media.m3u8",
            .playlist(asset: "sintel-k3f9", session: session("aabcde"), rendition: "video-720p")
        ),
        (
            "/a/sintel-k3f9/oabcde/video-720p/12.ts?x",
            .piece(asset: "sintel-k3f9", session: session("oabcde"), folder: "video-720p", file: "12.ts")
        ),
        (
            "/a/sintel-k3f9/labcde/keys/0.key",
            .piece(asset: "sintel-k3f9", session: session("labcde"), folder: "keys", file: "0.key")
        ),
        (
            "/a/x/aabcde/video/../keys/0.key",
            .piece(asset: "x", session: session("aabcde"), folder: "keys", file: "0.key")
        ),
        (
            "/a/x/aabcde/../0.ts",
            .piece(asset: "x", session: session("aabcde"), folder: "..", file: "0.ts")
        ),
        (
            "/a/x/aabcde/interstitials/1k3.m3u8?_HLS_primary_id=1",
            .interstitial(
                asset: "x", session: session("aabcde"), name: name("1k3.m3u8"))
        ),
        (
            "/a/x/aabcde/interstitials/0.json",
            .interstitial(asset: "x", session: session("aabcde"), name: name("0.json"))
        ),
        (
            "/a/x/aabcde/interstitials/01.json",
            .piece(asset: "x", session: session("aabcde"), folder: "interstitials", file: "01.json")
        ),
        ("/a/x/aabcde/v/", .piece(asset: "x", session: session("aabcde"), folder: "v", file: "")),
        ("/a//aabcde//", .piece(asset: "", session: session("aabcde"), folder: "", file: "")),
    ]

    @Test(arguments: routes)
    func parsesTargets(_ target: String, _ expected: Route) {
        #expect(route(target) == expected)
    }

    @Test(
        arguments: [
            "/", "", "*", "/api/v1/assets", "/metrics", "/sintel", "/sintel.m3u", "/x/sintel.m3u8",
            "/offline/x/sintel.m3u8", "/a/", "/a/x", "/a/x/aabcde/video", "/a/x/aabcde/video/0.ts/more",
            "/a/x/aabcde/video/../../keys/0.key", "/a/x/aabcde/../video/0.ts", "/a/x/aabcde/video/./keys/0.key",
            "/a/x/babcde/video/0.ts", "/a/x/aabcd/video/0.ts", "/a/x/aabcdef/video/0.ts", "/a/x//video/0.ts",
            "/a/x.m3u8", "/javascript:alert(1)", "/://host", "/2http://host", "/favicon.ico",
            "/online/https://host/a.m3u8", "/local//https://host/a.m3u8", "/local/offline/https://host/a.m3u8",
            "/offline/", "/local/://host", "/auto/", "/auto/local/a.m3u8", "/select/quality=90p",
            "/select/quality=90p/", "/select/quality=90p/weir.m3u", "/select/quality=90p/select/audio=de/a.m3u8",
            "/offline/select/quality=90p/a.m3u8", "/select/quality=90p/a/x/aabcde/video/0.ts",
        ])
    func refusesOtherTargets(_ target: String) {
        #expect(route(target) == nil)
    }

    @Test(
        arguments: [
            ("/select/size=1/a.m3u8", "\"size\" is not one of quality"),
            ("/select/trick-play=true/a.m3u8", "is not one of"),
            ("/select//a.m3u8", "it chooses nothing"), ("/select/quality=720/a.m3u8", "did you mean 720p?"),
            ("/select/audio=/https://host/a.m3u8", "it chooses nothing"),
            ("/select/quality=worst&min-size=720p/a.m3u8", "the worst quality has no minimum"),
            ("/select/quality=90p/auto/a.m3u8", "/auto/ lets Weir choose"),
        ])
    func aChoiceWithoutMeaningHasAReason(target: String, reason: String) {
        guard case .badChoice(let given) = route(target) else {
            Issue.record("\(target): \(String(describing: route(target)))")
            return
        }
        #expect(given.contains(reason), "\(given)")
    }

    @Test func aSessionIdentifierRoundTrips() {
        for mode in [Session.Mode.auto, .offline, .local, .adaptive] {
            let session = Session(mode)
            #expect(Session(id: session.id) == session)
            #expect(session.id.utf8.count == 6)
            #expect(Session(id: session.id)?.mode == mode)
        }
        #expect(Session(.auto) != Session(.auto))
        for id in ["", "a", "xabcde", "Aabcde", "aabcdeé"] {
            #expect(Session(id: id) == nil)
        }
    }
}
