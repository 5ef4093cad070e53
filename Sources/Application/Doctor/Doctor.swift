/// Looks at all that Weir needs of a machine and of its user's settings. Changes nothing, and needs no daemon.
public struct Doctor: Sendable {
    /// Result of the checks.
    public struct Report: Sendable {
        /// In the order in which they are best read.
        public let findings: [Finding]

        /// 0 where nothing is at fault, 78 where a setting is, 1 for the rest.
        public var exitCode: Int32 {
            let faults = findings.filter { $0.grade == .fault }
            if faults.isEmpty { return 0 }
            return faults.contains { $0.subject == Doctor.settings } ? 78 : 1
        }
    }

    static let settings = "configuration"

    let configuration: Configuration
    let environment: [String: String]
    /// The error in the settings; the defaults are then used.
    private let refusal: ConfigurationError?
    private let file: String

    /// Takes settings as `Configuration.load` does; where these cannot be used, the defaults are looked at.
    public init(options: [ConfigurationKey: [String]], file: String? = nil, environment: [String: String]) {
        self.environment = environment
        self.file = file ?? environment["WEIR_CONFIG"] ?? Configuration.standardFile(environment: environment)
        do {
            configuration = try Configuration.load(options: options, file: file, environment: environment)
            refusal = nil
        } catch {
            configuration = Configuration(environment: environment)
            refusal = error
        }
    }

    /// Looks at everything; takes as long as a name server and a daemon take, and no daemon longer than two minutes.
    public func report() async -> Report {
        // Without a home, the folders that would be looked at are nobody's.
        guard refusal?.place != .variable("HOME") else { return Report(findings: [settingsFinding]) }
        let daemon = await daemonFindings()
        let disk = diskFindings() + clockFindings()
        let machine = programFindings() + libraryFindings() + [descriptorFinding] + proxyFindings()
        return Report(
            findings: [settingsFinding] + daemon + folderFindings() + [tokenFinding] + disk + [localhostFinding]
                + machine + unitFindings())
    }

    private var settingsFinding: Finding {
        if let refusal {
            let rest = refusal.place == .variable("HOME") ? "" : "; the rest is about the defaults"
            return .fault(
                Self.settings, "\(refusal)\(rest)",
                next: refusal.next ?? "correct it, or leave it out for the default")
        }
        return isThere(file)
            ? .ok(Self.settings, "\(file) can be used") : .ok(Self.settings, "there is no \(file): the defaults hold")
    }
}
