/// When a live playlist may be asked for again (RFC 8216 §6.3.4).
///
/// Whoever many players want it, the origin sees one client: what was loaded counts for a target duration where it had
/// changed, for half of one where it had not, both measured from when the loading began.
struct ReloadSchedule {
    private var began: ContinuousClock.Instant?
    private var interval = Duration.zero

    /// Notes a load.
    ///
    /// - Parameter hasChanged: false also for one that failed.
    mutating func note(began: ContinuousClock.Instant, targetDuration: Duration, hasChanged: Bool) {
        self.began = began
        interval = hasChanged ? targetDuration : targetDuration / 2
    }

    /// How long the next load has to wait; zero or less if it is due.
    func wait(now: ContinuousClock.Instant) -> Duration {
        guard let began else { return .zero }
        return began + interval - now
    }
}
