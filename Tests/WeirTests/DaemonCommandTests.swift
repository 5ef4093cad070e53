import Control
import EventLoop
import Foundation
import Glibc
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Runs the program with a scripted daemon.
@Suite struct DaemonCommandTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path("state") }

    init() throws { folder = try TemporaryFolder() }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "WEIR_STATE": state, "WEIR_PLAYER": "",
            "LC_ALL": "C.UTF-8",
        ]
    }

    private func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments, environment: environment.merging(more) { $1 })
    }

    private func daemon(
        assets: [API.Asset] = [], states: [API.Download] = [], snapshot: [API.Download]? = nil
    ) async throws -> ScriptedDaemon {
        try await ScriptedDaemon(state: state, assets: assets, states: states, snapshot: snapshot)
    }

    private var asset: API.Asset {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8", duration: 888.1)
        asset.local = .yes
        asset.state = .saved
        asset.stored = .saved
        asset.bytes = 2048
        asset.quality = "720p"
        asset.tracks.variants = [sampleVariant]
        return asset
    }

    private var done: API.Download {
        sampleDownload.with {
            $0.state = .complete
            $0.loaded = [.init(start: 0, end: 888.1)]
        }
    }

    private func port() -> String {
        StateDirectory(state).daemonURL?.split(separator: ":").last.map(String.init) ?? ""
    }

    /// The moment at which the new content of an asset becomes known, with respect to a command that follows its download.
    enum Discovery: CaseIterable {
        /// Its download is the answer.
        case before
        /// The old download ends when the command has begun it.
        case meanwhile
        /// The old download fails, and the new one has taken its place when the command looks.
        case justReplaced
        /// The old download is gone when the command looks.
        case longReplaced
    }

    @Test(arguments: Discovery.allCases)
    func getTellsOfOtherContentOnceWheneverThatIsFound(_ discovery: Discovery) async throws {
        let sentence = "the origin has other content now: the new is fetched beside the old"
        let replacement = done.with { $0.id = "d2" }
        let beside = replacement.with { $0.otherContent = sentence }
        let failed = sampleDownload.with {
            $0.state = .failed
            $0.error = .init(code: .otherContent, message: sentence)
        }
        let states =
            switch discovery {
            case .before: [beside]
            case .meanwhile: [failed, beside]
            case .justReplaced: [failed, replacement]
            case .longReplaced: [sampleDownload, replacement]
            }
        var asset = asset
        asset.download = "d2"
        let daemon = try await daemon(assets: [asset], states: states)
        await daemon.replace(discovery == .longReplaced ? "d1" : nil)
        let result = try await run(["get", "sintel"])
        #expect(result.exit == .code(0), "\(result.errors)")
        #expect(result.errors.ranges(of: "sintel: the origin has other content now").count == 1, "\(result.errors)")
        await daemon.stop()
    }

    /// New content takes the place of the old after the first of two questions.
    @Test func showTellsOfAnAssetWhoseDownloadGoesAwayMeanwhile() async throws {
        var asset = asset
        asset.download = "d1"
        let daemon = try await daemon(assets: [asset], states: [sampleDownload])
        #expect(try await run(["show", "sintel"]).output.hasPrefix("sintel  "))
        await daemon.replace("d1")
        let result = try await run(["show", "sintel"])
        #expect(result.exit == .code(0) && result.output.hasPrefix("sintel  "), "\(result)")
        await daemon.stop()
    }

    @Test func thePageOpensInTheBrowserWithoutTheKeyAsAnArgument() async throws {
        let daemon = try await daemon()
        let link = "http://localhost:\(port())"
        let script = "#!/bin/sh\necho \"$@\" >\"$HOME/opened\"\nexit 4\n"
        let opener = try folder.write(Data(script.utf8), to: "bin/xdg-open")
        chmod(opener, 0o755)
        let path = ["PATH": folder.path("bin") + ":/usr/bin:/bin", "DISPLAY": "", "WAYLAND_DISPLAY": ""]
        let plain = try await run(["page"], path)
        #expect(plain.exit == .code(0) && plain.output.hasPrefix(link + "/in/"))
        let key = try #require(plain.output.split(separator: "/").dropLast().last)
        // Without a display, the link is only printed.
        let blind = try await run(["page", "--open"], path)
        #expect(blind.exit == .code(69) && blind.output == plain.output, "\(blind)")
        #expect(blind.errors.contains("neither DISPLAY nor") && blind.errors.contains("\ntry: open the link"))
        let bare = try await run(["page", "--open"], ["PATH": folder.path("none"), "DISPLAY": ":9"])
        #expect(bare.exit == .code(69) && bare.errors.contains("xdg-open, which"), "\(bare)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("opened")))
        for display in ["DISPLAY", "WAYLAND_DISPLAY"] {
            let open = try await run(["page", "--open"], path.merging([display: "x"]) { $1 })
            // The exit code is that of xdg-open.
            #expect(open.exit == .code(4) && open.output == plain.output, "\(open)")
            let opened = try String(contentsOfFile: folder.path("opened"), encoding: .utf8)
            let file = state + "/page.html"
            #expect(opened == file + "\n")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("content=\"0;url=\(link)/#key=\(key)\""), "\(text)")
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            try FileManager.default.removeItem(atPath: folder.path("opened"))
        }
        await daemon.stop()
    }

    @Test func getFollowsADownloadToItsEnd() async throws {
        let queued = API.Download(id: "d1", asset: "sintel")
        let daemon = try await daemon(states: [queued, sampleDownload, done])
        let result = try await run([
            "get", "https://h/m.m3u8", "-q", "<=1080p", "--audio", "en", "--subs", "all", "--name", "sintel", "--title",
            "S",
        ])
        #expect(result.exit == .code(0))
        #expect(result.output.isEmpty)
        #expect(
            result.errors == """
                –  0 B  queued
                sintel  14:48  720p avc1 2.1 Mb/s + audio en + subs en   about 240 MB
                play now:  mpv http://localhost:\(port())/sintel.m3u8
                63%  9:19/14:48  151 MB  5.1 MB/s  0:17 left
                100%  14:48/14:48  151 MB  saved
                sintel is saved, 151 MB. Play it: weir play sintel

                """)
        var request = API.DownloadRequest(
            source: "https://h/m.m3u8",
            Selection(quality: .heightAtMost(1080), audio: .languages(["en"]), subtitles: .all))
        request.name = "sintel"
        request.title = "S"
        #expect(await daemon.requests == [request])
        await daemon.stop()
    }

    @Test func getAsJSONWritesProgressAndOneResult() async throws {
        let daemon = try await daemon(states: [sampleDownload, done])
        let result = try await run(["get", "https://h/m.m3u8", "--json"])
        #expect(result.exit == .code(0))
        #expect(result.errors.isEmpty)
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.map { $0.prefix(22) } == [
                #"{"v":1,"t":"progress","#, #"{"v":1,"t":"progress","#, #"{"v":1,"t":"result","i"#,
            ])
        #expect(lines.last?.hasSuffix(#""url":"http://localhost:\#(port())/sintel.m3u8","exit":0}"#) == true)
        await daemon.stop()
    }

    @Test func aFailedDownloadExitsWithTheCodeOfItsCause() async throws {
        let failed = sampleDownload.with {
            $0.state = .failed
            $0.error = .init(code: .diskFull, message: "sintel: the disk is full")
        }
        let daemon = try await daemon(states: [failed])
        let result = try await run(["get", "https://h/m.m3u8"])
        #expect(result.exit == .code(74))
        #expect(result.errors.hasSuffix("\nweir: sintel: the disk is full\ntry: weir get sintel\n"))
        await daemon.stop()
    }

    @Test func aLiveStreamIsRefusedWith65() async throws {
        let daemon = try await daemon()
        let result = try await run(["get", "https://h/live.m3u8"])
        #expect(result.exit == .code(65))
        let url = "http://localhost:\(port())/https://h/live.m3u8"
        #expect(
            result.errors == "weir: https://h/live.m3u8 is live: it cannot be saved\n"
                + "try: weir get --record https://h/live.m3u8 to record it, or mpv \(url)\n")
        await daemon.stop()
    }

    @Test(arguments: [false, true]) func interruptingGetDetaches(json: Bool) async throws {
        let daemon = try await daemon(states: [sampleDownload])
        let process = try ChildProcess(
            Repository.builtProgram("weir"), ["get", "https://h/m.m3u8"] + (json ? ["--json"] : []),
            environment: environment)
        try await waitUntil("a second question") { await daemon.questions > 1 }
        process.send(SIGINT)
        #expect(try await process.end() == .code(130))
        let sentence =
            "weir: detached; the download of sintel continues in the daemon\ntry: weir get sintel to follow it again\n"
        #expect(process.standardError.hasSuffix(sentence))
        let results = process.standardOutput.split(separator: "\n").filter { $0.contains(#""t":"result""#) }
        #expect(results.count == (json ? 1 : 0))
        if json {
            #expect(results.first?.contains(#""state":"running""#) == true)
        }
        await daemon.stop()
    }

    @Test func theListIsATableOrObjects() async throws {
        var other = API.Asset(name: "a", id: "a", url: "https://h/a")
        other.local = .partial
        other.state = .partlySaved
        other.stored = .partlySaved
        let daemon = try await daemon(assets: [asset, other])
        #expect(
            try await run(["list"]).output == """
                NAME    TIME   QUALITY  SIZE    STATE
                a       –      –        –       partly saved
                sintel  14:48  720p     2.0 KB  saved
                2 assets, 2.0 KB, 1 saved

                """)
        let saved =
            "NAME    TIME   QUALITY  SIZE    STATE\nsintel  14:48  720p     2.0 KB  saved\n1 asset, 2.0 KB, 1 saved\n"
        #expect(try await run(["list", "--offline"]).output == saved)
        #expect(try await run(["ls", "--is", "saved", "--state", state]).output == saved)
        #expect(try await run(["list", "--is", "partly-saved"]).output.contains("\na     –"))
        #expect(try await run(["list", "--is", "failed"]).errors == "no asset is failed\n")
        let mistyped = try await run(["list", "--is", "savd"])
        #expect(mistyped.exit == .code(64) && mistyped.errors.contains("did you mean \"saved\"?"), "\(mistyped)")
        let objects = try await run(["list", "--json"]).output.split(separator: "\n")
        #expect(objects.count == 2)
        #expect(try objects.map { try API.decode(API.Asset.self, from: Array($0.utf8)).name } == ["a", "sintel"])
        await daemon.stop()
    }

    @Test func anEmptyListSaysWhatToDo() async throws {
        let daemon = try await daemon()
        let result = try await run(["list"])
        #expect(result.exit == .code(0))
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("weir get URL"))
        await daemon.stop()
    }

    @Test func removeAsksForConfirmation() async throws {
        let daemon = try await daemon(assets: [asset])
        let refused = try await run(["remove", "sintel"])
        #expect(refused.exit == .code(64))
        #expect(refused.errors.hasSuffix("\ntry: weir remove sintel --yes\n"))
        #expect(await daemon.removed.isEmpty)
        #expect(try await run(["remove", "sintel", "--yes"]).output == "removed sintel, 2.0 KB\n")
        #expect(await daemon.removed == ["sintel"])
        let unknown = try await run(["remove", "x", "--yes"])
        #expect(unknown.exit == .code(66))
        #expect(unknown.errors == "weir: there is no asset named x\ntry: weir list\n")
        await daemon.stop()
    }

    @Test func showDescribesAnAssetOrAURL() async throws {
        let daemon = try await daemon(assets: [asset])
        #expect(
            try await run(["show", "sintel"]).output.hasPrefix("sintel  14:48  saved, 2.0 KB\nhttps://h/m.m3u8\n"))
        #expect(try await run(["show", "https://h/x"]).output.hasPrefix("1:01\nhttps://h/x\n\nTRACK"))
        let text = try await run(["show", "https://h/x", "--json"]).output
        #expect(try API.decode(API.Presentation.self, from: Array(text.utf8)).duration == 61)
        await daemon.stop()
    }

    @Test func unmixableVariantsAreExplainedByShow() {
        var explanation = sampleExplanation
        explanation.incompatible = [.init(id: "video-360p", reason: "its segments do not begin and end when these do")]
        #expect(
            ExplanationText.lines(explanation, of: API.Tracks()).suffix(3) == [
                "", "never substituted in its holes:",
                "video-360p  its segments do not begin and end when these do",
            ])
    }

    @Test func showExplainsWhatGetWouldChoose() async throws {
        let daemon = try await daemon(assets: [asset])
        let text = """
            chosen: 720p avc1 2.1 Mb/s + audio en + subs en   about 240 MB
            because it has the highest bit rate

            not chosen:
            360p 800 kb/s  it has a lower bit rate

            """
        #expect(try await run(["show", "https://h/x", "--explain"]).output.hasSuffix("\n\n" + text))
        #expect(try await run(["show", "https://h/x", "--min-size", "720p"]).output.hasSuffix("\n\n" + text))
        #expect(try await !run(["show", "https://h/x"]).output.contains("chosen"))
        let json = try await run(["show", "sintel", "--json"]).output
        #expect(try API.decode(API.Asset.self, from: Array(json.utf8)).explanation == sampleExplanation)
        let unmatched = try await run(["show", "https://h/x", "-q", "9p"])
        #expect(unmatched.exit == .code(65) && unmatched.output.isEmpty)
        #expect(unmatched.errors.hasPrefix("weir: no variant is 9p; there are 720p\n"))
        await daemon.stop()
    }

    @Test func theUsersLanguageIsSentWithTheRequest() async throws {
        let daemon = try await daemon(states: [done])
        let variables = environment.merging(["LC_ALL": "", "LC_MESSAGES": "pt_BR.UTF-8", "LANG": "de_DE"]) { $1 }
        let weir = Repository.builtProgram("weir")
        _ = try await ProcessRunner.run(weir, ["get", "https://h/m.m3u8", "--fast"], environment: variables)
        #expect(await daemon.requests.map(\.order.selection.preferences?.locale) == ["pt-BR"])
        #expect(await daemon.requests.map(\.order.selection.preferences?.isFast) == [true])
        await daemon.stop()
    }

    @Test(arguments: [
        (["sintel"], "/sintel.m3u8"), (["sintel", "--offline"], "/offline/sintel.m3u8"),
        (["https://h/m.m3u8"], "/https://h/m.m3u8"), (["https://h/m.m3u8", "--offline"], "/offline/sintel.m3u8"),
        (["sintel", "--local"], "/local/sintel.m3u8"), (["https://h/m.m3u8", "--local"], "/local/https://h/m.m3u8"),
        (["sintel", "--auto"], "/auto/sintel.m3u8"), (["https://h/m.m3u8", "--auto"], "/auto/https://h/m.m3u8"),
        (["sintel", "--timeshift"], "/timeshift/sintel.m3u8"),
        (["https://h/m.m3u8", "--timeshift"], "/timeshift/https://h/m.m3u8"),
        (["sintel", "-q", "720p", "--offline"], "/select/quality=720p/offline/sintel.m3u8"),
        (
            ["https://h/m.m3u8", "-q", "<=720p", "--audio", "de,en", "--where", "fps>=50", "--where", "range=SDR"],
            "/select/quality=%3C%3D720p&where=fps%3E%3D50&where=range%3DSDR&audio=de,en/https://h/m.m3u8"
        ),
    ])
    func urlAndPlayUseTheSameURL(arguments: [String], path: String) async throws {
        let daemon = try await daemon(assets: [asset])
        let url = "http://localhost:\(port())\(path)\n"
        #expect(try await run(["url"] + arguments).output == url)
        #expect(try await run(["play", "--player", "echo"] + arguments).output == url)
        let more = try await run(["play", "--player", "/bin/echo"] + arguments + ["--", "--fullscreen"])
        #expect(more.output == "--fullscreen \(url)")
        #expect(try await run(["url", "none"]).exit == .code(66))
        #expect(try await run(["url", "https://h/none", "--offline"]).exit == .code(66))
        for two in [
            ["--offline", "--local"], ["--offline", "--auto"], ["--local", "--auto"], ["--timeshift", "--auto"],
            ["--auto", "--fast"],
        ] {
            #expect(try await run(["url", "sintel"] + two).exit == .code(64))
            #expect(try await run(["play", "--player", "echo", "sintel"] + two).exit == .code(64))
        }
        await daemon.stop()
    }

    @Test func aURLThatIsStoredInItsBestQualityPlaysByItsName() async throws {
        func url(_ change: (inout API.Asset) -> Void) async throws -> String {
            var stored = asset
            stored.state = .saved
            stored.tracks.variants = [
                .init(id: "video-360p"), .init(id: "video-720p", stored: .saved, isComplete: true),
            ]
            stored.tracks.variants[0].bandwidth = 500_000
            stored.tracks.variants[1].bandwidth = 2_000_000
            change(&stored)
            let daemon = try await daemon(assets: [stored])
            let output = try await run(["url", "https://h/m.m3u8"]).output
            #expect(try await run(["play", "--player", "echo", "https://h/m.m3u8"]).output == output)
            await daemon.stop()
            return output.split(separator: "/").dropFirst().last.map(String.init) ?? ""
        }
        #expect(try await url { _ in } == "sintel.m3u8\n")
        let changes: [(inout API.Asset) -> Void] = [
            { $0.state = .downloading }, { $0.hasChanged = true }, { $0.ranges = [.init(start: 0, end: 6)] },
            {
                $0.tracks.variants[0].isComplete = true
                $0.tracks.variants[1].isComplete = false
            },
        ]
        for change in changes {
            #expect(try await url(change) == "m.m3u8\n")
        }
    }

    @Test func theModeIsToldAndChanged() async throws {
        let daemon = try await daemon()
        #expect(try await run(["mode"]).output == "auto\n")
        #expect(try await run(["mode", "offline"]).output == "offline\n")
        #expect(try await run(["mode", "--json"]).output == "{\"mode\":\"offline\"}\n")
        let refused = try await run(["mode", "sideways"])
        #expect(refused.exit == .code(64) && refused.errors.contains("\"sideways\" is not a mode"))
        #expect(await daemon.currentMode == API.Mode(.offline))
        await daemon.stop()
    }

    @Test(arguments: [
        (Playability(.yes, "720p complete"), "playable offline: yes: 720p complete"),
        (
            Playability(.partial, "1 of 6 segments of 720p is missing", duration: 740),
            "playable offline: in part, 12:20 of it: 1 of 6 segments of 720p is missing"
        ),
        (Playability(.no, "the key of 720p is missing"), "playable offline: no: the key of 720p is missing"),
    ])
    func showDescribesPlayability(playable: Playability, line: String) async throws {
        var asset = asset
        asset.playable = playable
        let daemon = try await daemon(assets: [asset])
        let lines = try await run(["show", "sintel"]).output.split(separator: "\n").map(String.init)
        #expect(lines.dropFirst(2).first == line)
        #expect(try await run(["show", "sintel", "--json"]).output.contains(#""playable":{"answer":""#))
        await daemon.stop()
    }

    @Test func getAndPlayBecomesThePlayer() async throws {
        let daemon = try await daemon(states: [sampleDownload])
        let result = try await run(["get", "https://h/m.m3u8", "--play", "--player", "echo"])
        #expect(result.exit == .code(0))
        #expect(result.output == "http://localhost:\(port())/sintel.m3u8\n")
        await daemon.stop()
    }

    @Test func aDaemonWithAnotherTokenRefusesWith77() async throws {
        let daemon = try await daemon(assets: [asset])
        try Data((String(repeating: "A", count: 43) + "\n").utf8).write(to: URL(fileURLWithPath: state + "/token"))
        let result = try await run(["list"])
        #expect(result.exit == .code(77))
        await daemon.stop()
    }
}
