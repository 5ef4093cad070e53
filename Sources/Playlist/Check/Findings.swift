/// What a check has found so far.
struct Findings {
    private var found: [PlaylistDiagnostic] = []
    private var counts: [CheckRule: Int] = [:]
    /// How many findings of one rule are told one by one: a playlist of 10,000 segments may break one 10,000 times.
    private static let most = 8

    /// Takes a finding; `line` is counted from 1, and `clause` names another than that of the rule.
    mutating func add(_ rule: CheckRule, line: Int? = nil, clause: String? = nil, _ message: String) {
        counts[rule, default: 0] += 1
        if counts[rule, default: 0] > Self.most { return }
        found.append(
            PlaylistDiagnostic(
                severity: rule.severity, code: rule.rawValue, line: line, clause: clause ?? rule.clause,
                message: message))
    }

    /// Takes the fault that ended the reading.
    mutating func add(_ error: PlaylistError) { found.append(PlaylistDiagnostic(error)) }

    /// All findings in the order of the text, those of the whole first.
    var all: [PlaylistDiagnostic] {
        let more = counts.filter { $0.value > Self.most }.sorted { $0.key.rawValue < $1.key.rawValue }
        let rest = more.map { rule, count in
            PlaylistDiagnostic(
                severity: rule.severity, code: rule.rawValue, line: nil, clause: rule.clause,
                message: "\(count - Self.most) more of the kind \(rule.rawValue)")
        }
        let ordered = found.enumerated().sorted { first, second in
            let lines = (first.element.line ?? 0, second.element.line ?? 0)
            return lines.0 == lines.1 ? first.offset < second.offset : lines.0 < lines.1
        }
        return ordered.map(\.element) + rest
    }
}
