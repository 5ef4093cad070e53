import Assets
import EventLoop
package import Orders

/// Rules for when downloads may run: one that a rule stops waits, and continues by itself once no rule stops it.
extension Downloader {
    /// The facts on which the rules of downloads that may still run depend. Nobody needs to read others.
    package var neededFacts: Set<Conditions.Fact> {
        var needed: Set<Conditions.Fact> = []
        if configuration.rules.metered == .pause, isLiveWatched() {
            needed.insert(.metering)
        }
        return byAsset.values.reduce(into: needed) { facts, download in
            if download.state.isActive {
                facts.formUnion(rules(of: download).facts)
            }
        }
    }

    /// True if what no player has asked for may be fetched of a live stream that somebody watches: a player that is paused may
    /// never come back. False while nobody knows if the network is metered.
    package var mayFetchAhead: Bool {
        guard configuration.rules.metered == .pause else { return true }
        switch conditions.isMetered {
        case .unread, .value(true): return false
        case .absent, .value(false): return true
        }
    }

    /// The hours of downloads that may still run.
    package var neededHours: [DayHours] {
        byAsset.values.filter(\.state.isActive).flatMap { rules(of: $0).hours }
    }

    /// Stops and continues downloads by the rules, for a new state of the machine.
    package func apply(_ conditions: Conditions) {
        guard conditions != self.conditions else { return }
        self.conditions = conditions
        schedule()
    }

    /// The configured rules, with the changes for the download. Somebody may use the machine while it records.
    func rules(of download: Download) -> DownloadRules {
        var rules = configuration.rules.changed(by: download.task.rules)
        if download.task.recordsLive {
            rules.onlyIdle = false
        }
        return rules
    }

    /// True if a download may not begin yet, because nobody knows if a rule stops it.
    func mustAwaitReading(_ download: Download) -> Bool {
        download.state == .queued && rules(of: download).awaitReading(of: conditions)
    }

    /// Applies the rules to all downloads that run or would run.
    func applyRules() {
        for download in downloads where download.isSubjectToRules {
            if endIfOver(download) {
                continue
            }
            let holds = self.holds(of: download)
            guard let first = holds.first else {
                if download.need?.isRule ?? false {
                    set(download, .queued)
                    saveSoon(download)
                }
                continue
            }
            guard download.state != .waiting || download.holds != holds else { continue }
            halt(download)
            let message = holds.map(\.message).joined(separator: ", and ")
            set(download, .waiting, need: first.need, failure: JobFailure(code: .rule, message: message))
            download.holds = holds
            if download.task.recordsLive, let end = download.task.recordEnd {
                wait(download, .seconds(end - library.date()))
            }
            saveSoon(download)
        }
    }

    /// The rules that stop a download now. A user who has set them may not think of them when a recording is ordered.
    private func holds(of download: Download) -> [Reason] {
        let holds = rules(of: download).holds(under: conditions)
        guard download.task.recordsLive else { return holds }
        let next = "nothing is recorded meanwhile; with --ignore-rules it is"
        return holds.map { Reason(kind: $0.kind, message: "\($0.message): \(next)") }
    }
}

extension Download {
    fileprivate var isSubjectToRules: Bool {
        state == .running || state == .queued || state == .waiting && need?.isRule ?? false
    }
}
