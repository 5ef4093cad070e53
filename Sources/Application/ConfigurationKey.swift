/// The keys of the configuration. A key is an option as `--key`, and an environment variable as `WEIR_KEY`.
public enum ConfigurationKey: String, CaseIterable, Sendable {
    /// `Configuration.listen`.
    case listen
    /// `Configuration.lan`.
    case lan
    /// `Configuration.store`.
    case store
    /// `Configuration.state`.
    case state
    /// `Configuration.offline`.
    case offline
    /// `Configuration.local`.
    case local
    /// `Configuration.maxParallel`.
    case maxParallel = "max-parallel"
    /// `Configuration.maxDownloads`.
    case maxDownloads = "max-downloads"
    /// `Configuration.reserve`.
    case reserve
    /// `Configuration.playCache`.
    case playCache = "play-cache"
    /// `Configuration.verifyRate`.
    case verifyRate = "verify-rate"
    /// `Configuration.purge`.
    case purge
    /// `Configuration.keyTerms`.
    case keysExpire = "keys-expire"
    /// `Configuration.keyTerms`.
    case keysAfterFirstPlay = "keys-after-first-play"
    /// `Configuration.isExcludedFromBackups`.
    case backup
    /// `Configuration.hostNames`.
    case hostNames = "host-names"
    /// `Configuration.allowedOrigins`.
    case allowedOrigins = "allowed-origins"
    /// `Configuration.logDays`.
    case logDays = "log-days"
    /// `Configuration.logLevel`.
    case logLevel = "log-level"
    /// `Configuration.catalogue`.
    case catalogue
    /// `Configuration.player`.
    case player

    /// The name of the environment variable, for example `WEIR_MAX_PARALLEL`.
    public var variable: String {
        "WEIR_" + String(rawValue.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// Finds the key with the smallest edit distance to a name; nil if no key is similar enough.
    static func nearest(to name: String) -> ConfigurationKey? {
        let name = name.lowercased().replacing("_", with: "-")
        let ranked = allCases.map { (key: $0, edits: editDistance(name, $0.rawValue)) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= max(2, name.count / 3) else {
            return nil
        }
        return best.key
    }
}

/// A value before it is converted to the type of its key.
public enum Setting: Equatable, Sendable {
    /// A string of the file, or any option or variable.
    case text(String)
    /// An array of strings.
    case list([String])
    /// An integer of the file.
    case number(Int)
    /// A boolean of the file.
    case truth(Bool)
    /// Any other TOML value, with the name of its type.
    case other(String)
}

/// The reason why a key does not accept a value, as a sentence.
struct Refusal: Error {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}

/// The Levenshtein distance: insertions, deletions and substitutions of characters.
private func editDistance(_ first: String, _ second: String) -> Int {
    let columns = Array(second)
    var row = Array(0...columns.count)
    for (line, character) in first.enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for index in columns.indices {
            let substituted = diagonal + (character == columns[index] ? 0 : 1)
            diagonal = row[index + 1]
            row[index + 1] = min(substituted, row[index] + 1, diagonal + 1)
        }
    }
    return row[columns.count]
}
