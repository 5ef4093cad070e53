import Foundation
import TestSupport
import Testing

/// Interstitials (rfc8216bis appendix D) in a real player.
@Suite("An interstitial")
struct InterstitialTests {
    /// A presentation with date ranges that name a fixture, directly and in an asset list.
    private func film(_ scene: Scene, _ fixture: String) async throws -> String {
        let range = "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:00Z\""
        let segments = (0..<6).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        try await scene.origin.add(
            OriginRule("/ts/90p/media.m3u8") {
                ($0.status, $0.body) = (
                    200,
                    """
                    #EXTM3U
                    #EXT-X-TARGETDURATION:2
                    #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                    \(range),ID="1",X-ASSET-URI="../../\(fixture)/master.m3u8"
                    \(range),ID="2",X-ASSET-LIST="/lists/2?token=secret"
                    \(segments)#EXT-X-ENDLIST

                    """
                )
            },
            OriginRule("/lists/*") {
                ($0.status, $0.body) = (200, "{\"ASSETS\":[{\"URI\":\"../\(fixture)/master.m3u8\",\"DURATION\":12}]}")
            })
        return await scene.url("/ts/90p/media.m3u8")
    }

    @Test(
        "plays the origin's frames, and so does the primary asset",
        arguments: ["aes", "byterange-fmp4", "cmaf"])
    func playsOriginFrames(fixture: String) async throws {
        try await Scene.with { scene in
            let url = try await film(scene, fixture)
            let direct = try await FrameHashes.of(scene.origin.url("/ts/90p/media.m3u8"))
            let text = try await HTTPProbe.fetch(url).text
            let names = PlaylistWalk.references(in: text).filter { $0.hasSuffix(".m3u8") }
            try await expectFrames(scene.weir.url(try #require(names.first)), of: fixture)

            let list = try #require(
                text.range(of: "X-ASSET-LIST=\"").map { text[$0.upperBound...].prefix { $0 != "\"" } })
            let json = try await HTTPProbe.fetch(scene.weir.url(String(list)))
            let part = json.text.components(separatedBy: "\"URI\":\"").last ?? ""
            let listed = String(part.prefix { $0 != "\"" })
            #expect(json.status == 200 && listed == names.first, "\(json.text)")

            let frames = try await FrameHashes.of(url)
            #expect(frames.firstDifference(from: direct) == nil && frames.complaints == [])
            #expect(scene.pieces().count == 6 && scene.pieces().allSatisfy { $0.contains("/media/") })
        }
    }

    /// The value of an attribute in a playlist, or of a key in JSON.
    private func value(_ name: String, in text: String) throws -> String {
        let start = try #require(text.range(of: name + "=\"") ?? text.range(of: "\"\(name)\":\""), "\(text)")
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test(
        "A4: is stored with --interstitials, and plays offline, with the origin gone, after a restart",
        arguments: ["aes", "byterange-fmp4", "cmaf"])
    func isStored(fixture: String) async throws {
        try await Scene.with { scene in
            _ = try await film(scene, fixture)
            try await expectStoredOnce(scene, fixture)
            try await expectPlayedFromTheStore(scene, fixture)
            let out = try TemporaryFolder()
            try await expectExported(scene, fixture, to: out)
            try await expectImported(scene, fixture, from: out)
        }
    }

    /// Expects that a `get` stores both interstitials, and that a second one asks the origin for nothing of them.
    private func expectStoredOnce(_ scene: Scene, _ fixture: String) async throws {
        let url = scene.origin.url("/ts/90p/media.m3u8")
        let get = try await scene.weir.run(["get", url, "--name", "film", "--interstitials"])
        #expect(get.exit == .code(0) && get.errors.contains("interstitials: 2 stored"), "\(get.errors)")
        let lists = try await scene.origin.requests().map(\.path).filter { $0.hasPrefix("/lists/") }
        #expect(lists.count == 1 && lists[0].contains("token=secret&_HLS_primary_id="), "\(lists)")

        try await scene.origin.clearRequests()
        let again = try await scene.weir.run(["get", "film", "--interstitials"])
        #expect(again.exit == .code(0), "\(again.errors)")
        let paths = try await scene.origin.requests().map(\.path)
        #expect(paths.allSatisfy { !$0.contains("lists") && !$0.contains(fixture) }, "\(paths)")
    }

    /// Expects that, after a restart, both interstitials play in each view without a request to the origin, and belong to
    /// the one asset.
    private func expectPlayedFromTheStore(_ scene: Scene, _ fixture: String) async throws {
        try await scene.origin.clearRequests()
        try await scene.weir.restart()
        for view in ["/offline/film.m3u8", "/local/film.m3u8", "/film.m3u8"] {
            let text = try await HTTPProbe.fetch(await scene.weir.url(view)).text
            let uri = try value("X-ASSET-URI", in: text)
            try await expectFrames(scene.weir.url(uri), ofBestOf: fixture)
            let json = try await HTTPProbe.fetch(await scene.weir.url(try value("X-ASSET-LIST", in: text)))
            #expect(json.status == 200 && json.text.contains("\"DURATION\":12"), "\(json.text)")
            try await expectFrames(scene.weir.url(try value("URI", in: json.text)), ofBestOf: fixture)
        }
        // At the end of a session what was stored may be compared.
        let requests = try await scene.origin.requests().filter { !$0.isComparison }
        #expect(requests.isEmpty, "\(requests)")
        #expect(try await scene.weir.run(["verify", "film"]).exit == .code(0))
        #expect(try await scene.weir.run(["list", "--json"]).output.split(separator: "\n").count == 1)
    }

    /// Expects that an export has the interstitials as well and plays without Weir, and that no piece of them outlives the
    /// asset.
    private func expectExported(_ scene: Scene, _ fixture: String, to out: TemporaryFolder) async throws {
        #expect(try await scene.weir.run(["export", "film", out.path("film")]).exit == .code(0))
        #expect(try await scene.weir.run(["remove", "film", "--yes"]).exit == .code(0))
        #expect(scene.pieces() == [])

        let media = try String(contentsOfFile: out.path("film/media/media.m3u8"), encoding: .utf8)
        let file = try value("X-ASSET-URI", in: media)
        #expect(file.hasPrefix("../interstitials/"))
        let nginx = try await PlainServer(root: out.path)
        try await expectFrames(nginx.url("/film/media/" + file), ofBestOf: fixture)
        let listPath = out.path("film/media/" + (try value("X-ASSET-LIST", in: media)))
        let list = try String(contentsOfFile: listPath, encoding: .utf8)
        try await expectFrames(nginx.url("/film/interstitials/" + (try value("URI", in: list))), ofBestOf: fixture)
    }

    /// Expects that an import of that export plays both interstitials, after a restart and with the origin gone.
    private func expectImported(_ scene: Scene, _ fixture: String, from folder: TemporaryFolder) async throws {
        let back = try await scene.weir.run(["import", folder.path("film"), "--name", "back"])
        #expect(back.exit == .code(0), "\(back.errors)")
        try await scene.weir.restart()
        try await scene.origin.stop()

        let text = try await HTTPProbe.fetch(await scene.weir.url("/offline/back.m3u8")).text
        let entry = try #require(PlaylistWalk.references(in: text).first { $0.hasSuffix(".m3u8") }, "\(text)")
        let imported = try await HTTPProbe.fetch(await scene.weir.url(entry)).text
        let list = try await HTTPProbe.fetch(await scene.weir.url(try value("X-ASSET-LIST", in: imported))).text
        for uri in [try value("X-ASSET-URI", in: imported), try value("URI", in: list)] {
            try await expectFrames(scene.weir.url(uri), ofBestOf: fixture)
        }
        #expect(try await scene.weir.run(["verify", "back"]).exit == .code(0))
    }

    @Test("A4, S19: comes back with its bundle after the loss of the catalogue, and so do thumbnails")
    func isAdopted() async throws {
        try await Scene.with { scene in
            _ = try await film(scene, "cmaf")
            let folder = try TemporaryFolder()
            try await folder.drawSheet()
            let url = scene.origin.url("/ts/90p/media.m3u8")
            let get = try await scene.weir.run(["get", url, "--name", "film", "--interstitials"])
            #expect(get.exit == .code(0), "\(get.errors)")
            let attach = try await scene.weir.run(["attach", "film", folder.path("sheet.png"), "--tiles", "2x2"])
            #expect(attach.exit == .code(0), "\(attach.errors)")
            try await scene.origin.stop()
            for loss in 1...2 {
                try await scene.weir.kill()
                for name in try FileManager.default.contentsOfDirectory(atPath: scene.weir.store)
                where name.hasPrefix("catalogue-1") || name == "records" {
                    try FileManager.default.removeItem(atPath: scene.weir.store + "/" + name)
                }
                try await scene.weir.start()
                try await waitUntil("the asset after loss \(loss)") {
                    try await !scene.weir.run(["list", "--json"]).output.isEmpty
                }
                let entry = try await HTTPProbe.fetch(await scene.weir.url("/offline/film.m3u8")).text
                #expect(entry.contains("IMAGE-STREAM-INF") && entry.contains("RESOLUTION=160x90"), "\(entry)")
                let lines = entry.split(separator: "\n").filter { !$0.hasPrefix("#") }
                let media = String(try #require(lines.first, "\(entry)"))
                let text = try await HTTPProbe.fetch(await scene.weir.url(media)).text
                let json = try await HTTPProbe.fetch(await scene.weir.url(try value("X-ASSET-LIST", in: text))).text
                for uri in [try value("X-ASSET-URI", in: text), try value("URI", in: json)] {
                    try await expectFrames(scene.weir.url(uri), ofBestOf: "cmaf")
                }
                #expect(try await scene.weir.run(["verify", "film"]).exit == .code(0))
                let bundles = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
                #expect(bundles.count == 1)
            }
        }
    }

    @Test("A4: that fails never fails the film; it is told, left out offline, and streams online")
    func failsAlone() async throws {
        try await Scene.with { scene in
            _ = try await film(scene, "cmaf")
            try await scene.origin.add(OriginRule("/cmaf/*.m4s") { $0.status = 404 })
            let url = scene.origin.url("/ts/90p/media.m3u8")
            let get = try await scene.weir.run(["get", url, "--name", "film", "--interstitials"])
            #expect(get.exit == .code(0), "\(get.errors)")
            #expect(get.errors.contains("interstitials: 0 stored\ninterstitial not stored: "), "\(get.errors)")
            #expect(get.errors.contains("(404)"))
            let offline = try await HTTPProbe.fetch(await scene.weir.url("/offline/film.m3u8")).text
            #expect(offline.contains("#EXTINF") && !offline.contains("DATERANGE"))
            try await scene.origin.clearRules()
            let online = try await HTTPProbe.fetch(await scene.weir.url("/film.m3u8")).text
            try await expectFrames(scene.weir.url(try value("X-ASSET-URI", in: online)), of: "cmaf")
        }
    }
}
