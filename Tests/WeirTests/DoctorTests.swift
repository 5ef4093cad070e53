import Daemon
import Foundation
import Glibc
import TestSupport
import Testing

/// Runs `weir doctor` on machines with faults.
@Suite struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var state: String { folder.path("state") }
    private var store: String { folder.path("store") }

    private struct Report {
        let exit: ChildProcess.Exit
        let findings: [Finding]

        func of(_ subject: String) -> [Finding] { findings.filter { $0.subject == subject } }
        func grades(_ subject: String) -> [Finding.Grade] { of(subject).map(\.grade) }
        func says(_ subject: String, _ grade: Finding.Grade, _ words: String) -> Bool {
            of(subject).contains { $0.grade == grade && $0.message.contains(words) && (grade == .ok || $0.next != nil) }
        }
    }

    /// Examines a healthy machine with the changes in the arguments.
    private func examine(
        _ options: [String] = ["--listen", "127.0.0.1:0"], _ more: [String: String] = [:], wrapper: [String] = []
    ) async throws -> Report {
        var environment = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "WEIR_STATE": state, "WEIR_STORE": store,
            "WEIR_LISTEN": "", "WEIR_CONFIG": "", "WEIR_PLAYER": "", "WEIR_RESERVE": "1", "no_proxy": "",
            "NO_PROXY": "",
        ]
        for name in ["http_proxy", "all_proxy"] {
            environment[name] = ""
            environment[name.uppercased()] = ""
        }
        let line = wrapper + [Repository.builtProgram("weir"), "doctor", "--json"] + options
        let result = try await ProcessRunner.run(
            line[0], Array(line.dropFirst()), environment: environment.merging(more) { $1 })
        let lines = result.output.split(separator: "\n").map { Data($0.utf8) }
        let last = try #require(lines.last, "\(result.errors)")
        let end = try #require(JSONSerialization.jsonObject(with: last) as? [String: Any])
        #expect(end["t"] as? String == "result")
        if case .code(let code) = result.exit {
            #expect(end["exit"] as? Int == Int(code))
        }
        let findings = try lines.dropLast().map { try JSONDecoder().decode(Finding.self, from: $0) }
        #expect(end["faults"] as? Int == findings.count { $0.grade == .fault })
        return Report(exit: result.exit, findings: findings)
    }

    @Test func aFreshMachineHasNoFaults() async throws {
        let report = try await examine()
        #expect(report.exit == .code(0), "\(report.findings.filter { $0.grade == .fault })")
        #expect(report.says("daemon", .warning, "no daemon runs with the state folder \(state)"))
        #expect(report.says("store folder", .ok, "will be created"))
        #expect(report.says("token", .ok, "will be created"))
        #expect(report.says("users", .ok, "others of this machine may do nothing"))
        for subject in ["configuration", "lan", "localhost", "clock", "libcurl", "libevent", "proxies", "units"] {
            #expect(report.grades(subject) == [.ok], "\(report.of(subject))")
        }
        #expect(report.of("libcurl").first?.message.contains(/^\d+\.\d+\.\d+ \(.+\)$/) == true)
        #expect(report.of("libevent").first?.message.hasPrefix("2.") == true)
        // The command creates no file.
        #expect(folder.files().isEmpty && !FileManager.default.fileExists(atPath: state))
    }

    @Test func aRunningDaemonHasNoFaults() async throws {
        let weir = try await WeirProcess()
        let report = try await examine(
            ["--listen", "127.0.0.1:\(await weir.port)"], ["WEIR_STATE": weir.state, "WEIR_STORE": weir.store])
        #expect(report.exit == .code(0))
        #expect(report.says("daemon", .ok, "it answers at \(await weir.address), in mode auto"))
        #expect(report.of("loop").first?.message.contains("99 of 100 requests waited at most") == true)
        for subject in ["store folder", "state folder", "token"] {
            #expect(report.says(subject, .ok, "only you can read"))
        }
        let text = try await weir.run(["doctor", "--listen", "127.0.0.1:0"])
        #expect(text.output.contains("\nok       token"))
        // A second state directory finds the port in use; a wrong token is reported.
        let other = try await examine(["--listen", "127.0.0.1:\(await weir.port)"])
        #expect(other.says("address", .warning, "another Weir"))
        try Data((String(repeating: "A", count: 43) + "\n").utf8).write(to: URL(fileURLWithPath: weir.state + "/token"))
        let forged = try await examine(["--listen", "127.0.0.1:0"], ["WEIR_STATE": weir.state])
        #expect(forged.exit == .code(1) && forged.says("daemon", .fault, "token"))
        try await weir.kill()
        let dead = try await examine(["--listen", "127.0.0.1:0"], ["WEIR_STATE": weir.state])
        #expect(
            dead.says("daemon", .warning, "it was listening on \(await weir.address), but no daemon answers"))
    }

    @Test func aBadSettingExitsWith78AndNamesItsLine() async throws {
        let file = try folder.write(Data("max-parallel = 2\nstoer = \"/x\"\n".utf8), to: "weir.toml")
        let report = try await examine(["--config", file])
        #expect(report.exit == .code(78))
        #expect(report.says("configuration", .fault, "\(file):2: there is no key \"stoer\""))
        let odd = try await examine(["--listen", "0.0.0.0:8216"])
        #expect(odd.exit == .code(78) && odd.says("configuration", .fault, "--listen: "))
    }

    @Test func everyCommandReportsAMissingHome() async throws {
        let sentence = "HOME: is not set to an absolute path, so the store folder is unknown"
        let homeless = ["HOME": "", "WEIR_STATE": "", "WEIR_STORE": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""]
        let report = try await examine([], homeless)
        #expect(report.exit == .code(78) && report.says("configuration", .fault, sentence))
        #expect(report.findings.count == 1)
        for command in ["list", "serve"] {
            let result = try await ProcessRunner.run(
                Repository.builtProgram("weir"), [command],
                environment: homeless.merging(["XDG_CONFIG_HOME": folder.path]) { $1 })
            #expect(result.exit == .code(78), "\(result.errors)")
            #expect(result.errors == "weir: \(sentence)\ntry: set HOME, or name the folder with --store DIR\n")
        }
        #expect(try await examine(["--listen", "127.0.0.1:0"], ["HOME": ""]).exit == .code(0))
    }

    @Test func everyCommandReportsAnUnreadableHome() async throws {
        let home = folder.path("home")
        try folder.write(Data("offline = true\n".utf8), to: "home/.config/weir/weir.toml")
        guard chmod(home, 0) == 0 else { throw SystemCallError("chmod") }
        defer { chmod(home, 0o700) }
        // Root passes every permission check unless these capabilities are dropped.
        let bound = geteuid() == 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
        let file = "\(home)/.config/weir/weir.toml"
        let environment = [
            "HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "WEIR_STATE": "",
            "WEIR_STORE": "", "WEIR_CONFIG": "",
        ]
        func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProcessResult {
            let line = bound + [Repository.builtProgram("weir")] + arguments
            return try await ProcessRunner.run(
                line[0], Array(line.dropFirst()), environment: environment.merging(more) { $1 })
        }
        // An unreadable configuration file is an error, since it may hold settings that the user needs.
        for command in ["list", "serve", "doctor"] {
            let result = try await run([command])
            #expect(result.exit == .code(78))
            let words = result.errors + result.output
            #expect(words.contains("\(file): cannot be read: Permission denied"), "\(command): \(words)")
            #expect(words.contains("set HOME or XDG_CONFIG_HOME to a readable folder"), "\(command): \(words)")
        }
        // The default state directory is inside the closed home as well.
        let elsewhere = ["XDG_CONFIG_HOME": "/nonexistent"]
        let list = try await run(["list"], elsewhere)
        #expect(list.exit == .code(77), "\(list)")
        #expect(list.errors.contains("the state directory \(home)/.local/state/weir"), "\(list.errors)")
        #expect(list.errors.contains("Permission denied"), "\(list.errors)")
        let serve = try await run(["serve", "--listen", "127.0.0.1:0"], elsewhere)
        #expect(serve.exit == .code(73))
        #expect(
            serve.errors.contains("the state directory \(home)/.local/state/weir cannot be created: Permission denied"),
            "\(serve.errors)")
        #expect(serve.errors.contains("--state DIR"), "\(serve.errors)")
    }

    @Test func aReadOnlyHomeIsReported() async throws {
        // A read-only home, as a service manager gives to a dynamic user.
        let script = "mount -t tmpfs -o ro none \(folder.path) && exec \"$0\" \"$@\""
        let program = Repository.builtProgram("weir")
        let result = try await ProcessRunner.run(
            "unshare", ["--map-root-user", "--mount", "sh", "-c", script, program, "serve", "--listen", "127.0.0.1:0"],
            environment: [
                "HOME": folder.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
                "WEIR_STATE": "", "WEIR_STORE": "",
            ])
        #expect(result.exit == .code(73))
        #expect(
            result.errors.contains(
                "the state directory \(folder.path)/.local/state/weir cannot be created: Read-only file system"),
            "\(result.errors)")
    }

    @Test func aNetworkAddressMustBelongToThisMachineAndBeFree() async throws {
        let any = ["--listen", "127.0.0.1:0"]
        let own = try await examine(any + ["--lan", "127.0.0.2"])
        #expect(own.exit == .code(0) && own.says("lan", .warning, "127.0.0.2 is a loopback address"))
        #expect(own.says("lan", .ok, "Weir can listen on 127.0.0.2"))
        let foreign = try await examine(any + ["--lan", "198.51.100.7"])
        #expect(
            foreign.exit == .code(1) && foreign.says("lan", .fault, "198.51.100.7 is not an address of this machine"))
        let absent = try await examine(any + ["--lan", "nope0"])
        #expect(absent.exit == .code(1) && absent.says("lan", .fault, "nope0 means no address now"))
        let all = try await examine(any + ["--lan", "0.0.0.0"])
        #expect(all.exit == .code(78) && all.says("configuration", .fault, "--lan: 0.0.0.0 is not one address"))

        let weir = try await WeirProcess(options: ["--lan", "127.0.0.2"])
        let port = await weir.port
        let taken = try await examine(any + ["--lan", "127.0.0.2:\(port)"])
        #expect(taken.exit == .code(1) && taken.says("lan", .fault, "another program uses 127.0.0.2:\(port)"))
        let state = ["WEIR_STATE": weir.state, "WEIR_STORE": weir.store]
        for options in [[], ["--lan", "127.0.0.2"], ["--lan", "127.0.0.2:\(port)"]] {
            let report = try await examine(any + options, state)
            #expect(
                report.exit == .code(0) && report.says("lan", .ok, "other machines are admitted at 127.0.0.2:\(port)"))
            #expect(report.of("lan").last?.next == "weir url NAME --lan --qr")
        }
        let other = try await examine(any + ["--lan", "127.0.0.3"], state)
        #expect(other.says("lan", .warning, "admits other machines at 127.0.0.2:\(port), not at 127.0.0.3:\(port)"))
        try await weir.terminate()
        let closed = try await WeirProcess()
        let report = try await examine(
            any + ["--lan", "127.0.0.2"], ["WEIR_STATE": closed.state, "WEIR_STORE": closed.store])
        #expect(report.exit == .code(0) && report.says("lan", .warning, "admits no other machine"))
        try await closed.terminate()
    }

    @Test func aPublicAddressIsAWarningAndAPrivateOneIsNot() async throws {
        let script = """
            ip link set lo up; ip addr add 8.8.8.8/32 dev lo; ip addr add 192.168.7.5/32 dev lo; exec "$0" "$@"
            """
        let apart = ["unshare", "--map-root-user", "--net", "sh", "-ec", script]
        let any = ["--listen", "127.0.0.1:0"]
        let open = try await examine(any + ["--lan", "8.8.8.8:8216"], wrapper: apart)
        #expect(open.exit == .code(0) && open.says("lan", .warning, "8.8.8.8 is a public address"))
        #expect(open.of("lan").first?.next?.hasSuffix("weir serve --lan 192.168.7.5") == true)
        let home = try await examine(any + ["--lan", "192.168.7.5:8216"], wrapper: apart)
        #expect(home.grades("lan") == [.ok] && home.says("lan", .ok, "192.168.7.5:8216 is free"))
        let gone = try await examine(any + ["--lan", "192.168.7.6"], wrapper: apart)
        #expect(gone.says("lan", .fault, "not an address of this machine: it has 8.8.8.8, 192.168.7.5"))
    }

    @Test func aPortOfAnotherProgramIsAFault() async throws {
        let origin = try await TestOrigin()
        let report = try await examine(["--listen", "127.0.0.1:\(origin.port)"])
        #expect(report.exit == .code(1))
        #expect(report.says("address", .fault, "another program uses 127.0.0.1:\(origin.port)"))
        #expect(report.of("address").first?.next?.contains("ss -ltnp 'sport = :\(origin.port)'") == true)
    }

    @Test func unusableFoldersAreReported() async throws {
        let file = try folder.write(Data(), to: "file")
        for (path, grade, words) in [
            (file, Finding.Grade.fault, "is not a folder"), (file + "/below", .fault, "Not a directory"),
        ] {
            let report = try await examine(["--listen", "127.0.0.1:0", "--store", path])
            #expect(report.exit == .code(1) && report.says("store folder", grade, words), "\(report.findings)")
        }
        guard mkdir(store, 0o755) == 0, chmod(store, 0o755) == 0 else { throw SystemCallError("mkdir") }
        let open = try await examine()
        #expect(open.exit == .code(0) && open.says("store folder", .warning, "(mode 755)"))
        #expect(open.of("store folder").first?.next == "chmod 700 \(store)")
        guard chown(store, 12345, 12345) == 0 else { return }  // Only root can change the owner.
        #expect(try await examine().says("store folder", .fault, "belongs to another user (12345)"))
    }

    @Test func theTokenMustBePrivate() async throws {
        let token = String(repeating: "A", count: 43) + "\n"
        let path = try folder.write(Data(token.utf8), to: "state/token")
        guard chmod(path, 0o644) == 0 else { throw SystemCallError("chmod") }
        #expect(try await examine().says("token", .fault, "other users may have read"))
        guard chmod(path, 0o600) == 0 else { throw SystemCallError("chmod") }
        #expect(try await examine().says("token", .ok, "only you can read"))
        // The day after tomorrow.
        let later = Date(timeIntervalSinceNow: 200_000)
        try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: path)
        #expect(try await examine().says("clock", .warning, "\(path) is from a later day"))
        try Data("short\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await examine().says("token", .fault, "holds no token"))
    }

    @Test func diskLimitsAreReported() async throws {
        let full = try await examine(["--listen", "127.0.0.1:0"], ["WEIR_RESERVE": "100000000"])
        #expect(full.exit == .code(1) && full.says("disk", .fault, "nothing can be stored"))
        let memory = try TemporaryFolder(inMemory: true)
        guard memory.path.hasPrefix("/dev/shm/") else { return }
        let report = try await examine(["--listen", "127.0.0.1:0", "--store", memory.path("store")])
        #expect(report.says("file system", .warning, "is on memory"))
    }

    @Test func backupMarkAndSettingMustAgree() async throws {
        try folder.write(Data(), to: "store/assets/x")
        let wished = ["WEIR_BACKUP": "exclude"]
        #expect(
            try await examine(["--listen", "127.0.0.1:0"], wished).says("backups", .warning, "has no CACHEDIR.TAG"))
        #expect(try await examine().grades("backups") == [.ok])
        try folder.write(Data(), to: "store/assets/CACHEDIR.TAG")
        #expect(try await examine(["--listen", "127.0.0.1:0"], wished).grades("backups") == [.ok])
        #expect(try await examine().says("backups", .warning, "has a CACHEDIR.TAG"))
    }

    @Test func missingProgramsAreReported() async throws {
        let empty = try await examine(["--listen", "127.0.0.1:0"], ["PATH": folder.path])
        #expect(empty.exit == .code(0))
        #expect(
            empty.says("ffmpeg", .warning, "no export")
                && empty.says("player", .warning, "not installed: mpv, vlc, ffplay"))
        let wished = try await examine(["--listen", "127.0.0.1:0"], ["WEIR_PLAYER": "no-such-player"])
        #expect(wished.exit == .code(1) && wished.says("player", .fault, "no-such-player"))
    }

    @Test func fewDescriptorsAndAProxyAreReported() async throws {
        let few = try await examine(wrapper: ["sh", "-c", "ulimit -n 200; exec \"$0\" \"$@\""])
        #expect(few.exit == .code(0) && few.says("descriptors", .warning, "a process may have 200"))
        let proxy = ["http_proxy": "http://127.0.0.1:3128"]
        #expect(try await examine(["--listen", "127.0.0.1:0"], proxy).says("proxies", .warning, "http_proxy is set"))
        let report = try await examine(["--listen", "127.0.0.1:0"], proxy)
        #expect(report.says("proxies", .ok, "a daemon that systemd starts as a service does not have it"))
        let secret = try await examine(["--listen", "127.0.0.1:0"], ["WEIR_PROXY": "http://anna:secret@h:1"])
        #expect(secret.says("proxies", .ok, "http://h:1 with credentials, by the key proxy"))
        let spared = proxy.merging(["no_proxy": "example.com, localhost"]) { $1 }
        #expect(try await examine(["--listen", "127.0.0.1:0"], spared).grades("proxies") == [.ok])
    }

    @Test func aLocalhostWithAnotherAddressIsAFault() async throws {
        let hosts = try folder.write(Data("192.0.2.1 localhost\n".utf8), to: "hosts")
        let script = "mount --bind \(hosts) /etc/hosts && exec \"$0\" \"$@\""
        let report = try await examine(wrapper: ["unshare", "--map-root-user", "--mount", "sh", "-c", script])
        #expect(report.exit == .code(1) && report.says("localhost", .fault, "192.0.2.1"), "\(report.of("localhost"))")
    }

    @Test func faultyUnitsAreFaults() async throws {
        try folder.write(
            Data("[Service]\nExecStart=/nowhere/weir serve\n".utf8), to: "config/systemd/user/weir.service")
        try folder.write(
            Data("[Socket]\nListenStream=0.0.0.0:8216\n".utf8), to: "config/systemd/user/weir.socket")
        let report = try await examine()
        #expect(report.exit == .code(1))
        #expect(report.says("units", .fault, "starts /nowhere/weir, which does not exist"))
        #expect(report.says("units", .fault, "other machines could reach 0.0.0.0:8216"))
        for name in ["weir.service", "weir.socket"] {
            let unit = try String(contentsOfFile: Repository.path("conf/systemd/user/\(name)"), encoding: .utf8)
                .replacingOccurrences(of: "/usr/bin/weir", with: Repository.builtProgram("weir"))
            try folder.write(Data(unit.utf8), to: "config/systemd/user/\(name)")
        }
        let good = try await examine()
        #expect(good.exit == .code(0) && good.grades("units") == [.ok, .ok])
        #expect(good.of("units").allSatisfy { $0.next == nil })
    }
}
