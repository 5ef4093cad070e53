internal import Control
internal import Downloads
internal import EventLoop
internal import HTTPMessage
import Orders
internal import Origin

/// Checks of the rules for downloads, and of the receiver of their events.
extension Doctor {
    /// Shows what the rules say now, and those without effect on this machine.
    func ruleFindings() -> [Finding] {
        let rules = configuration.rules
        let limit = configuration.limitRate.map { rate -> Finding in
            .ok("rules", "downloads take at most \(rate >> 10) KB a second together")
        }
        guard !rules.facts.isEmpty else { return [limit].compactMap(\.self) }
        let conditions = MachineSensors(environment: environment).read(rules.facts)
        let holds = rules.holds(under: conditions)
        var now: [Finding] = holds.map { .ok("rules", "downloads wait now: \($0.message)") }
        if holds.isEmpty {
            now = [.ok("rules", "downloads may run now")]
        }
        return now + Self.idleRules(rules, conditions) + [limit].compactMap(\.self)
    }

    /// The rules whose facts this machine does not have.
    private static func idleRules(_ rules: DownloadRules, _ conditions: Conditions) -> [Finding] {
        var findings: [Finding] = []
        if rules.metered == .pause, conditions.isMetered == .absent {
            findings.append(
                .warning(
                    "rules", "NetworkManager does not answer on the system bus: no network counts as metered",
                    next: "start NetworkManager, or leave the key metered out"))
        }
        if rules.onlyIdle, conditions.isIdle == .absent {
            findings.append(
                .warning(
                    "rules", "systemd-logind does not answer on the system bus: the machine always counts as idle",
                    next: "start systemd-logind, or leave the key only-idle out"))
        }
        if rules.battery != .allow, conditions.power == .absent {
            findings.append(.ok("rules", "this machine has no battery: the key on-battery has no effect"))
        }
        return findings
    }

    /// Looks whether the receiver of events answers. It gets no event.
    func webhookFindings() async -> [Finding] {
        guard let receiver = configuration.webhook else { return [] }
        let url = receiver.url
        if configuration.offline {
            return [.warning("webhook", "Weir is offline, so \(url) gets no events", next: "leave the key offline out")]
        }
        switch await Webhook.answer(of: receiver, by: configuration.origin { _ in }) {
        case .success(let status) where [401, 403, 407].contains(status):
            return [
                .warning(
                    "webhook", "\(url) refuses the credentials: it answered \(status)",
                    next: "correct the key webhook: http://USER:PASSWORD@HOST/PATH")
            ]
        case .success(let status): return [.ok("webhook", "\(url) answers (\(status))")]
        case .failure(let error):
            return [
                .warning(
                    "webhook", "it gets no events: \(error)", next: "start the receiver, or correct the key webhook")
            ]
        }
    }
}
