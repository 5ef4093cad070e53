/// One thing that is wrong or unusual in a playlist.
public struct PlaylistDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: String, Comparable, CaseIterable, Sendable {
        /// Worth to know; nothing is wrong.
        case note
        /// A rule is broken that most players let pass, or something stands there that some of them cannot do.
        case warning
        /// Players fail, or play something else than was meant.
        case error

        /// By how much it matters.
        public static func < (first: Severity, second: Severity) -> Bool {
            allCases.firstIndex(of: first) ?? 0 < allCases.firstIndex(of: second) ?? 0
        }
    }

    /// How much it matters.
    public let severity: Severity
    /// What kind it is: a raw value of `PlaylistError.Code` or of a rule of the check; stable, for programs.
    public let code: String
    /// The line, counted from 1; nil where the playlist as a whole is meant.
    public let line: Int?
    /// The clause that says so, such as `RFC 8216 §4.3.3.1` or `rfc8216bis §4.4.4.9`.
    public let clause: String
    /// What is wrong, without a full stop, fit to follow "line 3: "; without secrets, as `PlaylistError.excerpt`.
    public let message: String

    /// A finding of whoever fetched the playlist; `message` without secrets.
    public init(severity: Severity, code: String, line: Int? = nil, clause: String, message: String) {
        self.severity = severity
        self.code = code
        self.line = line
        self.clause = clause
        self.message = message
    }

    /// One line: place, severity, message, clause and code.
    public var description: String {
        let place = line.map { "line \($0): " } ?? ""
        return "\(place)\(severity): \(message) (\(clause)) [\(code)]"
    }
}

extension PlaylistDiagnostic {
    /// What makes a text no playlist, or a part of it unreadable.
    init(_ error: PlaylistError) {
        let quote = error.excerpt.isEmpty ? "" : " (\(error.excerpt))"
        self.init(
            severity: .error, code: error.code.rawValue, line: error.line, clause: error.code.clause,
            message: error.reason + quote)
    }
}

extension PlaylistError.Code {
    /// The clause that a text of this fault offends.
    var clause: String {
        switch self {
        case .notAPlaylist: "RFC 8216 §4.3.1.1"
        case .notUTF8, .controlCharacter, .mixedTags, .truncated: "RFC 8216 §4.1"
        case .malformedAttributes, .missingAttribute, .badValue: "RFC 8216 §4.2"
        case .missingURI, .unannouncedURI: "RFC 8216 §4.1"
        case .missingOffset: "RFC 8216 §4.3.2.2"
        case .duplicateTag: "RFC 8216 §4.3"
        case .missingVariable: "rfc8216bis §4.3"
        case .badAssetList: "rfc8216bis appendix D.3"
        case .deltaUpdate: "rfc8216bis §4.4.5.2"
        case .overLimit, .unsafeName: "RFC 8216 §10"
        }
    }
}
