/// Computes the time of the next reload of a live playlist (RFC 8216 §6.3.4).
///
/// Regardless of the number of players, the origin sees one client. A load counts for one target duration if the
/// playlist had changed, for half of one if not, both from the beginning of the load.
struct ReloadSchedule {
    private var began: ContinuousClock.Instant?
    private var interval = Duration.zero

    /// Records a load.
    ///
    /// - Parameter hasChanged: false also for a failed load.
    mutating func note(began: ContinuousClock.Instant, targetDuration: Duration, hasChanged: Bool) {
        self.began = began
        interval = hasChanged ? targetDuration : targetDuration / 2
    }

    /// Time until the next load; zero or less if it is due.
    func wait(now: ContinuousClock.Instant) -> Duration {
        guard let began else { return .zero }
        return began + interval - now
    }
}
