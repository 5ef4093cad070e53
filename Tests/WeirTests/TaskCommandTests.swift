import Control
import Foundation
import Orders
import SafeText
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Runs the commands that control downloads with a scripted daemon.
@Suite struct TaskCommandTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path("state") }

    init() throws { folder = try TemporaryFolder() }

    private var environment: [String: String] {
        ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "WEIR_STATE": state, "LC_ALL": "C.UTF-8"]
    }

    private func run(_ arguments: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(Repository.builtProgram("weir"), arguments, environment: environment)
    }

    private func begin(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(Repository.builtProgram("weir"), arguments, environment: environment)
    }

    private var asset: API.Asset {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8", duration: 888.1)
        asset.state = .waiting
        asset.need = .space
        asset.download = "d1"
        return asset
    }

    private func waiting(_ need: Need) -> API.Download {
        sampleDownload.with {
            ($0.state, $0.need) = (.waiting, need)
            $0.error = .init(code: need == .space ? .diskFull : .originRefused, message: "it is refused")
        }
    }

    @Test("add sends all its options, --also too, and returns") func addQueuesAndReturns() async throws {
        let daemon = try await ScriptedDaemon(
            state: state, states: [sampleDownload.with { ($0.state, $0.title) = (.paused, "S") }])
        let result = try await run([
            "add", "https://h/m.m3u8", "-q", "720p", "--range", "10:00-20:00", "--header", "Cookie: a=b; c=d",
            "--header",
            "X: y", "--header-for", "cdn.h:8443", "X-Key: k", "--title", "S", "--description", "for the train",
            "--priority", "important", "--anyway", "--paused",
            "--also", "-q 360p --audio ja", "--also", "--subs all",
        ])
        #expect(result.exit == .code(0), "\(result.errors)")
        #expect(
            result.output
                == "S  14:48  720p avc1 2.1 Mb/s + audio en + subs en   about 240 MB   paused\n")
        #expect(result.errors == "follow with:  weir get sintel\n")
        var request = API.DownloadRequest(source: "https://h/m.m3u8", Selection(quality: .height(720)))
        request.order.range = MediaRange(start: 600, end: 1200)
        request.headers = [
            API.Header("Cookie: a=b; c=d"), API.Header("X: y"), API.Header("X-Key: k", host: "cdn.h:8443"),
        ].compactMap(\.self)
        request.title = "S"
        request.order.note = "for the train"
        request.order.priority = .important
        request.order.ignoreSpace = true
        request.order.paused = true
        request.order.additional = [
            .init(quality: .height(360), audio: .languages(["ja"])), .init(subtitles: .all),
        ]
        #expect(await daemon.requests == [request])
        let object = try await run(["add", "sintel", "--record", "--json"]).output
        #expect(try API.decode(API.Download.self, from: Array(object.utf8)).id == "d1")
        #expect(await daemon.requests.last?.order.record == true)
        _ = try await run(["add", "sintel", "--range", "-20:00"])
        #expect(await daemon.requests.last?.order.range == MediaRange(start: 0, end: 1200))
        await daemon.stop()
    }

    @Test(arguments: ["get", "add", "url", "play"])
    func fieldsComeFromAFile(command: String) async throws {
        let daemon = try await ScriptedDaemon(state: state, states: [sampleDownload.with { $0.state = .complete }])
        let file = try folder.write(Data("Authorization: hush\r\n\r\nX: y\n".utf8), to: "fields")
        let proxy = try folder.write(Data("http://me:hush@h:1\n".utf8), to: "proxy")
        let fields = [API.Header("Authorization: hush"), API.Header("X: y"), API.Header("Z: z")].compactMap(\.self)
        _ = try await run(
            [
                command, "https://h/m.m3u8", "--header", "@\(file)", "--header", "Z: z", "--proxy", "@\(proxy)",
            ] + (command == "play" ? ["--player", "true"] : []))
        let given =
            await daemon.requests.map { ($0.headers, $0.route) } + daemon.openings.map { ($0.headers, $0.route) }
        #expect(given.map(\.0) == [fields] && given.map(\.1?.proxy) == ["http://me:hush@h:1"])
        await daemon.stop()
    }

    @Test(arguments: [
        (["--range", "20:00-10:00"], "a range is 10:00-20:00, 10:00- or -20:00"), (["--range", "soon"], "10:00-20:00"),
        (["--header-for", "Secret: hush"], "--header-for needs a host and 'Name: value'"),
        (["--header-for", "h Secret hush"], "the second argument of --header-for must be 'Name: value'"),
        (["--header", "Secret hush"], "--header must be 'Name: value'"),
        (["--header", "Secret: hush\u{1}"], "--header must be 'Name: value'"),
        (["--header", "@/none"], "--header @/none: the file cannot be read"),
        (["--header", "@/dev/null"], "--header @/dev/null: the file is empty"),
        (["--header", "@/dev/zero"], "--header @/dev/zero: the file is over 64 KB"),
        (["--proxy", "@/none"], "--proxy @/none: the file cannot be read"),
        (["--record", "--range", "1-2"], "a recording has no range"), (["--priority", "huge"], "important"),
        (["--also", "-q huge"], "--also '-q huge'"), (["--also", "--fast -q best"], "give only one of the two"),
    ])
    func whatCannotBeIsAUsageError(options: [String], sentence: String) async throws {
        for command in ["get", "add"] {
            let result = try await run([command, "https://h/x"] + options)
            #expect(result.exit == .code(64))
            #expect(result.errors.contains(sentence), "\(result.errors)")
            #expect(!result.errors.contains("hush"))
        }
    }

    @Test(arguments: [("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")])
    func aDownloadIsAddressedByItsAssetsName(command: String, word: String) async throws {
        let daemon = try await ScriptedDaemon(state: state, assets: [asset], states: [waiting(.space)])
        let result = try await run([command, "sintel"])
        #expect(result.exit == .code(0) && result.output == "sintel  \(word)\n", "\(result)")
        #expect(try await run([command, "--all"]).output == "sintel  \(word)\n")
        #expect(await daemon.changes == ["\(command) d1", "\(command) d1"])
        let mixed = try await run([command, "none", "sintel"])
        #expect(mixed.exit == .code(66) && mixed.output == "sintel  \(word)\n")
        #expect(mixed.errors == "weir: there is no asset named none\ntry: weir list\n")
        for arguments in [[], ["sintel", "--all"]] {
            #expect(try await run([command] + arguments).exit == .code(64))
        }
        await daemon.stop()
    }

    @Test func allSelectsTheAffectedDownloads() async throws {
        let states: [API.Download] = [
            JobState.queued, .running, .paused, .waiting, .failed, .complete, .cancelled,
        ].map { state in
            sampleDownload.with { ($0.id, $0.asset, $0.state) = (state.rawValue, state.rawValue, state) }
        }
        let daemon = try await ScriptedDaemon(state: state, states: states)
        for command in ["pause", "resume", "cancel"] {
            _ = try await run([command, "--all"])
        }
        #expect(
            await daemon.changes == [
                "pause queued", "pause running", "pause waiting", "resume paused", "resume waiting", "resume failed",
                "cancel queued", "cancel running", "cancel paused", "cancel waiting", "cancel failed",
            ])
        await daemon.stop()
    }

    @Test func resumeAcceptsANewURLForOneDownload() async throws {
        let daemon = try await ScriptedDaemon(state: state, assets: [asset], states: [sampleDownload])
        #expect(try await run(["resume", "sintel", "--url", "https://h/new"]).exit == .code(0))
        #expect(await daemon.changes == ["resume d1 https://h/new"])
        #expect(try await run(["resume", "--all", "--url", "https://h/new"]).exit == .code(64))
        await daemon.stop()
    }

    @Test(arguments: [(Need.space, Int32(74), "free space"), (.key, 77, "--url NEW")])
    func getExitsIfTheUserMustAct(need: Need, exit: Int32, next: String) async throws {
        let daemon = try await ScriptedDaemon(state: state, states: [sampleDownload, waiting(need)])
        let result = try await run(["get", "https://h/m.m3u8"])
        #expect(result.exit == .code(exit))
        #expect(result.errors.contains("weir: sintel is waiting for "), "\(result.errors)")
        #expect(result.errors.contains("continues by itself") && result.errors.contains(next))
        let json = try await run(["get", "https://h/m.m3u8", "--json"]).output.split(separator: "\n")
        #expect(json.filter { $0.contains(#""t":"result""#) }.count == 1)
        #expect(json.last?.contains(#""state":"waiting","need":"\#(need.rawValue)""#) ?? false, "\(json)")
        #expect(json.last?.hasSuffix(#""exit":\#(exit)}"#) ?? false)
        await daemon.stop()
    }

    @Test func getFollowsEventsWithoutPolling() async throws {
        let daemon = try await ScriptedDaemon(state: state, states: [sampleDownload], snapshot: [sampleDownload])
        let get = try begin(["get", "https://h/m.m3u8", "--json"])
        try await waitUntil("a listener") { await daemon.events?.readerCount == 1 }
        let more = sampleDownload.with { $0.bytes += 1 }
        let other = more.with { ($0.id, $0.asset, $0.state) = ("d2", "other", .complete) }
        await daemon.events?.publish(.download(.progress, more))
        await daemon.events?.publish(.download(.complete, other))
        await daemon.events?.publish(.renditionComplete(.init(id: "d1", asset: "sintel", rendition: "audio-en")))
        await daemon.events?.publish(.download(.state, more.with { $0.state = .complete }))
        #expect(try await get.end() == .code(0), "\(get.standardError)")
        #expect(await daemon.questions == 1)
        let lines = get.standardOutput.split(separator: "\n")
        #expect(lines.count == 4 && lines.last?.contains(#""state":"complete""#) ?? false, "\(lines)")
        await daemon.stop()
    }

    @Test func getPollsIfTheEventsEnd() async throws {
        let done = sampleDownload.with { $0.state = .complete }
        let daemon = try await ScriptedDaemon(
            state: state, states: [sampleDownload, sampleDownload, done], snapshot: [sampleDownload])
        let get = try begin(["get", "https://h/m.m3u8"])
        try await waitUntil("a listener") { await daemon.events?.readerCount == 1 }
        await daemon.events?.end()
        #expect(try await get.end() == .code(0), "\(get.standardError)")
        #expect(await daemon.questions == 3)
        await daemon.stop()
    }

    @Test(arguments: [false, true]) func eventsAreLines(json: Bool) async throws {
        let daemon = try await ScriptedDaemon(state: state, snapshot: [sampleDownload])
        let events = try begin(["events"] + (json ? ["--json"] : []))
        try await waitUntil("a listener") { await daemon.events?.readerCount == 1 }
        await daemon.events?.publish(.renditionComplete(.init(id: "d1", asset: "sintel", rendition: "audio-en")))
        await daemon.events?.publish(.download(.state, waiting(.space)))
        await daemon.events?.publish(.removed(.init(id: "d1", asset: "sintel")))
        try await waitUntil("four lines") { events.standardOutput.split(separator: "\n").count == 4 }
        events.send(SIGINT)
        #expect(try await events.end() == .code(130))
        #expect(events.standardError.isEmpty)
        let lines = events.standardOutput.split(separator: "\n")
        if json {
            #expect(lines[0].hasPrefix(#"{"v":1,"t":"snapshot","downloads":[{"asset":"sintel""#))
            #expect(lines[3] == #"{"v":1,"t":"removed","id":"d1","asset":"sintel"}"#)
        } else {
            #expect(lines[0] == "sintel  downloading  63%  9:19/14:48  151 MB  5.1 MB/s  0:17 left")
            #expect(lines[1] == "sintel  audio-en is saved")
            #expect(lines[2] == "sintel  63%  9:19/14:48  151 MB  waiting for space: it is refused")
            #expect(lines[3] == "sintel  removed")
        }
        await daemon.stop()
    }

    @Test func eventsEndWithTheDaemon() async throws {
        let daemon = try await ScriptedDaemon(state: state, snapshot: [])
        let events = try begin(["events"])
        try await waitUntil("a listener") { await daemon.events?.readerCount == 1 }
        await daemon.stop()
        #expect(try await events.end() == .code(75))
        #expect(events.standardError == "weir: the daemon has ended\ntry: weir serve\n")
    }

    @Test func listAndShowNameTheReasonOfWaiting() async throws {
        let download = waiting(.space).with {
            ($0.note, $0.priority) = ("for the train", .important)
            $0.expected = [.init(start: 600, end: 1204)]
            var part = API.Download.Part(id: "video-720p", kind: .video)
            part.loaded = [.init(start: 600, end: 840)]
            part.expected = $0.expected
            part.bytes = 1_048_576
            part.totalBytes = 4_194_304
            part.fraction = 0.25
            $0.parts = [part]
        }
        let daemon = try await ScriptedDaemon(state: state, assets: [asset], states: [download])
        #expect(try await run(["list"]).output.contains("  waiting for space, not stored\n"))
        #expect(
            try await run(["show", "sintel"]).output == """
                sintel  14:48  not stored
                https://h/m.m3u8
                for the train

                download: waiting for space  important  only 10:00-20:04  it is refused
                TRACK       DONE  TIME           SIZE
                video-720p  25%   4:00 of 10:04  1.0 MB of about 4.0 MB

                """)
        await daemon.stop()
    }
}
