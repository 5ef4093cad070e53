import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The systemd units")
struct SystemdUnitTests {
    private static let units = ["user/weir.service", "user/weir.socket", "system/weir.service", "system/weir.socket"]

    private static func text(_ unit: String) throws -> String {
        try String(contentsOfFile: Repository.path("conf/systemd/" + unit), encoding: .utf8)
    }

    /// The values of a key, in order.
    private static func values(_ key: String, _ unit: String) throws -> [String] {
        try text(unit).split(separator: "\n").filter { $0.hasPrefix(key + "=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    @Test("are accepted by systemd", arguments: ["user", "system"])
    func passVerification(manager: String) async throws {
        let folder = try TemporaryFolder()
        for name in ["weir.service", "weir.socket"] {
            let unit = try Self.text("\(manager)/\(name)")
                .replacingOccurrences(of: "/usr/bin/weir", with: Repository.builtProgram("weir"))
            try folder.write(Data(unit.utf8), to: name)
        }
        let result = try await ProcessRunner.run(
            "systemd-analyze",
            ["verify", "--man=no", "--\(manager)", folder.path("weir.service"), folder.path("weir.socket")],
            environment: ["XDG_RUNTIME_DIR": folder.path])
        // systemd-analyze also reports other units of the machine.
        let complaints = result.errors.split(separator: "\n").filter { $0.contains("weir") }
        #expect(result.exit == .code(0) && complaints.isEmpty, "\(result.errors)")
    }

    @Test("use the program's notification protocol, and its default address")
    func matchProtocols() throws {
        for manager in ["user", "system"] {
            #expect(try Self.values("Type", "\(manager)/weir.service") == ["notify"])
            #expect(try Self.values("ExecStart", "\(manager)/weir.service") == ["/usr/bin/weir serve"])
            #expect(try Self.values("ListenStream", "\(manager)/weir.socket") == ["127.0.0.1:8216", "[::1]:8216"])
        }
    }

    @Test("limit descriptors, memory and tasks", arguments: ["user", "system"])
    func limitResources(manager: String) throws {
        for key in ["LimitNOFILE", "MemoryMax", "TasksMax"] {
            #expect(try Self.values(key, "\(manager)/weir.service").count == 1, "\(key)")
        }
    }

    @Test("have a low exposure score")
    func limitExposure() async throws {
        let unit = Repository.path("conf/systemd/system/weir.service")
        let result = try await ProcessRunner.run(
            "systemd-analyze", ["security", "--offline=true", "--no-pager", "--threshold=15", unit])
        #expect(result.exit == .code(0), "\(result.output)\(result.errors)")
    }

    @Test("allow every system call of playing, downloading and exporting", arguments: ["user", "system"])
    func allowSystemCalls(manager: String) async throws {
        let admitted = try await Self.admitted("\(manager)/weir.service")
        try await Scene.with(isStarted: false) { scene in
            let folder = try TemporaryFolder()
            let log = folder.path("calls")
            // With -D the program itself is the child and receives the signals.
            try await scene.weir.start(wrapper: ["strace", "-D", "-f", "-c", "-o", log])
            _ = try await FrameHashes.of(scene.master("ts"))
            #expect(try await scene.get("cmaf").exit == .code(0))
            let film = try await scene.weir.run(["export", "cmaf", folder.path("cmaf.mp4")], within: .seconds(120))
            #expect(film.exit == .code(0), "\(film.errors)")
            #expect(try await scene.weir.terminate() == .code(0))
            var called: [String] = []
            try await waitUntil("the calls") {
                let lines = ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
                // The table stands between two rules. A line of another process may stand before it.
                let rows = lines.drop { !$0.hasPrefix("------") }.dropFirst().prefix { !$0.hasPrefix("------") }
                called = rows.compactMap { $0.split(separator: " ").last.map(String.init) }
                return lines.last?.hasSuffix(" total") ?? false
            }
            #expect(called.contains("sendfile") && called.contains("epoll_wait"))
            // As root, SQLite changes the owner of its files to the folder's; the unit does not run as root.
            let asRoot: Set = geteuid() == 0 ? ["fchown"] : []
            #expect(called.filter { !admitted.contains($0) && !asRoot.contains($0) } == [])
        }
    }

    /// The system calls that a unit's filter allows. A refused call fails with EPERM.
    private static func admitted(_ unit: String) async throws -> Set<String> {
        let all = try await ProcessRunner.run("systemd-analyze", ["syscall-filter", "--no-pager"])
        var sets: [String: [String]] = [:]
        var current = ""
        for line in all.output.split(separator: "\n") {
            if line.hasPrefix("@") {
                current = String(line)
            } else if line.hasPrefix("    "), !line.contains("#") {
                sets[current, default: []].append(line.trimmingCharacters(in: .whitespaces))
            }
        }
        func expanded(_ name: String) -> Set<String> {
            name.hasPrefix("@") ? Set((sets[name] ?? []).flatMap(expanded)) : [name]
        }
        var admitted: Set<String> = []
        for line in try values("SystemCallFilter", unit) {
            let isRefused = line.hasPrefix("~")
            for name in line.drop(while: { $0 == "~" }).split(separator: " ") {
                if isRefused {
                    admitted.subtract(expanded(String(name)))
                } else {
                    admitted.formUnion(expanded(String(name)))
                }
            }
        }
        #expect(admitted.contains("read"))
        return admitted
    }
}
