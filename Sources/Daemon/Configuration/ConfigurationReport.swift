internal import Foundation
internal import Glibc
internal import HTTPMessage
internal import Orders
internal import Subprocess
internal import WeirAPI

/// The settings with the source of each, for `weir config`.
package struct ConfigurationReport: Sendable {
    package struct Entry: Equatable, Sendable {
        package let name: String
        /// The value as the file would have it.
        package let value: String
        /// `default`, an option, a variable, or the file and its line.
        package let source: String
    }

    /// The path of the file, which need not exist.
    package let path: String
    package var fileExists: Bool { access(path, F_OK) == 0 }
    /// The keys in their order in `conf/weir.toml`, then the entries of the tables.
    package let entries: [Entry]
    /// The number of streams in the streams file.
    package let streams: Int

    /// Loads the configuration and the streams file. `file` is the value of `--config`.
    package init(
        options: [Configuration.Key: [String]], file: String?, environment: [String: String]
    ) throws(ConfigurationError) {
        let environment = environment.filter { !$0.value.isEmpty }
        let configuration = try Configuration.load(options: options, file: file, environment: environment)
        streams = try configuration.streams().count
        let path = Self.path(file: file, environment: environment)
        self.path = path
        let text = try Configuration.text(of: path, named: file ?? environment["WEIR_CONFIG"])
        let contents = try text.map { text throws(ConfigurationError) in try ConfigurationFile(text, path: path) }
        let source = { (line: Int?) in ConfigurationError.address(path, line: line) }
        var lines: [Configuration.Key: String] = [:]
        for entry in contents?.entries ?? [] {
            lines[entry.key] = source(entry.line)
        }

        var entries: [Entry] = []
        for key in Configuration.Key.allCases {
            // The strongest source counts.
            var winner = lines[key] ?? "default"
            if environment[key.variable] != nil {
                winner = key.variable
            }
            if let values = options[key], !values.isEmpty {
                winner = "option"
            }
            entries.append(Entry(name: key.rawValue, value: configuration.text(of: key), source: winner))
        }
        for entry in contents?.selection ?? [] {
            let name = "selection.\(entry.key.rawValue)"
            entries.append(Entry(name: name, value: entry.setting.description, source: source(entry.line)))
        }
        for handler in configuration.handlers {
            entries.append(Entry(name: "handlers.\(handler.name)", value: handler.words, source: source(nil)))
        }
        self.entries = entries
    }

    /// The file that is read: that of `--config`, of WEIR_CONFIG, or the standard one.
    package static func path(file: String?, environment: [String: String]) -> String {
        if let named = file ?? environment.value(ofVariable: "WEIR_CONFIG") {
            return named
        }
        return Configuration.standardFile(environment: environment)
    }
}

extension HandlerRule {
    fileprivate var name: String {
        switch scope {
        case .scheme(let name): name
        case .pattern(let pattern): "\"\(pattern)\""
        }
    }

    fileprivate var words: String {
        switch target {
        case .program(let words): Setting.list(words).description
        case .server(let url): Setting.text(url.text).description
        }
    }
}

/// Opens the configuration file in the user's editor.
package enum ConfigurationEditor {
    /// Writes the manual of all keys as a new file, with every setting commented out, if there is no file yet.
    package static func prepare(_ path: String) throws(ConfigurationError) {
        guard access(path, F_OK) != 0 else { return }
        do {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(ConfigurationManual.template.utf8).write(
                to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        } catch {
            throw ConfigurationError(
                source: .file(path, line: nil), message: "cannot be created: \(error.localizedDescription)",
                next: "name another file with --config FILE")
        }
    }

    /// Runs the editor in this terminal, and returns at its end: VISUAL, EDITOR, or the first that is installed.
    package static func run(on path: String, environment: [String: String]) throws(ConfigurationError) {
        let wanted = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty }
        var candidates = ["editor", "nano", "vi"]
        if let wanted {
            candidates = [wanted]
        }
        for candidate in candidates {
            // An editor may be given with arguments, such as "code --wait".
            let words = candidate.split(separator: " ").map(String.init)
            guard !words.isEmpty else { continue }
            let streams: (SpawnedProcess.Stream, SpawnedProcess.Stream, SpawnedProcess.Stream) = (
                .descriptor(STDIN_FILENO), .descriptor(STDOUT_FILENO), .descriptor(STDERR_FILENO)
            )
            guard let process = try? SpawnedProcess(words + [path], streams: streams) else { continue }
            if process.wait() == .code(0) {
                return
            }
            throw ConfigurationError(
                source: .variable(words[0]), message: "the editor has failed", next: "correct \(path) yourself")
        }
        throw ConfigurationError(
            source: .variable("EDITOR"),
            message: "names no editor that is installed (\(candidates.joined(separator: ", ")))",
            next: "set EDITOR, or open \(path) yourself")
    }
}
