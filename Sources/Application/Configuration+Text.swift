internal import Control
internal import Downloader
internal import HTTPMessage
internal import Library
internal import Logging
internal import Origin
internal import Retention
internal import Store

extension Configuration {
    /// The value of a key, as the file has it.
    package func text(of key: ConfigurationKey) -> String {
        switch key {
        case .listen: Self.list(listen.map(\.description))
        case .lan: Self.quoted(lan?.description ?? "")
        case .store: Self.quoted(store)
        case .state: Self.quoted(state)
        case .offline: "\(offline)"
        case .local: "\(local)"
        case .proxy: Self.quoted(proxy?.description ?? "")
        case .allowHosts: Self.list(allowedHosts.map(\.description))
        case .caFile: Self.quoted(authorities.file ?? "")
        case .caFolder: Self.quoted(authorities.folder ?? "")
        case .http2: "\(usesHTTP2)"
        case .maxParallel: "\(maxParallel)"
        case .maxDownloads: "\(maxDownloads)"
        case .downloadHours: Self.list(rules.hours.map(\.description))
        case .metered: Self.quoted(rules.pausesOnMetered ? "pause" : "allow")
        case .onBattery: Self.quoted(rules.battery.description)
        case .onlyIdle: "\(rules.onlyIdle)"
        case .limitRate: Self.quoted(limitRate.map(ByteSize.text) ?? "unlimited")
        case .webhook: Self.quoted(webhook?.url.redacted ?? "")
        case .webhookEvents: Self.list(webhookEvents.map(\.rawValue).sorted())
        case .reserve: reserve.map { "\($0)" } ?? Self.quoted("auto")
        case .playCache: Self.quoted(playCache.map(ByteSize.text) ?? "unlimited")
        case .verifyRate: "\(verifyRate)"
        case .purge: Self.quoted(purge.rawValue)
        case .keysExpire: Self.quoted(TimeSpan.text(keyTerms.lifetime))
        case .keysAfterFirstPlay: Self.quoted(TimeSpan.text(keyTerms.afterFirstPlay))
        case .backup: Self.quoted(isExcludedFromBackups ? "exclude" : "include")
        case .bundleMode: Self.quoted("0" + String(bundleMode.files, radix: 8))
        case .bundleKeysMode: Self.quoted("0" + String(bundleMode.keys, radix: 8))
        case .users: Self.list(users.sorted().map { "\($0)" })
        case .otherUsers: Self.quoted(otherUsers.rawValue)
        case .hostNames: Self.list(hostNames)
        case .allowedOrigins: Self.list(allowedOrigins)
        case .userAgent: Self.quoted(userAgent)
        case .logDays: "\(logDays)"
        case .logLevel: Self.quoted(logLevel.rawValue)
        case .streams: Self.quoted(streamsFile)
        case .onComplete: Self.list(notices.complete)
        case .onFail: Self.list(notices.failed)
        case .onExpire: Self.list(notices.expired)
        case .start: "\(startsDaemon)"
        case .idleExit: Self.quoted(TimeSpan.text(idleExit))
        case .player: Self.quoted(player)
        }
    }

    private static func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension NetworkAddress: CustomStringConvertible {
    package var description: String {
        guard let port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ByteSize {
    /// A size in the largest unit that divides it: `10GB`.
    static func text(_ bytes: Int64) -> String {
        let units: [(name: String, shift: Int64)] = [("TB", 40), ("GB", 30), ("MB", 20), ("KB", 10)]
        let unit = units.first { bytes > 0 && bytes % (1 << $0.shift) == 0 }
        return unit.map { "\(bytes >> $0.shift)\($0.name)" } ?? (bytes == 0 ? "0" : "\(bytes)B")
    }
}
