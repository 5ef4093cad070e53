import Foundation
import TestSupport
import Testing

@Suite("A publication to an object store")
struct PublishTests {
    @Test("plays every frame in ffmpeg and through a second Weir, has correct fields, and sends playlists last")
    func playsWithCorrectFields() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            for fixture in ["cmaf", "aes", "ts"] {
                try await scene.store(fixture)
                let result = try await scene.publish(fixture, to: store)
                #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result.errors)")
            }
            try await scene.origin.stop()
        }
        for fixture in ["cmaf", "aes", "ts"] {
            try await expectFrames(store.url("\(fixture)/master.m3u8"), ofBestOf: fixture)
        }
        try await expectFields(store)
        try await expectOrder(store)
        try await Scene.with { scene in
            try await expectFrames(scene.weir.url("/" + store.url("cmaf/master.m3u8")), ofBestOf: "cmaf")
            let got = try await scene.weir.run(["get", store.url("aes/master.m3u8")])
            #expect(got.exit == .code(0), "\(got.errors)")
        }
    }

    private func expectFields(_ store: ObjectStore) async throws {
        let objects = try await store.objects()
        let forever = "public, max-age=31536000, immutable"
        let expected = [
            "cmaf/video-270p/0.m4s": ("video/mp4", forever), "cmaf/video-270p/init-0.mp4": ("video/mp4", forever),
            "ts/video-270p/0.ts": ("video/mp2t", forever), "aes/keys/0.key": ("application/octet-stream", "no-store"),
            "ts/master.m3u8": ("application/vnd.apple.mpegurl", "public, max-age=10"),
            "ts/video-270p/media.m3u8": ("application/vnd.apple.mpegurl", "public, max-age=10"),
            "ts/asset.json": ("application/json", "public, max-age=10"),
        ]
        for (name, (type, cache)) in expected {
            #expect(objects[name]?["content-type"] == type && objects[name]?["cache-control"] == cache, "\(name)")
        }
        #expect(objects.allSatisfy { $0.value["x-amz-meta-sha256"]?.count == 64 })
    }

    /// Six uploads run at a time, so any order within a stage is correct.
    private func expectOrder(_ store: ObjectStore) async throws {
        for fixture in ["cmaf", "aes", "ts"] {
            let puts = try await store.puts().filter { $0.hasPrefix(fixture + "/") }
            let rank = { (name: String) in
                name.hasSuffix("weir-published.txt")
                    ? 0 : name.hasSuffix("master.m3u8") ? 3 : name.hasSuffix(".m3u8") ? 2 : 1
            }
            #expect(puts.map(rank) == puts.map(rank).sorted() && puts.last == "\(fixture)/master.m3u8", "\(puts)")
            #expect(puts.count == Set(puts).count)
        }
    }

    @Test("sends only new, changed and missing objects, and deletes obsolete ones")
    func sendsOnlyDifferences() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            try await scene.store("ts", ["-q", "90p"])
            expectLine(
                try await scene.publish("ts", to: store), "published ts to s3://films/ts: 10 of 10 files sent, 136 KB")
            #expect(try await store.puts().count == 11)  // 10, and the record.
            try await store.clearRequests()
            expectLine(
                try await scene.publish("ts", to: store), "published ts to s3://films/ts: 0 of 10 files sent, 0 B")
            #expect(try await store.puts() == [])

            // Foreign changes: one object deleted, one with other bytes of equal length, one with other fields.
            try await store.remove("ts/video-90p/3.ts")
            let length = try Repository.fixture("/ts/90p/4.ts").count
            try await store.add("ts/video-90p/4.ts", Data(count: length))
            try await store.clearRequests()
            #expect(try await scene.publish("ts", to: store).exit == .code(0))
            #expect(try await store.puts().sorted() == ["ts/video-90p/3.ts", "ts/video-90p/4.ts"])

            // More of the asset: new pieces, and the playlists with them.
            try await scene.store("ts", ["-q", "270p"])
            try await store.clearRequests()
            #expect(try await scene.publish("ts", to: store).exit == .code(0))
            let names = try await store.puts()
            #expect(!names.contains { $0.hasPrefix("ts/video-90p/") } && names.last == "ts/master.m3u8", "\(names)")
            #expect(names.count { $0.hasPrefix("ts/video-270p/") } == 8 && names.count == 10, "\(names)")
        }
    }

    @Test("deletes obsolete objects of an earlier publication last, and no others")
    func deletesObsoleteObjectsLast() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            try await scene.store("ts", ["-q", "90p", "--also", "-q 180p"])
            #expect(try await scene.publish("ts", to: store).exit == .code(0))
            try await store.add("ts/notes.txt", Data("mine".utf8))
            try await store.add("ts/video-180p/mine.ts", Data("mine".utf8))
            // With a piece missing, its rendition is incomplete and no longer published.
            let piece = try #require(scene.pieces().first { $0.hasSuffix("video-180p/5.ts") })
            try await scene.origin.stop()
            try await scene.weir.kill()
            try FileManager.default.removeItem(atPath: piece)
            try await scene.weir.start()
            try await store.clearRequests()
            let result = try await scene.publish("ts", to: store)
            #expect(
                result.exit == .code(0) && result.output.hasSuffix(", 8 deleted\n"), "\(result.output)\(result.errors)"
            )
            let requests = try await store.requests()
            let first = try #require(requests.firstIndex { $0.method == "DELETE" })
            let rest = requests[first...].filter { $0.method != "DELETE" }
            #expect(rest.map(\.path) == ["/films/ts/weir-published.txt"])
            let left = try await store.objects().keys.filter { $0.hasPrefix("ts/video-180p/") || $0 == "ts/notes.txt" }
            #expect(left.sorted() == ["ts/notes.txt", "ts/video-180p/mine.ts"])
            let frames = try await FrameHashes.of(store.url("ts/master.m3u8"))
            #expect(try await frames.firstDifference(fromPartOf: PlainFrames.of("ts")) == nil)
        }
    }

    @Test("retries transient refusals and broken connections with jitter, and sends each object completely")
    func retriesTransientFailures() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            try await scene.store("ts")
            var busy = ObjectStore.Rule("PUT", "*/2.ts", times: 2)
            busy.status = 503
            var many = ObjectStore.Rule("PUT", "*/3.ts")
            many.status = 429
            var cut = ObjectStore.Rule("PUT", "*/4.ts")
            cut.cut = 1_000
            var list = ObjectStore.Rule("GET", "/films/")
            list.status = 500
            try await store.add(busy, many, cut, list)
            let result = try await scene.publish("ts", to: store)
            #expect(result.exit == .code(0), "\(result.errors)")
            let puts = try await store.puts()
            #expect(puts.count { $0.hasSuffix("/2.ts") } == 3 && puts.count { $0.hasSuffix("/3.ts") } == 2)
            #expect(puts.count { $0.hasSuffix("/4.ts") } == 2 && puts.count { $0.hasSuffix("/5.ts") } == 1)
            try await expectFrames(store.url("ts/master.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("continues after a kill, and after Ctrl-C, which cancels it in the daemon too")
    func continuesAfterInterruption() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            try await scene.store("ts")
            var hold = ObjectStore.Rule("PUT", "*/5.ts", times: 2)
            hold.hold = true
            try await store.add(hold)
            for isKill in [false, true] {
                let command = try scene.weir.begin(Scene.publish("ts", to: store), environment: ObjectStore.keys)
                // One held upload delays the playlists; the other pieces are sent.
                try await waitUntil("pieces") {
                    let held = try await store.puts().count { $0.hasSuffix("/5.ts") }
                    let there = try await store.objects().count
                    return held == (isKill ? 2 : 1) && there >= 8
                }
                if isKill {
                    try await scene.weir.kill()
                } else {
                    command.send(SIGINT)
                }
                let exit = try await command.end()
                // A status request after the kill finds no daemon.
                #expect((isKill ? [.code(75), .code(69)] : [.code(130)]).contains(exit), "\(command.standardError)")
                #expect(isKill || command.standardError.contains("repeat the command"))
                let objects = try await store.objects()
                #expect(!objects.keys.contains { $0.hasSuffix(".m3u8") }, "\(objects.keys)")
                if isKill {
                    try await scene.weir.start()
                }
            }
            let before = try await store.objects().keys
            try await store.clearRequests()
            let result = try await scene.publish("ts", to: store)
            #expect(result.exit == .code(0), "\(result.errors)")
            let missing = try await Set(store.objects().keys).subtracting(before)
            #expect(try await store.puts().sorted() == missing.sorted())
            #expect(missing.contains("ts/master.m3u8") && missing.count <= 3, "\(missing)")
            try await expectFrames(store.url("ts/master.m3u8"), ofBestOf: "ts")
        }
    }

    /// The token of the user's session with the store, which accepts no other.
    private static let session = ["AWS_SESSION_TOKEN": "sessiontoken"]

    @Test("is refused with the reason and without changes; no message or log has a secret")
    func refusesWithoutSecrets() async throws {
        let store = try await ObjectStore(token: "sessiontoken")
        try await Scene.with { scene in
            try await scene.store("ts")
            try await store.add("other/film.mp4", Data("mine".utf8))
            try await expectRefusedTargets(scene, store)
            try await expectRefusedEndpoints(scene, store)
            try await expectContinuationAfterDenial(scene, store)
            try await expectNoSecretKept(scene)
        }
    }

    private func publish(
        to target: String, at endpoint: String, _ scene: Scene, _ environment: [String: String] = [:]
    ) async throws -> ProcessResult {
        try await scene.weir.run(
            ["publish", "ts", target, "--endpoint", endpoint],
            environment: ObjectStore.keys.merging(Self.session) { $1 }.merging(environment) { $1 })
    }

    /// Expects a refusal with reason, next step and no secret for each wrong key and each target, before anything is put there.
    private func expectRefusedTargets(_ scene: Scene, _ store: ObjectStore) async throws {
        let s3 = "s3://films/ts"
        let cases: [(target: String, environment: [String: String], exit: Int32, words: String)] = [
            (s3, ["AWS_SECRET_ACCESS_KEY": "wrongsecret"], 77, "SignatureDoesNotMatch"),
            (s3, ["AWS_ACCESS_KEY_ID": "wrongaccess"], 77, "InvalidAccessKeyId"),
            (s3, ["AWS_SESSION_TOKEN": "othertoken"], 77, "InvalidToken"),
            (s3, ["AWS_ACCESS_KEY_ID": ""], 77, "there are no keys for s3://films/ts"),
            (s3, ["AWS_REGION": "us-east-1"], 73, "AuthorizationHeaderMalformed"),
            ("s3://elsewhere/ts", [:], 73, "NoSuchBucket"),
            ("s3://films/other", [:], 73, "something that Weir did not put there"),
            ("s3://films", [:], 73, "something that Weir did not put there"),
            ("s3://films/a b", [:], 73, "the prefix takes"),
            ("s3://", [:], 73, "names no bucket"), ("ftp://h/p", [:], 73, "is no folder or server to publish to"),
        ]
        for refused in cases {
            let result = try await publish(to: refused.target, at: store.endpoint, scene, refused.environment)
            #expect(result.exit == .code(refused.exit), "\(refused.target): \(result.errors)")
            #expect(result.errors.contains(refused.words) && result.errors.contains("try: "), "\(result.errors)")
            for secret in ["secret/key", "wrongsecret", "wrongaccess", "sessiontoken", "othertoken"] {
                #expect(!(result.errors + result.output).contains(secret))
            }
        }
        #expect(try await store.puts() == [])
    }

    /// Expects a reason for an endpoint that is no object store, that does not answer, and that is no URL.
    private func expectRefusedEndpoints(_ scene: Scene, _ store: ObjectStore) async throws {
        let endpoints: [(url: String, exit: Int32, words: String)] = [
            (scene.origin.url(""), 76, "cannot be listed"), ("http://127.0.0.1:9", 75, "could not be reached"),
            ("nonsense", 64, "endpoint"),
        ]
        for endpoint in endpoints {
            let result = try await publish(to: "s3://films/ts", at: endpoint.url, scene)
            #expect(
                result.exit == .code(endpoint.exit) && result.errors.contains(endpoint.words),
                "\(endpoint.url): \(result.errors)")
        }
    }

    /// Expects that a denied upload is named, and that the next try puts the rest there.
    private func expectContinuationAfterDenial(_ scene: Scene, _ store: ObjectStore) async throws {
        var denial = ObjectStore.Rule("PUT", "*.ts")
        denial.status = 403
        try await store.add(denial)
        let denied = try await scene.publish("ts", to: store, Self.session)
        #expect(denied.exit == .code(77) && denied.errors.contains(".ts cannot be put there"), "\(denied.errors)")
        #expect(try await scene.publish("ts", to: store, Self.session).exit == .code(0))
        #expect(try await store.objects()["ts/master.m3u8"] != nil)
    }

    /// Expects no key in the log or in a file of the daemon's.
    private func expectNoSecretKept(_ scene: Scene) async throws {
        let log = await scene.weir.log
        #expect(!log.contains("secret/key") && !log.contains("sessiontoken"), "\(log)")
        let all = try FileManager.default.subpathsOfDirectory(atPath: scene.weir.state).filter {
            !$0.hasSuffix("token")
        }
        for path in all {
            guard let text = FileManager.default.contents(atPath: scene.weir.state + "/" + path) else { continue }
            #expect(text.range(of: Data("secret/key".utf8)) == nil, "\(path)")
        }
    }

    @Test("has no tokens and header fields of the download")
    func publishesNoSecrets() async throws {
        let store = try await ObjectStore()
        try await Scene.with { scene in
            let url = scene.origin.url("/ts/master.m3u8?token=hiddenquery")
            let got = try await scene.weir.run(
                ["get", url, "--header", "X-Key: hiddenfield", "--header", "Cookie: a=hiddencookie"])
            #expect(got.exit == .code(0), "\(got.errors)")
            #expect(try await scene.publish("ts", to: store).exit == .code(0))
            for name in try await store.objects().keys where !name.hasSuffix(".ts") {
                let text = try await HTTPProbe.fetch(store.url(name)).text
                #expect(!text.contains("hidden"), "\(name)")
            }
            #expect(!(try await store.requests()).contains { "\($0)".contains("hidden") })
        }
    }
}
