import Foundation
import TestSupport
import Testing

/// Rules for when downloads run, on a machine whose clock, bus and batteries the test makes.
@Suite("A rule for downloads")
struct RuleTests {
    /// The asset as `weir list --json` has it.
    private func asset(_ scene: Scene, _ name: String = "ts") async throws -> [String: Any] {
        let lines = try await scene.weir.run(["list", "--json"]).output.split(separator: "\n")
        let assets = try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        return try #require(assets.first { $0["name"] as? String == name })
    }

    private func waits(_ scene: Scene, for need: String) async throws {
        try await waitUntil("a download that waits for \(need)") {
            let asset = try await asset(scene)
            return asset["state"] as? String == "waiting" && asset["need"] as? String == need
        }
    }

    private func serve(
        _ options: [String], wrapper: [String], _ body: (Scene) async throws -> Void
    ) async throws {
        try await Scene.with(options: options, isStarted: false) { scene in
            try await scene.weir.start(wrapper: wrapper)
            try await body(scene)
        }
    }

    /// A time zone in which it is now 20 s before ten in the evening.
    private var evening: String {
        let second = Int(Date().timeIntervalSince1970) % 86_400
        let offset = ((22 * 3600 - 20 - second) % 86_400 + 86_400) % 86_400
        let (east, far) = offset > 43_200 ? (false, 86_400 - offset) : (true, offset)
        // In TZ, the sign is that of the way to Greenwich.
        return "XXX" + (east ? "-" : "+") + String(format: "%02d:%02d:%02d", far / 3600, far / 60 % 60, far % 60)
    }

    @Test("of hours holds a download, says so, and lets it go on within seconds of their begin")
    func hours() async throws {
        try await serve(["--download-hours", "22:00-23:00"], wrapper: ["env", "TZ=\(evening)"]) { scene in
            #expect(try await scene.weir.run(["add", scene.origin.master("ts"), "-q", "worst"]).exit == .code(0))
            try await waits(scene, for: "hours")
            let list = try await scene.weir.run(["list"]).output
            #expect(list.contains("waiting for its hours: downloads run at 22:00-23:00 only"), "\(list)")
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("downloads run at 22:00-23:00 only"))
            // A player is never stopped.
            try await expectFrames(scene.master("cmaf"), of: "cmaf")
            try await scene.waitForCompletion(of: "ts", within: .seconds(60))
        }
    }

    @Test("of hours is left out for one download that may run at any time")
    func ownHours() async throws {
        let hours = (0..<24).map { String(format: "%02d:00-%02d:01", $0, $0) }
        try await serve(hours.flatMap { ["--download-hours", $0] }, wrapper: ["env", "TZ=XXX-00:30"]) { scene in
            // It is half past something, or has been for half an hour, but for one minute in sixty.
            let added = try await scene.weir.run(["get", scene.origin.master("ts"), "-q", "worst", "--hours", "any"])
            #expect(added.exit == .code(0), "\(added.errors)")
            let wrong = try await scene.weir.run(["add", scene.origin.master("cmaf"), "--hours", "10-11"])
            #expect(wrong.exit == .code(64) && wrong.errors.contains("\"10-11\" is not a time of the day"), "\(wrong)")
        }
    }

    /// A system bus on a socket in a folder.
    private func bus(_ values: String, in folder: TemporaryFolder) async throws -> ChildProcess {
        try folder.write(Data(values.utf8), to: "values.json")
        let bus = try ChildProcess(
            "python3",
            [Repository.path("tools/weirtools/scenes/system_bus.py"), folder.path("bus"), folder.path("values.json")])
        _ = try await bus.line(startingWith: "listening on ")
        return bus
    }

    @Test("of sleep: the machine is kept awake by logind while something downloads, unless the user does not want that")
    func keptAwake() async throws {
        for isWanted in [true, false] {
            let folder = try TemporaryFolder()
            let bus = try await bus("{\"Inhibit\": true}", in: folder)
            let address = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(folder.path("bus"))"
            try await serve(["--keep-awake", "\(isWanted)"], wrapper: ["env", address]) { scene in
                try await scene.origin.add(OriginRule("*/3.ts") { $0.hold = true })
                #expect(try await scene.weir.run(["add", scene.origin.master("ts"), "-q", "worst"]).exit == .code(0))
                try await waitUntil("the request that waits") {
                    try await !scene.origin.requests(for: "/ts/90p/3.ts").isEmpty
                }
                if isWanted {
                    let words = try await bus.line(startingWith: "inhibited ")
                    #expect(words == "sleep:idle | Weir | Recordings and downloads are in progress | block")
                    #expect(!bus.standardOutput.contains("released"))
                }
                try await scene.origin.clearRules()
                try await scene.origin.release()
                try await scene.waitForCompletion(of: "ts", within: .seconds(15))
                if isWanted {
                    _ = try await bus.line(startingWith: "released")
                }
                #expect(bus.standardOutput.contains("inhibited") == isWanted)
            }
        }
    }

    @Test(
        "of sleep: where the user chose that, a timer of systemd wakes the machine a minute before a planned recording")
    func woken() async throws {
        for isWanted in [true, false] {
            let folder = try TemporaryFolder()
            let manager = try ChildProcess(
                "/usr/bin/python3",
                [Repository.path("tools/weirtools/scenes/user_manager.py"), folder.path("bus"), "active"])
            _ = try await manager.line(startingWith: "listening on ")
            let address = "DBUS_SESSION_BUS_ADDRESS=unix:path=\(folder.path("bus"))"
            let options = isWanted ? ["--wake-machine"] : []
            try await serve(options, wrapper: ["env", address, "TZ=UTC"]) { scene in
                let live = scene.origin.url("/_live/show/media.m3u8")
                let planned = try await scene.weir.run(["record", live, "--at", "2030-01-01 20:15", "--for", "45m"])
                #expect(planned.exit == .code(0), "\(planned)")
                if isWanted {
                    // 20:14 UTC.
                    let order = try await manager.line(startingWith: "StartTransientUnit ")
                    #expect(order.hasPrefix("\"weir-wake-1893528840.timer\" "), "\(order)")
                }
                #expect(try await scene.weir.run(["record", "show-2015", "--cancel"]).exit == .code(0))
                if isWanted {
                    let stop = try await manager.line(startingWith: "StopUnit ")
                    #expect(stop.hasPrefix("\"weir-wake-1893528840.timer\" "), "\(stop)")
                }
                #expect(manager.standardOutput.contains("StartTransientUnit") == isWanted)
            }
        }
    }

    @Test("of a metered network follows NetworkManager on the system bus")
    func metered() async throws {
        let folder = try TemporaryFolder()
        let bus = try await bus("{\"Metered\": 1}", in: folder)
        defer { withExtendedLifetime(bus) {} }
        let address = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(folder.path("bus"))"
        try await serve(["--metered", "pause"], wrapper: ["env", address]) { scene in
            #expect(try await scene.weir.run(["add", scene.origin.master("ts"), "-q", "worst"]).exit == .code(0))
            try await waits(scene, for: "metered")
            #expect(try await asset(scene)["reason"] as? String == "the network is metered")
            try folder.write(Data("{\"Metered\": 2}".utf8), to: "values.json")
            try await scene.waitForCompletion(of: "ts", within: .seconds(15))
        }
    }

    @Test("of the battery follows the kernel's files", .enabled(if: getuid() == 0))
    func battery() async throws {
        let folder = try TemporaryFolder()
        func set(_ status: String, _ percent: Int) throws {
            for (key, value) in [("type", "Battery"), ("status", status), ("capacity", "\(percent)")] {
                try folder.write(Data("\(value)\n".utf8), to: "BAT0/\(key)")
            }
        }
        try set("Discharging", 25)
        let mount = "mount --bind \(folder.path) /sys/class/power_supply && exec \"$@\""
        try await serve(["--on-battery", "30%"], wrapper: ["unshare", "-m", "sh", "-c", mount, "sh"]) { scene in
            #expect(try await scene.weir.run(["add", scene.origin.master("ts"), "-q", "worst"]).exit == .code(0))
            try await waits(scene, for: "power")
            let reason = try await asset(scene)["reason"] as? String
            #expect(reason == "the machine runs on battery, which is at 25 %, below 30 %")
            try set("Discharging", 31)
            try await scene.waitForCompletion(of: "ts", within: .seconds(15))
        }
    }

    @Test("of the rate holds downloads, and no player")
    func rate() async throws {
        try await Scene.with(options: ["--limit-rate", "40KB"]) { scene in
            let clock = ContinuousClock()
            let began = clock.now
            #expect(try await scene.weir.run(["get", scene.origin.master("ts"), "-q", "worst"]).exit == .code(0))
            let bytes = try scene.pieces().reduce(0) { sum, path in
                sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
            }
            // A quarter of a second may come at once.
            let least = Double(bytes) / 40_960 - 0.5
            #expect((clock.now - began) / .seconds(1) > least, "\(bytes) bytes")
            let other = clock.now
            try await expectFrames(scene.master("cmaf"), of: "cmaf")
            #expect((clock.now - other) / .seconds(1) < least + 2)
        }
    }

    @Test("is a reason of the user's own for a pause, until the download is resumed")
    func pauseReason() async throws {
        try await Scene.with { scene in
            #expect(
                try await scene.weir.run(["add", scene.origin.master("ts"), "-q", "worst", "--paused"]).exit == .code(0)
            )
            let paused = try await scene.weir.run(["pause", "ts", "--reason", "until tonight"])
            #expect(paused.exit == .code(0) && paused.output == "ts  paused: until tonight\n", "\(paused)")
            #expect(try await scene.weir.run(["list"]).output.contains("paused: until tonight"))
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("download: paused  until tonight"))
            try await scene.weir.restart()
            #expect(try await asset(scene)["reason"] as? String == "until tonight")
            #expect(try await scene.weir.run(["resume", "ts"]).exit == .code(0))
            try await scene.waitForCompletion(of: "ts")
            #expect(try await asset(scene)["reason"] == nil)
        }
    }

    @Test("lets the thread that serves downloads alone yield to all others")
    func priorities() async throws {
        try await Scene.with { scene in
            let process = try #require(await scene.weir.pid)
            let tasks = "/proc/\(process)/task"
            var classes: [String: Set<String>] = [:]
            for id in try FileManager.default.contentsOfDirectory(atPath: tasks) {
                guard let name = try? String(contentsOfFile: "\(tasks)/\(id)/comm", encoding: .utf8),
                    let stat = try? String(contentsOfFile: "\(tasks)/\(id)/stat", encoding: .utf8)
                else { continue }
                // proc_pid_stat(5): the name in brackets may have blanks; nice is field 19, the policy field 41.
                let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
                let scheduling = try await ProcessRunner.run("ionice", ["-p", id]).output
                let words = "nice \(fields[16]) policy \(fields[38]) \(scheduling.trimmingCharacters(in: .newlines))"
                classes[name.trimmingCharacters(in: .newlines), default: []].insert(words)
            }
            #expect(classes["sync"] == ["nice 10 policy 3 best-effort: prio 7"], "\(classes)")
            for (name, found) in classes where name != "sync" {
                // libdispatch raises threads for what a user waits for, where it may.
                #expect(
                    found.allSatisfy { $0.hasPrefix("nice 0 policy 0 ") || $0.hasPrefix("nice -") }, "\(name): \(found)"
                )
            }
        }
    }
}
