import Foundation
import TestSupport
import Testing

/// Attempts of another site's page while its visitor has Weir's page open.
@Suite("Pages of other sites:") struct PageForeignTests {
    /// An attempt: the body of an async function that returns what it could read. `D` is the daemon, `O` the origin of a
    /// stream, `id` a download's.
    struct Attempt: Sendable {
        let name: String
        let script: String
        init(_ name: String, _ script: String) { (self.name, self.script) = (name, script) }
    }

    private static let json = "headers: {'Content-Type': 'application/json'}"
    /// Loads an element and waits for its load or error event.
    private static func element(_ make: String) -> String {
        "const e = \(make); await new Promise(r => { e.onload = e.onerror = e.oncanplay = r; setTimeout(r, 700); document.body.append(e) }); "
            + "return e.naturalWidth || e.videoWidth || e.readyState || ''"
    }
    private static func made(_ name: String, _ fields: String) -> String {
        element("Object.assign(document.createElement('\(name)'), {\(fields)})")
    }
    /// Reads a window or a frame, which the browser forbids across sites.
    private static let frame =
        "await new Promise(r => { e.onload = r; setTimeout(r, 700); document.body.append(e) }); "
        + "const d = e.contentDocument; return d && d.URL !== 'about:blank' ? d.documentElement.innerHTML : ''"

    /// Reads an existing frame.
    private static let sink =
        "await new Promise(r => { e.onload = r; setTimeout(r, 500) }); "
        + "const d = e.contentDocument; return d && d.URL !== 'about:blank' ? d.documentElement.innerHTML : ''"

    static let attempts: [Attempt] = [
        Attempt("fetch of the list", "return (await fetch(D + '/api/v1/assets')).text()"),
        Attempt(
            "fetch with credentials", "return (await fetch(D + '/api/v1/assets', {credentials: 'include'})).text()"),
        Attempt("fetch no-cors", "return (await fetch(D + '/api/v1/assets', {mode: 'no-cors'})).text()"),
        Attempt(
            "fetch with a guessed key",
            "return (await fetch(D + '/api/v1/assets', {headers: {Authorization: 'Bearer x'}})).text()"),
        Attempt("fetch of the door", "return (await fetch(D + '/')).text()"),
        Attempt("fetch of the link to the page", "return (await fetch(D + '/api/v1/page')).text()"),
        Attempt("fetch HEAD", "return [...(await fetch(D + '/api/v1/assets', {method: 'HEAD'})).headers].join()"),
        Attempt("fetch of a playlist", "return (await fetch(D + '/ts.m3u8')).text()"),
        Attempt("fetch of an origin's URL", "return (await fetch(D + '/' + O + '/cmaf/master.m3u8')).text()"),
        Attempt(
            "no-cors fetch of an origin's URL",
            "return (await fetch(D + '/' + O + '/cmaf/master.m3u8', {mode: 'no-cors'})).text()"),
        Attempt(
            "PUT of the mode",
            "return (await fetch(D + '/api/v1/mode', {method: 'PUT', \(json), body: '{\"mode\":\"offline\"}'})).text()"),
        Attempt("DELETE of an asset", "return (await fetch(D + '/api/v1/assets/ts', {method: 'DELETE'})).text()"),
        Attempt(
            "PATCH of an asset",
            "return (await fetch(D + '/api/v1/assets/ts', {method: 'PATCH', \(json), body: '{\"name\":\"gone\"}'})).text()"
        ),
        Attempt(
            "POST of a download",
            "return (await fetch(D + '/api/v1/downloads', {method: 'POST', \(json), body: JSON.stringify({source: O + '/cmaf/master.m3u8'})})).text()"
        ),
        Attempt(
            "POST without a preflight",
            "return (await fetch(D + '/api/v1/downloads', {method: 'POST', mode: 'no-cors', body: JSON.stringify({source: O + '/cmaf/master.m3u8'})})).text()"
        ),
        Attempt(
            "cancel without a preflight",
            "return (await fetch(D + '/api/v1/downloads/' + id + '/resume', {method: 'POST', mode: 'no-cors'})).text()"),
        Attempt(
            "cancel that outlives its page",
            "return (await fetch(D + '/api/v1/downloads/' + id + '/cancel', {method: 'POST', mode: 'no-cors', keepalive: true})).text()"
        ),
        Attempt("a beacon", "navigator.sendBeacon(D + '/api/v1/downloads/' + id + '/cancel', 'x'); return ''"),
        Attempt(
            "XMLHttpRequest",
            "const x = new XMLHttpRequest(); x.open('GET', D + '/api/v1/assets', false); x.send(); return x.responseText"
        ),
        Attempt(
            "XMLHttpRequest that posts",
            "const x = new XMLHttpRequest(); x.open('POST', D + '/api/v1/downloads/' + id + '/cancel', false); x.send(''); return x.responseText"
        ),
        Attempt(
            "a form",
            "const f = Object.assign(document.createElement('form'), {method: 'post', enctype: 'text/plain', action: D + '/api/v1/downloads/' + id + '/cancel', target: 'sink'}); const e = Object.assign(document.createElement('iframe'), {name: 'sink'}); document.body.append(e, f); f.submit(); \(sink)"
        ),
        Attempt(
            "a form to the door",
            "const f = Object.assign(document.createElement('form'), {method: 'post', action: D + '/', target: 'sink2'}); const e = Object.assign(document.createElement('iframe'), {name: 'sink2'}); document.body.append(e, f); f.submit(); \(sink)"
        ),
        Attempt(
            "a frame of the page", "const e = Object.assign(document.createElement('iframe'), {src: D + '/'}); \(frame)"
        ),
        Attempt(
            "a frame of the API",
            "const e = Object.assign(document.createElement('iframe'), {src: D + '/api/v1/assets'}); \(frame)"),
        Attempt(
            "a frame of a playlist",
            "const e = Object.assign(document.createElement('iframe'), {src: D + '/ts.m3u8'}); \(frame)"),
        Attempt(
            "a sandboxed frame that fetches",
            "const e = document.createElement('iframe'); e.sandbox = 'allow-scripts'; e.srcdoc = `<script>fetch('${D}/api/v1/mode', {method: 'POST', mode: 'no-cors'})<\\/script>`; \(frame)"
        ),
        Attempt("an object", made("object", "data: D + '/ts.m3u8'")),
        Attempt("an embed", made("embed", "src: D + '/'")),
        Attempt("an image of the API", made("img", "src: D + '/api/v1/assets/ts/artwork'")),
        Attempt("an image that is an origin's URL", made("img", "src: D + '/' + O + '/cmaf/master.m3u8'")),
        Attempt("an image by way of a redirect", made("img", "src: '/to-weir'")),
        Attempt("a picture of the page", made("img", "src: D + '/page/icon.svg'")),
        Attempt("a script of the page", made("script", "src: D + '/page/main.js'")),
        Attempt("a playlist as a script", made("script", "src: D + '/ts.m3u8'")),
        Attempt("a style sheet", made("link", "rel: 'stylesheet', href: D + '/page/page.css'")),
        Attempt(
            "a preload",
            made("link", "rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: D + '/api/v1/assets'")),
        Attempt("a video", made("video", "src: D + '/ts.m3u8', muted: true, preload: 'auto'")),
        Attempt("sound", made("audio", "src: D + '/offline/ts.m3u8', preload: 'auto'")),
        Attempt("a module", "return Object.keys(await import(D + '/page/words.js')).join()"),
        Attempt("a worker", "return String(new Worker(D + '/page/main.js'))"),
        Attempt(
            "EventSource",
            "const s = new EventSource(D + '/api/v1/events', {withCredentials: true}); return new Promise(r => { s.onopen = () => r('open'); s.onmessage = m => r(m.data); s.onerror = () => { s.close(); r('') } })"
        ),
        Attempt(
            "WebSocket",
            "const s = new WebSocket(D.replace('http', 'ws') + '/api/v1/events'); return new Promise(r => { s.onopen = () => r('open'); s.onerror = () => r('') })"
        ),
        Attempt(
            "a new window of the API",
            "const w = open(D + '/api/v1/downloads/' + id + '/cancel'); await new Promise(r => setTimeout(r, 300)); try { return w.document.URL === 'about:blank' ? '' : w.document.body.innerText } catch { return '' } finally { w?.close() }"
        ),
        Attempt(
            "a new window of an origin's URL",
            "const w = open(D + '/' + O + '/cmaf/master.m3u8'); await new Promise(r => setTimeout(r, 300)); try { return w.document.URL === 'about:blank' ? '' : w.document.body.innerText } catch { return '' } finally { w?.close() }"
        ),
    ]

    /// Location of the foreign page: another site, another port of this host, or a name that resolves to this host.
    enum Place: String, CaseIterable, Sendable {
        case otherSite = "another site"
        case otherPort = "another port of localhost"
        case otherAddress = "another port of 127.0.0.1"
    }

    @Test("can read and change nothing, in more than forty attempts", arguments: Place.allCases)
    func canReadAndChangeNothing(place: Place) async throws {
        let folder = try TemporaryFolder()
        for fixture in ["ts", "cmaf"] {
            try FileManager.default.copyItem(
                atPath: Repository.path("fixtures/media/\(fixture)"), toPath: folder.path(fixture))
        }
        try Data("<!doctype html><title>Evil</title><body>".utf8).write(
            to: URL(fileURLWithPath: folder.path("evil.html")))
        try await Scene.with(root: folder.path) { scene in
            try await scene.add(scene.origin.master("ts"), ["--paused"])
            let daemon = "http://localhost:\(await scene.weir.port)"
            try await scene.origin.add(
                OriginRule("/to-weir") { $0.redirect = daemon + "/" + scene.origin.master("cmaf") })
            let before = try await state(scene)
            try await scene.withPage { _ in
                let page = try await PageBrowser.shared.page()
                let host =
                    [.otherSite: PageBrowser.foreignHost, .otherPort: "localhost", .otherAddress: "127.0.0.1"][place]
                    ?? ""
                try await page.open("http://\(host):\(scene.origin.port)/evil.html")
                try await scene.origin.clearRequests()
                for attempt in Self.attempts {
                    let read: String = try await page.evaluate(
                        "(async (D, O, id) => { try { return String(await (async () => { \(attempt.script) })() || '') } catch { return '' } })"
                            + "('\(daemon)', '\(scene.origin.url(""))', '\(before.id)')")
                    #expect(read == "", "\(attempt.name) from \(place.rawValue)")
                }
                let answers = try await page.responses().filter { $0.url.hasPrefix(daemon) }
                #expect(!answers.isEmpty && answers.allSatisfy { [401, 403, 405].contains($0.status) }, "\(answers)")
                try await page.close()
            }
            #expect(try await state(scene) == before)
            // Another test's daemon may still poll a live playlist at an origin that had this port before.
            let asked = try await scene.origin.requests().map(\.path).filter {
                !$0.hasSuffix("evil.html") && $0 != "/to-weir" && $0 != "/favicon.ico" && !$0.hasPrefix("/_live/")
            }
            #expect(asked == [])
        }
    }

    private struct State: Equatable {
        let id: String
        let assets: String
        let mode: String
    }

    /// State that a foreign page could change.
    private func state(_ scene: Scene) async throws -> State {
        let assets = try await scene.weir.run(["list", "--json"]).output
        let asset = try JSONSerialization.jsonObject(with: Data(assets.utf8)) as? [String: Any]
        return State(
            id: try #require(asset?["id"] as? String), assets: assets, mode: try await scene.weir.run(["mode"]).output)
    }

    @Test("a rebound DNS name gets only a refusal")
    func refusesDNSRebinding() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--title", "Hidden Film"])
            let page = try await PageBrowser.shared.page()
            let base = "http://\(PageBrowser.foreignHost):\(await scene.weir.port)"
            for path in ["/", "/api/v1/assets", "/api/v1/page", "/page/main.js", "/ts.m3u8", "/in/x/"] {
                try await page.call("Page.navigate", ["url": .text(base + path)])
                try await page.wait("document.readyState === 'complete' && location.pathname === '\(path)'")
                let read: String = try await page.evaluate(
                    "fetch('\(path)', {headers: {Authorization: 'Bearer x'}}).then(async r => r.status + ' ' + await r.text())"
                )
                #expect(read.hasPrefix("421 "), "\(path): \(read)")
                let posted: Int = try await page.evaluate(
                    "fetch('\(path)', {method: 'POST', body: '{}'}).then(r => r.status)")
                #expect(posted == 421, "\(path)")
                let seen: String = try await page.evaluate("document.documentElement.innerText")
                #expect(!seen.contains("Hidden Film"), "\(path)")
            }
            try await page.close()
        }
    }

    @Test("a listed page plays a <video> without crossorigin, and no other page does")
    func playsOnListedPage() async throws {
        let folder = try TemporaryFolder()
        try Data("<!doctype html><title>Site</title><body>".utf8).write(
            to: URL(fileURLWithPath: folder.path("page.html")))
        let site = try await TestOrigin(root: folder.path)
        try await Scene.with(options: ["--allowed-origins", "http://site.example:\(site.port)"]) { scene in
            let source = await scene.master("ts")
            let daemon = await scene.weir.url("/")
            for (host, isListed) in [("site.example", true), ("other.example", false)] {
                let page = try await PageBrowser.shared.page()
                try await page.open("http://\(host):\(site.port)/page.html")
                let width: Int = try await page.evaluate(
                    """
                    new Promise(done => {
                        const video = Object.assign(document.createElement('video'), {muted: true, preload: 'auto'})
                        video.onloadeddata = () => done(video.videoWidth)
                        video.onerror = () => done(-1)
                        video.src = '\(source)'
                        document.body.append(video)
                    })
                    """)
                #expect(isListed ? width > 0 : width == -1, "\(host)")
                let statuses = Set(
                    try await page.responses().filter { $0.url.hasPrefix(daemon) }.map(\.status))
                let expected: Set<Int> = isListed ? [200, 206] : [403]
                #expect(statuses.isSubset(of: expected), "\(host): \(statuses)")
                let read: String = try await page.evaluate("fetch('\(source)').then(r => r.text(), () => 'refused')")
                #expect(isListed ? read.hasPrefix("#EXTM3U") : read == "refused")
                try await page.close()
            }
        }
    }
}
