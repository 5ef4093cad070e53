/// One finding of a check: something wrong or unusual in a playlist.
public struct PlaylistDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// Severity of the finding.
    public enum Severity: String, Comparable, CaseIterable, Sendable {
        /// Information; nothing is wrong.
        case note
        /// A violation that most players accept, or a feature that some players lack.
        case warning
        /// Players fail, or play something unintended.
        case error

        /// Orders by severity, the least severe first.
        public static func < (first: Severity, second: Severity) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// Severity of the finding.
    public let severity: Severity
    /// Kind of finding: a raw value of `PlaylistError.Code` or of a check's rule. Stable, for programs.
    public let code: String
    /// Line number, from 1; nil if the finding concerns the whole playlist.
    public let line: Int?
    /// The clause that is violated or relevant, such as `RFC 8216 §4.3.3.1` or `rfc8216bis §4.4.4.9`.
    public let clause: String
    /// Description without a full stop, fit to follow "line 3: ". Contains no secrets, as `PlaylistError.excerpt`.
    public let message: String

    /// Creates a finding. `message` must not contain secrets.
    public init(severity: Severity, code: String, line: Int? = nil, clause: String, message: String) {
        self.severity = severity
        self.code = code
        self.line = line
        self.clause = clause
        self.message = message
    }

    /// One line: line number, severity, message, clause and code.
    public var description: String {
        var position = ""
        if let line {
            position = "line \(line): "
        }
        return "\(position)\(severity): \(message) (\(clause)) [\(code)]"
    }
}

extension PlaylistDiagnostic {
    /// `text` is the text that has the error; nil if it could not be split into lines.
    init(_ error: PlaylistError, in text: PlaylistText?, severity: Severity = .error) {
        var message = error.reason
        if !error.excerpt.isEmpty {
            message += " (\(error.excerpt))"
        }
        self.init(
            severity: severity, code: error.code.rawValue, line: error.line, clause: Self.clause(of: error, text),
            message: message)
    }

    private static func clause(of error: PlaylistError, _ text: PlaylistText?) -> String {
        guard let text else { return error.code.clause }
        // The text begins with #EXTM3U.
        if error.code == .notAPlaylist {
            return "RFC 8216 §4.1"
        }
        guard case .tag(let tag)? = error.line.flatMap(text.kind) else { return error.code.clause }
        switch error.code {
        case .badValue, .missingAttribute, .duplicateTag: return tag.clause
        case .missingVariable where tag == .define: return tag.clause
        default: return error.code.clause
        }
    }
}

extension PlaylistError.Code {
    var clause: String {
        switch self {
        case .notAPlaylist: "RFC 8216 §4.3.1.1"
        case .notUTF8, .controlCharacter, .mixedTags, .truncated, .missingURI, .unannouncedURI,
            .interruptedSegment:
            "RFC 8216 §4.1"
        case .malformedAttributes, .missingAttribute, .badValue: "RFC 8216 §4.2"
        case .missingEnd: "RFC 8216 §4.3.3.4"
        case .missingOffset: "RFC 8216 §4.3.2.2"
        case .duplicateTag: "RFC 8216 §4.3"
        case .missingVariable: "rfc8216bis §4.3"
        case .badAssetList: "rfc8216bis appendix D.3"
        case .overLimit, .unsafeName: "RFC 8216 §10"
        }
    }
}

struct Findings {
    private var found: [PlaylistDiagnostic] = []
    private var counts: [CheckRule: Int] = [:]
    /// Rules whose violations are mended.
    private static let rulesOfMends = Set(
        [
            CheckRule.repeatedTag, .wrongKind, .attributeType, .attributeMissing, .noComma, .fractionalTargetDuration,
            .badBitRate, .endless, .noTargetDuration,
        ])
    /// Lines and names of attributes that are not of their type: rules on their content say no more about them.
    private var mistyped: Set<MistypedAttribute> = []
    private struct MistypedAttribute: Hashable {
        let line: Int
        let name: String
    }
    /// The lines of their violations, beyond `maximumPerRule` too.
    private var linesOfMends: Set<Int?> = []
    private var mendCounts: [PlaylistError.Code: Int] = [:]
    /// Maximum number of findings per rule: a playlist of 10,000 segments may violate one 10,000 times.
    private static let maximumPerRule = 8

    /// Adds a finding. `line` counts from 1; `severity` and `clause` replace those of the rule.
    mutating func add(
        _ rule: CheckRule, severity: PlaylistDiagnostic.Severity? = nil, line: Int? = nil, clause: String? = nil,
        _ message: String
    ) {
        counts[rule, default: 0] += 1
        if Self.rulesOfMends.contains(rule) {
            linesOfMends.insert(line)
        }
        if counts[rule, default: 0] > Self.maximumPerRule {
            return
        }
        let severity = severity ?? rule.severity
        let clause = clause ?? rule.clause
        found.append(
            PlaylistDiagnostic(severity: severity, code: rule.rawValue, line: line, clause: clause, message: message))
    }

    /// Adds an attribute that is not of its type.
    mutating func add(mistyped name: String, line: Int, clause: String, _ type: AttributeType) {
        mistyped.insert(MistypedAttribute(line: line, name: name))
        add(.attributeType, line: line, clause: clause, "\(name) is not \(type.description)")
    }

    /// True if none of the attributes of a line is reported as not of its type.
    func areTyped(_ names: [String], line: Int) -> Bool {
        mistyped.isDisjoint(with: names.map { MistypedAttribute(line: line, name: $0) })
    }

    mutating func add(_ error: PlaylistError, in text: PlaylistText?) {
        found.append(PlaylistDiagnostic(error, in: text))
    }

    /// Adds a defect that Weir mends, and that no rule has reported for its line. Players differ in what they make of it.
    /// Parsers must refuse a variable without a value (rfc8216bis §4.3, §4.4.2.3), and hls.js does.
    private mutating func add(mended error: PlaylistError, in text: PlaylistText, _ sources: VariableSources) {
        if linesOfMends.contains(error.line) {
            return
        }
        mendCounts[error.code, default: 0] += 1
        if mendCounts[error.code, default: 0] > Self.maximumPerRule {
            return
        }
        var severity = PlaylistDiagnostic.Severity.warning
        if error.code == .missingVariable {
            severity = .error
        }
        if severity == .error, let line = error.line, Self.isConditional(text, line: line - 1, sources: sources) {
            severity = sources.hasURL ? .warning : .note
        }
        found.append(PlaylistDiagnostic(error, in: text, severity: severity))
    }

    /// Adds the defects of a text. Those of a value that lacks its variables have their cause among them.
    ///
    /// - Parameter sources: the sources that the text was read with; the text is sound if only they were missing.
    mutating func add(mends: [PlaylistError], in text: PlaylistText, _ sources: VariableSources) {
        let lacksVariables = mends.contains { $0.code == .missingVariable }
        if !lacksVariables, !mends.contains(where: { $0.line.map { text.kind($0) } == .tag(.define) }) {
            checkVariables(text)
        }
        for mend in mends {
            if lacksVariables, mend.code == .badValue, let line = mend.line, line <= text.lines.count,
                VariableTable.refers(text.bytes, text.lines[line - 1].content)
            {
                continue
            }
            add(mended: mend, in: text, sources)
        }
    }

    private mutating func checkVariables(_ text: PlaylistText) {
        guard text.firstLine(.define) != nil else { return }
        let first = text.lines.indices.first { line in
            switch text.lines[line].kind {
            case .uri: VariableTable.refers(text.bytes, text.lines[line].content)
            case .tag(let tag):
                tag.hasAttributes && tag != .define && VariableTable.refers(text.bytes, text.lines[line].content)
            case .blank, .comment: false
            }
        }
        guard let first else { return }
        add(
            .variables, line: first + 1,
            "libavformat (ffmpeg, mpv), VLC and GStreamer do not replace the variable")
    }

    /// True for an EXT-X-DEFINE whose value another text or the URL may have.
    private static func isConditional(_ text: PlaylistText, line: Int, sources: VariableSources) -> Bool {
        guard text.kind(line + 1) == .tag(.define) else { return false }
        let attributes = text.attributes(line)
        return attributes["IMPORT"] != nil && sources.imports == nil
            || attributes["QUERYPARAM"] != nil && !sources.hasURL
    }

    /// All findings in text order, starting with those without a line.
    var all: [PlaylistDiagnostic] {
        let more = counts.filter { $0.value > Self.maximumPerRule }.sorted { $0.key.rawValue < $1.key.rawValue }
        let rest = more.map { rule, count in
            PlaylistDiagnostic(
                severity: rule.severity, code: rule.rawValue, line: nil, clause: rule.clause,
                message: "\(count - Self.maximumPerRule) more findings of \(rule.rawValue)")
        }
        let ordered = found.enumerated().sorted { first, second in
            let firstLine = first.element.line ?? 0
            let secondLine = second.element.line ?? 0
            return (firstLine, first.offset) < (secondLine, second.offset)
        }
        return ordered.map(\.element) + rest
    }
}
