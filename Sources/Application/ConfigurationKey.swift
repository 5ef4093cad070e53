/// The keys of the configuration. A key is an option as `--key`, and an environment variable as `WEIR_KEY`.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    case listen
    case lan
    case store
    case state
    case offline
    case local
    case proxy
    case allowHosts = "allow-hosts"
    case caFile = "ca-file"
    case caFolder = "ca-folder"
    case http2
    case maxParallel = "max-parallel"
    case maxDownloads = "max-downloads"
    case downloadHours = "download-hours"
    case metered
    case onBattery = "on-battery"
    case onlyIdle = "only-idle"
    case limitRate = "limit-rate"
    case webhook
    case webhookEvents = "webhook-events"
    case reserve
    case playCache = "play-cache"
    case verifyRate = "verify-rate"
    case purge
    case keysExpire = "keys-expire"
    case keysAfterFirstPlay = "keys-after-first-play"
    case backup
    case bundleMode = "bundle-mode"
    case bundleKeysMode = "bundle-keys-mode"
    case users
    case otherUsers = "other-users"
    case hostNames = "host-names"
    case allowedOrigins = "allowed-origins"
    case userAgent = "user-agent"
    case logDays = "log-days"
    case logLevel = "log-level"
    case streams
    case onComplete = "on-complete"
    case onFail = "on-fail"
    case onExpire = "on-expire"
    case start
    case idleExit = "idle-exit"
    case player

    /// The name of the environment variable, for example `WEIR_MAX_PARALLEL`.
    package var variable: String { "WEIR_" + String(rawValue.uppercased().map { $0 == "-" ? "_" : $0 }) }

    /// The key that a user may have meant; nil if none is similar enough.
    static func nearest(to name: String) -> ConfigurationKey? {
        let names = allCases.map(\.rawValue)
        return NearestName.of(name.lowercased().replacing("_", with: "-"), in: names).flatMap { .init(rawValue: $0) }
    }
}

/// A value before it is converted to the type of its key.
package enum Setting: Equatable, Sendable {
    /// A string of the file, or any option or variable.
    case text(String)
    case list([String])
    case number(Int)
    case truth(Bool)
    /// Any other TOML value, with the name of its type.
    case other(String)
}

/// The reason why a key does not accept a value, as a sentence.
struct Refusal: Error {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}
