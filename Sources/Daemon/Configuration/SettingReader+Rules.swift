internal import Control
internal import Downloads
internal import Orders

/// Readers of the keys for when downloads run, and who is told about them.
extension SettingReader {
    func hours() throws(Refusal) -> [DayHours] {
        let wanted = "a list of times of the day, such as [\"22:00-06:00\"]"
        var hours: [DayHours] = []
        for text in try list(wanted) where !text.isEmpty {
            guard let some = DayHours(text) else {
                throw Refusal("\"\(text)\" is not a time of the day, such as 22:00-06:00")
            }
            hours.append(some)
        }
        return hours
    }

    func battery() throws(Refusal) -> DownloadRules.Battery {
        guard case .text(let text) = setting, let battery = DownloadRules.Battery(text) else {
            throw mismatch("allow, pause, or a charge such as \"30%\"")
        }
        return battery
    }

    /// Reads bytes per second; nil for no limit.
    func rate() throws(Refusal) -> Int64? {
        let wanted = "a size for each second, such as 500KB or 2MB, of at least 10 KB; or unlimited"
        if case .text("unlimited") = setting {
            return nil
        }
        guard case .text(let text) = setting, let bytes = ByteSize.bytes(text), bytes >= 10 << 10 else {
            throw mismatch(wanted)
        }
        return bytes
    }

    /// Reads a URL; nil for an empty text. Messages do not repeat it, since it may contain a password or a token.
    func webhook() throws(Refusal) -> WebhookReceiver? {
        guard case .text(let text) = setting else { throw Refusal("the value is not a URL") }
        guard !text.isEmpty else { return nil }
        guard let receiver = WebhookReceiver(text) else {
            throw Refusal("the value is not an http or https URL, such as http://127.0.0.1:8080/weir")
        }
        return receiver
    }

    func webhookEvents() throws(Refusal) -> Set<WebhookEvent> {
        let names = WebhookEvent.allCases.map(\.rawValue).joined(separator: ", ")
        var events: Set<WebhookEvent> = []
        for text in try list("a list of events") where !text.isEmpty {
            guard let event = WebhookEvent(rawValue: text) else {
                throw Refusal("\"\(text)\" is not an event; the events are \(names)")
            }
            events.insert(event)
        }
        return events
    }
}
