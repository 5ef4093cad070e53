internal import Assets
internal import Control
internal import Downloads
internal import HTTPMessage
internal import Logging
internal import Orders
internal import Origin
internal import Retention
internal import Store

/// The two directions of a key's type: from a setting to a value, and from a value to the text that the file has.
struct SettingForm<Value> {
    let read: (SettingReader) throws(Refusal) -> Value
    let text: (Value) -> String
}

extension SettingForm where Value == Bool {
    static var truth: Self {
        Self(read: { reader throws(Refusal) in try reader.truth() }, text: { "\($0)" })
    }

    /// One of two words.
    static func choice(false no: String, true yes: String) -> Self {
        Self(
            read: { reader throws(Refusal) in try reader.choice(false: no, true: yes) },
            text: { isYes in
                guard isYes else { return quoted(no) }
                return quoted(yes)
            })
    }
}

extension SettingForm where Value == Int {
    static func number(in range: ClosedRange<Int>) -> Self {
        Self(read: { reader throws(Refusal) in try reader.number(in: range) }, text: { "\($0)" })
    }
}

extension SettingForm where Value == Int? {
    static var reserve: Self {
        Self(
            read: { reader throws(Refusal) in try reader.reserve() },
            text: { megabytes in
                guard let megabytes else { return quoted("auto") }
                return "\(megabytes)"
            })
    }
}

extension SettingForm where Value == Int64? {
    static var size: Self {
        Self(
            read: { reader throws(Refusal) in try reader.limit() },
            text: { quoted($0.map(ByteSize.text) ?? "unlimited") })
    }

    /// Bytes per second.
    static var rate: Self {
        Self(
            read: { reader throws(Refusal) in try reader.rate() },
            text: { quoted($0.map(ByteSize.text) ?? "unlimited") })
    }

    static var timeshift: Self {
        Self(
            read: { reader throws(Refusal) in try reader.timeshift() },
            text: { seconds in
                guard let seconds else { return quoted("off") }
                return quoted(TimeSpan.text(seconds))
            })
    }

    static var duration: Self {
        Self(read: { reader throws(Refusal) in try reader.span() }, text: { quoted(TimeSpan.text($0)) })
    }
}

extension SettingForm where Value == UInt32 {
    static var permissions: Self {
        Self(
            read: { reader throws(Refusal) in try reader.mode() },
            text: { quoted("0" + String($0, radix: 8)) })
    }
}

extension SettingForm where Value == String {
    static var folder: Self { Self(read: { reader throws(Refusal) in try reader.folder() }, text: quoted) }

    static var file: Self { Self(read: { reader throws(Refusal) in try reader.folder("a file") }, text: quoted) }

    static var agent: Self { Self(read: { reader throws(Refusal) in try reader.agent() }, text: quoted) }

    static var program: Self {
        Self(read: { reader throws(Refusal) in try reader.text("a program's name or path") }, text: quoted)
    }
}

/// Empty for none.
extension SettingForm where Value == String? {
    static var readableFile: Self {
        Self(read: { reader throws(Refusal) in try reader.readable("a file") }, text: { quoted($0 ?? "") })
    }

    static var readableFolder: Self {
        Self(read: { reader throws(Refusal) in try reader.readable("a folder") }, text: { quoted($0 ?? "") })
    }
}

extension SettingForm where Value == [String] {
    static var texts: Self { Self(read: { reader throws(Refusal) in try reader.list() }, text: list) }

    static var command: Self { Self(read: { reader throws(Refusal) in try reader.command() }, text: list) }

    static var origins: Self { Self(read: { reader throws(Refusal) in try reader.origins() }, text: list) }
}

extension SettingForm where Value == [ListenAddress] {
    static var addresses: Self {
        Self(read: { reader throws(Refusal) in try reader.addresses() }, text: { list($0.map(\.description)) })
    }
}

extension SettingForm where Value == NetworkAddress? {
    static var network: Self {
        Self(read: { reader throws(Refusal) in try reader.network() }, text: { quoted($0?.description ?? "") })
    }
}

extension SettingForm where Value == ProxyChoice? {
    static var proxy: Self {
        Self(read: { reader throws(Refusal) in try reader.proxy() }, text: { quoted($0?.description ?? "") })
    }
}

extension SettingForm where Value == [AllowedHost] {
    static var hosts: Self {
        Self(read: { reader throws(Refusal) in try reader.hosts() }, text: { list($0.map(\.description)) })
    }
}

extension SettingForm where Value == [DayHours] {
    static var hours: Self {
        Self(read: { reader throws(Refusal) in try reader.hours() }, text: { list($0.map(\.description)) })
    }
}

extension SettingForm where Value == DownloadRules.Metered {
    static var metered: Self {
        Self(
            read: { reader throws(Refusal) in
                let pauses = try reader.choice(false: Value.allow.rawValue, true: Value.pause.rawValue)
                return pauses ? .pause : .allow
            },
            text: { quoted($0.rawValue) })
    }
}

extension SettingForm where Value == DownloadRules.Battery {
    static var battery: Self {
        Self(read: { reader throws(Refusal) in try reader.battery() }, text: { quoted($0.description) })
    }
}

extension SettingForm where Value == WebhookReceiver? {
    static var webhook: Self {
        Self(read: { reader throws(Refusal) in try reader.webhook() }, text: { quoted($0?.url.redacted ?? "") })
    }
}

extension SettingForm where Value == Set<WebhookEvent> {
    static var webhookEvents: Self {
        Self(
            read: { reader throws(Refusal) in try reader.webhookEvents() },
            text: { events in list(WebhookEvent.allCases.filter(events.contains).map(\.rawValue)) })
    }
}

extension SettingForm where Value == PurgePlan.Limit {
    static var purge: Self {
        Self(read: { reader throws(Refusal) in try reader.purge() }, text: { quoted($0.rawValue) })
    }
}

extension SettingForm where Value == Set<UInt32> {
    static var users: Self {
        Self(
            read: { reader throws(Refusal) in try reader.users() },
            text: { users in list(users.sorted().map { "\($0)" }) })
    }
}

extension SettingForm where Value == OtherUsers {
    static var otherUsers: Self {
        Self(read: { reader throws(Refusal) in try reader.otherUsers() }, text: { quoted($0.rawValue) })
    }
}

extension SettingForm where Value == Logger.Level {
    static var level: Self {
        Self(read: { reader throws(Refusal) in try reader.level() }, text: { quoted($0.rawValue) })
    }
}

/// A list of strings in TOML.
private func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

/// A string in TOML.
private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}

extension NetworkAddress: CustomStringConvertible {
    package var description: String {
        guard let port else { return host }
        return ListenAddress.text(host: host, port: port)
    }
}

extension ByteSize {
    /// A size in the largest unit that divides it: `10GB`.
    static func text(_ bytes: Int64) -> String {
        let units: [(name: String, shift: Int64)] = [("TB", 40), ("GB", 30), ("MB", 20), ("KB", 10)]
        let unit = units.first { bytes > 0 && bytes % (1 << $0.shift) == 0 }
        guard let unit else {
            // No size is a size in every unit.
            guard bytes != 0 else { return "0" }
            return "\(bytes)B"
        }
        return "\(bytes >> unit.shift)\(unit.name)"
    }
}
