import Foundation
import Glibc
import TestSupport
import Testing

@Suite("An asset moved to another volume")
struct MoveTests {
    /// Moves an asset and expects success.
    private func move(_ words: [String], in scene: Scene) async throws {
        let result = try await scene.weir.run(["move"] + words, within: .seconds(120))
        #expect(result.exit == .code(0), "\(words): \(result.errors)")
    }

    /// The bundle files on a volume.
    private func bundles(_ volume: String) -> [String] {
        (FileManager.default.enumerator(atPath: volume + "/assets")?.allObjects as? [String] ?? []).sorted()
    }

    private func temporaries(_ scene: Scene, _ volume: String) -> [String] {
        [scene.weir.store, volume].flatMap {
            (try? FileManager.default.contentsOfDirectory(atPath: $0 + "/tmp")) ?? []
        }
    }

    @Test("plays, grows, is verified, exported and renamed there, and moves back")
    func movesThereAndBack() async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder(inMemory: true)
            let volume = disk.path("films/weir")
            #expect(try await scene.get("cmaf").exit == .code(0))
            try await scene.origin.clearRequests()
            try await move(["cmaf", volume], in: scene)
            #expect(scene.pieces() == [] && !bundles(volume).isEmpty)
            for _ in 0..<2 {
                try await expectFrames(scene.weir.url("/cmaf.m3u8"), ofBestOf: "cmaf")
                try await scene.weir.restart()
            }
            #expect(try await scene.mediaRequests().map(\.path) == [])
            let list = try await scene.weir.run(["list"]).output
            #expect(list.contains("saved, in \(volume)"), "\(list)")
            #expect(try await scene.weir.run(["show", "cmaf"]).output.contains("stored in \(volume)\n"))
            #expect(try await scene.weir.run(["verify", "cmaf"]).exit == .code(0))
            #expect(try await scene.weir.run(["export", "cmaf", disk.path("copy")]).exit == .code(0))
            #expect(try await scene.weir.run(["rename", "cmaf", "film"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", "film", "--audio", "fr"]).exit == .code(0))
            #expect(bundles(volume).contains { $0.hasSuffix("audio-fr/SHA256SUMS") })
            #expect(scene.pieces() == [])
            try await move(["film", volume], in: scene)

            try await scene.origin.stop()
            let there = try await FrameHashes.of(scene.weir.url("/film.m3u8"))
            try await move(["film", "--home"], in: scene)
            #expect(bundles(volume) == [] && temporaries(scene, volume) == [])
            try await scene.weir.restart()
            #expect(try await FrameHashes.of(scene.weir.url("/film.m3u8")) == there && there.streams.count == 3)
            #expect(try await scene.weir.run(["list"]).output.contains("saved\n"))
        }
    }

    @Test("keeps playing and downloading, and fetches no piece twice", arguments: [true, false])
    func movesWhilePlayingAndDownloading(isOtherDisk: Bool) async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder(inMemory: isOtherDisk)
            // An incomplete asset lists all variants, and a complete one only what is stored.
            try await scene.origin.add(
                try PlainFrames.onlyBest(of: "ts"), OriginRule("/ts/*.ts") { $0.throttle = 150_000 })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await waitUntil("a piece") { !scene.pieces().isEmpty }
            async let frames: Void = expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
            for _ in 0..<3 {
                try await move(["ts", disk.path("weir")], in: scene)
                try await move(["ts", "--home"], in: scene)
            }
            try await move(["ts", disk.path("weir")], in: scene)
            try await frames
            #expect(try await get.end(within: .seconds(60)) == .code(0))
            #expect(try await scene.repetitions() == [:])
            #expect(scene.pieces() == [])
            try await scene.origin.stop()
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    /// The steps at which the server is killed: a system call, and its number in one thread.
    static let steps: [(call: String, number: Int)] = [
        ("utimensat", 2), ("syncfs", 1), ("syncfs", 3), ("renameat", 1), ("renameat", 2), ("renameat", 3),
        ("fdatasync", 3), ("fsync", 2), ("unlinkat", 3),
    ]

    @Test("by a killed server is complete in one place, and the files in the other are deleted")
    func staysCompleteAfterKill() async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder(inMemory: true)
            let trace = try TemporaryFolder()
            let volume = disk.path("weir")
            #expect(try await scene.get("ts").exit == .code(0))
            let pieces = scene.pieces().compactMap { $0.split(separator: "/").last }
            try await scene.origin.clearRequests()
            var outcomes: Set<Int32> = []
            for step in Self.steps {
                try await scene.weir.kill()
                let isStarted: Void? = try? await scene.weir.start(wrapper: [
                    "strace", "-f", "-qq", "-o", trace.path("calls"), "-e", "trace=\(step.call)", "-e",
                    "inject=\(step.call):signal=KILL:when=\(step.number)",
                ])
                let isAway = !bundles(volume).isEmpty
                if isStarted != nil {
                    let result = try await scene.weir.run(["move", "ts"] + (isAway ? ["--home"] : [volume]))
                    if case .code(let code) = result.exit {
                        outcomes.insert(code)
                    }
                }
                try await scene.weir.restart()
                let list = try await scene.weir.run(["list"]).output
                #expect(list.contains(" saved"), "\(step): \(list)")
                // The old files are deleted in the background.
                try await waitUntil("what is left of \(step) to go") {
                    scene.pieces().isEmpty != bundles(volume).isEmpty && temporaries(scene, volume).isEmpty
                }
                let there = scene.pieces() + bundles(volume)
                #expect(pieces.allSatisfy { piece in there.contains { $0.hasSuffix("/" + piece) } }, "\(step)")
                #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0), "\(step)")
            }
            #expect(outcomes != [0], "no step has killed it")
            #expect(try await scene.mediaRequests().map(\.path) == [])
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("on an absent volume plays from its origin, stays listed, and is found when the volume is back")
    func playsFromOriginWhileVolumeIsAbsent() async throws {
        try await withAssetOnAbsentVolume { scene, volume in
            try await expectPlayableFromOriginOnly(scene, volume)
            try await scene.weir.restart()
            try await expectPlayableFromOriginOnly(scene, volume)

            try volume.connect()
            try await scene.waitForCompletion(of: "ts")
            #expect(bundles(volume.path) == volume.files)
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("that is removed while its volume is absent never comes back, also after the loss of the catalogue")
    func removedOnAbsentVolumeStaysRemoved() async throws {
        try await withAssetOnAbsentVolume { scene, volume in
            try await waitUntilListed(scene, asAbsentOn: volume)
            let removed = try await scene.weir.run(["remove", "ts", "--yes"])
            #expect(removed.exit == .code(0), "\(removed.errors)")
            #expect(removed.errors.contains("\(volume.path)/assets/ts-"), "\(removed.errors)")
            #expect(bundles(volume.pathWhileAbsent) == volume.files)
            #expect(try await scene.weir.run(["list"]).output == "")

            try await loseCatalogue(scene)
            try volume.connect()
            try await waitUntil("the files on the disk to go") { bundles(volume.path).isEmpty }
            try await waitUntil("nothing more to be awaited") {
                !FileManager.default.fileExists(atPath: scene.weir.state + "/removals.json")
            }
            #expect(try await scene.weir.run(["list"]).output == "")
        }
    }

    /// A disk that can be taken away, with the files of one asset.
    private struct RemovableVolume {
        let path: String
        let pathWhileAbsent: String
        /// The files on it when it was taken away.
        let files: [String]

        func connect() throws { try FileManager.default.moveItem(atPath: pathWhileAbsent, toPath: path) }
    }

    /// Runs the body with the fixture `ts` on a volume that was taken away.
    private func withAssetOnAbsentVolume(_ body: (Scene, RemovableVolume) async throws -> Void) async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder()
            let path = disk.path("weir")
            #expect(try await scene.get("ts").exit == .code(0))
            try await move(["ts", path], in: scene)
            let volume = RemovableVolume(path: path, pathWhileAbsent: disk.path("elsewhere"), files: bundles(path))
            try FileManager.default.moveItem(atPath: path, toPath: volume.pathWhileAbsent)
            try await body(scene, volume)
            withExtendedLifetime(disk) {}
        }
    }

    private func waitUntilListed(_ scene: Scene, asAbsentOn volume: RemovableVolume) async throws {
        try await waitUntil("the list to say so") {
            try await scene.weir.run(["list"]).output.contains("disk absent: \(volume.path)")
        }
    }

    /// Expects that the asset streams and nothing of it is stored elsewhere, and that commands that need its files name the disk.
    private func expectPlayableFromOriginOnly(_ scene: Scene, _ volume: RemovableVolume) async throws {
        try await waitUntilListed(scene, asAbsentOn: volume)
        try await expectFrames(scene.master("ts"), of: "ts")
        #expect(scene.pieces() == [] && !FileManager.default.fileExists(atPath: volume.path))

        let folder = try TemporaryFolder()
        let refused = [
            ["get", "ts"], ["verify", "ts"], ["move", "ts", "--home"], ["export", "ts", folder.path("x")],
        ]
        for words in refused {
            let result = try await scene.weir.run(words)
            #expect(result.exit == .code(75) && result.errors.contains(volume.path), "\(words): \(result.errors)")
        }
    }

    /// Restarts the daemon without its catalogue.
    private func loseCatalogue(_ scene: Scene) async throws {
        try await scene.weir.terminate()
        for name in try FileManager.default.contentsOfDirectory(atPath: scene.weir.store)
        where name.hasPrefix("catalogue-1") || name == "records" {
            try FileManager.default.removeItem(atPath: scene.weir.store + "/" + name)
        }
        try await scene.weir.start()
    }

    @Test("is refused at an unsuitable place, with the reason, and stays")
    func refusesUnsuitablePlaces() async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder()
            #expect(try await scene.get("ts").exit == .code(0))
            let pieces = scene.pieces()
            try disk.write(Data([7]), to: "full/photo.jpg")
            try disk.write(Data([7]), to: "file")
            try disk.write(Data(#"{"format":2,"id":"x","note":""}"#.utf8), to: "newer/volume.json")
            try disk.write(Data(#"{"format":1,"id":"x","note":""}"#.utf8), to: "foreign/volume.json")
            try disk.write(Data([7]), to: "foreign/assets/film-1/master.m3u8")
            try disk.write(Data(#"{"format":1,"id":"x","note":""}"#.utf8), to: "linked/volume.json")
            try disk.write(Data([7]), to: "precious/file")
            #expect(symlink(disk.path("precious"), disk.path("linked/tmp")) == 0)
            var cases: [(words: [String], exit: Int32, reason: String)] = [
                (["ts", disk.path("full")], 73, "the folder is not empty"),
                (["ts", disk.path("file")], 73, "Not a directory"),
                (["ts", disk.path("newer")], 73, "a newer Weir"),
                (["ts", disk.path("foreign")], 73, "another store"),
                (["ts", disk.path("linked")], 73, "linked/tmp"),
                (["ts", scene.weir.store + "/assets/x"], 73, "in the store itself"),
                (["ts", "/proc/weir"], 73, "/proc/weir"),
                (["other", disk.path("new")], 66, "no asset named other"),
                (["ts"], 64, "Give a name and a folder"),
            ]
            if geteuid() == 0 {
                try FileManager.default.createDirectory(atPath: disk.path("theirs"), withIntermediateDirectories: true)
                #expect(chown(disk.path("theirs"), 1, 1) == 0)
                cases.append((["ts", disk.path("theirs")], 73, "another user"))
            }
            for refused in cases {
                let result = try await scene.weir.run(["move"] + refused.words)
                #expect(result.exit == .code(refused.exit), "\(refused.words): \(result.errors)")
                #expect(result.errors.contains(refused.reason), "\(refused.words): \(result.errors)")
            }
            #expect(scene.pieces() == pieces)
            let expected = ["full/photo.jpg", "file", "foreign/assets/film-1/master.m3u8", "precious/file"]
            #expect(Set(expected).isSubset(of: disk.files()))
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }
}

@Suite("A moved store")
struct StoreMoveTests {
    private func move(
        _ scene: Scene, from: String, to: String, wrapper: [String] = []
    ) async throws -> ProcessResult {
        let line = wrapper + [Repository.builtProgram("weir"), "move", "--all", to, "--store", from]
        return try await ProcessRunner.run(line[0], Array(line.dropFirst()), within: .seconds(120))
    }

    @Test("plays from its new folder, is found there, and moves back", arguments: [true, false])
    func movesStoreThereAndBack(isOtherDisk: Bool) async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder(inMemory: isOtherDisk)
            let old = scene.weir.store
            let new = disk.path("store")
            #expect(try await scene.get("cmaf").exit == .code(0))
            let busy = try await move(scene, from: old, to: new)
            #expect(busy.exit == .code(73) && busy.errors.contains("another daemon uses it"), "\(busy.errors)")
            try await scene.weir.terminate()
            let moved = try await move(scene, from: old, to: new)
            #expect(moved.exit == .code(0) && moved.output.contains("store = \"\(new)\""), "\(moved.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: old)
            #expect(left.filter { $0 != "lock" } == ["moved.json"])
            let refused = try await ProcessRunner.run(
                Repository.builtProgram("weir"),
                ["serve", "--listen", "127.0.0.1:0", "--store", old, "--state", disk.path("state")])
            #expect(refused.exit == .code(73) && refused.errors.contains("the store is in \(new)"), "\(refused.errors)")
            // A repetition has nothing to do.
            #expect(try await move(scene, from: old, to: new).exit == .code(0))

            try await scene.origin.stop()
            try await scene.weir.start(options: ["--store", new])
            try await expectFrames(scene.weir.url("/cmaf.m3u8"), ofBestOf: "cmaf")
            try await scene.weir.terminate()
            let back = try await move(scene, from: new, to: old)
            #expect(back.exit == .code(0), "\(back.errors)")
            try await scene.weir.start()
            try await expectFrames(scene.weir.url("/cmaf.m3u8"), ofBestOf: "cmaf")
            #expect(try await scene.weir.run(["verify", "--all"]).exit == .code(0))
        }
    }

    @Test("by a killed command is complete in one folder, and the same command finishes it")
    func finishesMoveAfterKill() async throws {
        try await Scene.with { scene in
            let disk = try TemporaryFolder(inMemory: true)
            let trace = try TemporaryFolder()
            let old = scene.weir.store
            let new = disk.path("store")
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            try await scene.origin.stop()
            let steps = [
                ("utimensat", 3), ("syncfs", 1), ("renameat", 2), ("renameat", 3), ("unlinkat", 2), ("unlinkat", 6),
            ]
            var from = old
            var to = new
            for (call, number) in steps {
                let killed = try await move(
                    scene, from: from, to: to,
                    wrapper: [
                        "strace", "-f", "-qq", "-o", trace.path("calls"), "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)",
                    ])
                #expect(killed.exit != .code(0), "\(call) \(number) has killed nothing")
                // The folder with the store marker is complete.
                let isMoved = FileManager.default.fileExists(atPath: from + "/moved.json")
                try await scene.weir.start(options: ["--store", isMoved ? to : from])
                #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0), "\(call) \(number)")
                try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
                try await scene.weir.terminate()
                let again = try await move(scene, from: from, to: to)
                #expect(again.exit == .code(0), "\(call) \(number): \(again.errors)")
                #expect(!FileManager.default.fileExists(atPath: to + "/arrived.json"))
                (from, to) = (to, from)
            }
        }
    }

    @Test("is refused at an unsuitable place, and stays")
    func refusesUnsuitableFolders() async throws {
        try await Scene.with(isStarted: false) { scene in
            let disk = try TemporaryFolder()
            let store = scene.weir.store
            #expect(try await move(scene, from: store, to: disk.path("new")).errors.contains("No such file"))
            try await scene.weir.start()
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            try disk.write(Data([7]), to: "full/photo.jpg")
            for (target, reason) in [
                (disk.path("full"), "the folder is not empty"), (store + "/new", "in the store itself"),
            ] {
                let result = try await move(scene, from: store, to: target)
                #expect(result.exit == .code(73) && result.errors.contains(reason), "\(target): \(result.errors)")
            }
            try await scene.weir.start()
            #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0))
        }
    }
}
