import Foundation
import TestSupport
import Testing

/// The parts of other rooms that the command line may use: the control API, and a few named exceptions that need no
/// daemon. The compiler already forbids imports of rooms below the API (target dependencies in Package.swift); this
/// suite checks the rest.
@Suite struct CommandRuleTests {
    private let files: [String: String]

    init() throws {
        let folder = Repository.path("Sources/weir")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        files = Dictionary(
            uniqueKeysWithValues: try names.map { name in
                let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                return (String(name.split(separator: "/").last ?? ""), text)
            }
        )
        try #require(files.count > 40)
    }

    /// The files that contain a text outside comments.
    private func files(with text: String) -> Set<String> {
        let found = files.filter { file in
            file.value.split(separator: "\n").contains { line in
                line.contains(text) && !line.drop { $0 == " " }.hasPrefix("//")
            }
        }
        return Set(found.keys)
    }

    private func imports(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.firstIndex(of: "import").map { String(words[$0 + 1]) }
        }
    }

    @Test func noCommandReachesARoomBelowTheAPI() throws {
        // SafeText and Orders are pure: what a command prints passes the one, and what it orders has the words of the other.
        // CExecutor runs the program's tasks.
        let others = ["ArgumentParser", "CExecutor", "Foundation", "Glibc", "Orders", "SafeText", "Synchronization"]
        for (name, text) in files {
            let rooms = Set(imports(text)).subtracting(others)
            #expect(rooms.isSubset(of: ["WeirAPI", "AccessLog", "Daemon"]), "\(name)")
        }
        let logs: Set = [
            "DaemonStatus.swift", "LogCommand.swift", "LogTable.swift", "LogText.swift", "WatchText.swift",
            "ReportCommand.swift",
        ]
        #expect(files(with: "import AccessLog").subtracting(logs).isEmpty)
        let package = try String(contentsOfFile: Repository.path("Package.swift"), encoding: .utf8)
        #expect(
            package.contains(
                #"dependencies: ["WeirAPI", "AccessLog", "Daemon", "CExecutor", "Orders", "SafeText", argumentParser]"#
            ))
    }

    /// `Task.sleep` and queues have monitored threads, which wake an idle daemon: see `weir_use_own_executor`.
    @Test func theDaemonPausesOnItsLoop() throws {
        let folder = Repository.path("Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            name.hasSuffix(".swift") && !name.hasPrefix("weir/") && !name.hasPrefix("WeirAPI/")
        }
        try #require(names.count > 400)
        let found = try names.filter { name in
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            return text.contains("Task.sleep(") || text.contains("import Dispatch")
        }
        #expect(Set(found) == ["Daemon/Process/DaemonStarter.swift", "Daemon/Process/DaemonStopper.swift"])
    }

    @Test(arguments: [
        ("Application.run(", ["ServeCommand.swift"]), ("weir_use_own_executor(", ["Weir.swift"]),
        ("StoreMoving", ["MoveCommand.swift"]),
        ("Doctor(", ["DoctorCommand.swift"]), ("CheckResult.of", ["CheckCommand.swift"]),
        // Only a daemon claims a state directory; a command reads it.
        (".claim(", []), ("configuration.store", ["DaemonStatus.swift", "CommonOptions.swift"]),
    ])
    func daemonlessFeaturesStayInTheirCommands(text: String, allowed: [String]) {
        let found = files(with: text)
        #expect(found.subtracting(allowed).isEmpty)
        #expect(allowed.isEmpty || !found.isEmpty, "nothing uses \(text) any more: the rule holds nothing")
    }
}
