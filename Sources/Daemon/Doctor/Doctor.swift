/// Checks the machine and the user's settings for everything that Weir needs. Changes nothing and needs no daemon.
package struct Doctor: Sendable {
    package struct Report: Sendable {
        /// The findings in reading order.
        package let findings: [Finding]

        /// The exit code: 0 without a fault, 78 for a fault in the settings, 1 for any other fault.
        package var exitCode: Int32 {
            let faults = findings.filter { $0.grade == .fault }
            if faults.isEmpty {
                return 0
            }
            return faults.contains { $0.subject == Doctor.settings } ? 78 : 1
        }
    }

    static let settings = "configuration"

    let configuration: Configuration
    let environment: [String: String]
    /// The error in the settings; the defaults are then used.
    private let refusal: ConfigurationError?
    let file: String

    /// Takes the same settings as `Configuration.load`. If they are invalid, the defaults are checked.
    package init(options: [Configuration.Key: [String]], file: String? = nil, environment: [String: String]) {
        self.environment = environment
        if let named = file ?? environment["WEIR_CONFIG"] {
            self.file = named
        } else {
            self.file = Configuration.standardFile(environment: environment)
        }
        do {
            configuration = try Configuration.load(options: options, file: file, environment: environment)
            refusal = nil
        } catch {
            configuration = Configuration(environment: environment)
            refusal = error
        }
    }

    /// Runs all checks. Waits for a name server, and at most two minutes for a daemon.
    package func report() async -> Report {
        // Without HOME the default folders are unknown, so only the settings are reported.
        guard refusal?.source != .variable("HOME") else { return Report(findings: [settingsFinding]) }
        let daemon = await daemonFindings()
        let disk = diskFindings() + clockFindings()
        let downloads = ruleFindings() + (await webhookFindings())
        let machine =
            programFindings() + libraryFindings() + [descriptorFinding] + proxyFindings()
            + handlerFindings() + authorityFindings() + nameServerFindings()
        return Report(
            findings: [settingsFinding] + daemon + [usersFinding] + folderFindings() + [tokenFinding] + disk + [
                localhostFinding
            ]
                + machine + downloads + unitFindings())
    }

    private var settingsFinding: Finding {
        if let refusal {
            var sentence = "\(refusal)"
            if refusal.source != .variable("HOME") {
                sentence += "; the other checks use the defaults"
            }
            return .fault(
                Self.settings, sentence, next: refusal.next ?? "correct it, or leave it out to use the default")
        }
        guard exists(file) else { return .ok(Self.settings, "there is no \(file): the defaults apply") }
        return .ok(Self.settings, "\(file) is valid")
    }
}

/// The result of one check.
package struct Finding: Codable, Equatable, Sendable {
    package enum Grade: String, Codable, Sendable {
        case ok
        /// Weir runs, but something does not work or could work better.
        case warning
        /// Weir does not run, or does not store what it should.
        case fault
    }

    /// The subject of the check in one or two words; not unique.
    package let subject: String
    package let grade: Grade
    /// The finding and its consequence; a sentence without a capital or a full stop.
    package let message: String
    /// Next step; an optional improvement if nothing is wrong.
    package let next: String?

    static func ok(_ subject: String, _ message: String, next: String? = nil) -> Finding {
        Finding(subject: subject, grade: .ok, message: message, next: next)
    }

    static func warning(_ subject: String, _ message: String, next: String) -> Finding {
        Finding(subject: subject, grade: .warning, message: message, next: next)
    }

    static func fault(_ subject: String, _ message: String, next: String) -> Finding {
        Finding(subject: subject, grade: .fault, message: message, next: next)
    }
}
