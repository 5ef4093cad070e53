package import Assets
internal import FoundationEssentials
internal import Glibc
internal import Orders
internal import Origin
internal import WeirAPI

extension Configuration {
    /// Loads the configuration: options override the environment, which overrides the file. `file` is the value of
    /// `--config`; if nil, WEIR_CONFIG or the standard file, which need not exist. Empty variables count as unset.
    package static func load(
        options: [Key: [String]], file: String? = nil, environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        let environment = environment.filter { !$0.value.isEmpty }
        var configuration = Configuration(environment: environment)
        try configuration.read(file: file, environment: environment)
        for key in Key.allCases {
            guard let value = environment[key.variable] else { continue }
            try configuration.set(
                key, to: .text(value), from: .environment, at: .variable(key.variable), environment)
        }
        for key in Key.allCases {
            guard let values = options[key], let first = values.first else { continue }
            var setting = Setting.list(values)
            if values.count == 1 {
                setting = .text(first)
            }
            try configuration.set(key, to: setting, from: .option, at: .option("--\(key.optionName)"), environment)
        }
        try configuration.checkHome(environment)
        if configuration.listenIsDefault, let port = OwnPort(in: StateDirectory(configuration.state)).number {
            configuration.listen = ListenAddress.all(port: port)
        }
        try configuration.setProxies(environment)
        return configuration
    }

    /// Joins the key `proxy` with the variables of the environment.
    private mutating func setProxies(_ environment: [String: String]) throws(ConfigurationError) {
        do throws(RouteRefusal) {
            proxies = try ProxyRules(proxy, environment: environment)
        } catch {
            throw ConfigurationError(
                source: .variable(error.variable ?? Key.proxy.variable), message: error.description,
                next: "correct it, or set the key proxy")
        }
    }

    /// Requires HOME unless all folders are configured: without HOME the default folders would be at `/`.
    private func checkHome(_ environment: [String: String]) throws(ConfigurationError) {
        guard !Self.hasHome(environment) else { return }
        let homeless = Configuration(environment: environment)
        for (name, path, standard, variable) in [
            ("store", store, homeless.store, "XDG_DATA_HOME"), ("state", state, homeless.state, "XDG_STATE_HOME"),
        ] where path == standard && !(environment[variable]?.hasPrefix("/") ?? false) {
            throw ConfigurationError(
                source: .variable("HOME"),
                message: "is not set to an absolute path, so the \(name) folder is unknown",
                next: "set HOME, or name the folder with --\(name) DIR")
        }
    }

    private mutating func read(file: String?, environment: [String: String]) throws(ConfigurationError) {
        let named = file ?? environment["WEIR_CONFIG"]
        let path = named ?? Self.standardFile(environment: environment)
        let option = named == nil ? nil : "--config"
        guard let text = try Self.text(of: path, named: option) else { return }
        let contents = try ConfigurationFile(text, path: path)
        handlers = contents.handlers
        for entry in contents.entries {
            try set(entry.key, to: entry.setting, from: .file, at: .file(path, line: entry.line), environment)
        }
        for entry in contents.selection {
            do throws(Refusal) {
                try setSelection(entry.key, to: entry.setting)
            } catch {
                throw ConfigurationError(
                    source: .file(path, line: entry.line), message: "\(entry.key.rawValue): \(error.sentence)",
                    next: "correct the value, or delete the line to use the default")
            }
        }
        if let contradiction = selection.contradiction {
            throw ConfigurationError(
                source: .file(path, line: nil), message: "[selection]: \(contradiction)",
                next: "delete one of the lines"
            )
        }
    }

    /// Reads a settings file; nil if the standard file does not exist. A file in an inaccessible folder may exist, so
    /// that is an error. `option` named the file; nil for the standard file.
    static func text(of path: String, named option: String?) throws(ConfigurationError) -> String? {
        if option == nil, access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR {
            return nil
        }
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            var reason = "it is not a file of UTF-8 text"
            if access(path, R_OK) != 0 {
                reason = String(cString: strerror(errno))
            }
            var next = "run weir as the owner of the file, or set HOME or XDG_CONFIG_HOME to a readable folder"
            if let option {
                next = "name a readable file with \(option), or leave the option out"
            }
            throw ConfigurationError(
                source: .file(path, line: nil), message: "cannot be read: \(reason)", next: next)
        }
    }

    private mutating func set(
        _ key: Key, to setting: Setting, from kind: Source, at source: ConfigurationError.Source,
        _ environment: [String: String]
    ) throws(ConfigurationError) {
        do {
            try set(key, to: setting, from: kind, home: Self.home(environment))
        } catch {
            // The name of a variable or an option says already which key it is.
            guard kind == .file else {
                throw ConfigurationError(source: source, message: error.sentence, next: nil)
            }
            throw ConfigurationError(
                source: source, message: "\(key.rawValue): \(error.sentence)",
                next: "correct the value, or delete the line to use the default")
        }
    }

    /// Reads the streams file; the default file need not exist.
    package func streams() throws(ConfigurationError) -> [KnownStream] { try streamFile().streams }

    /// Reads the streams file with its channel lists.
    func streamFile() throws(ConfigurationError) -> StreamFile {
        var option: String?
        if given.contains(.streams) {
            option = "--streams"
        }
        guard let text = try Self.text(of: streamsFile, named: option) else { return StreamFile() }
        return try StreamFile(text, path: streamsFile)
    }
}
