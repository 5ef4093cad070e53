/// Computes the time of the next reload of a live playlist (RFC 8216 §6.3.4), for any number of players: one target
/// duration after the beginning of a load that brought a change, half of one after any other.
struct ReloadSchedule {
    private var began: ContinuousClock.Instant?
    private var interval = Duration.zero

    /// Records a load; a failed one has no change.
    mutating func record(began: ContinuousClock.Instant, targetDuration: Duration, hasChanged: Bool) {
        self.began = began
        interval = targetDuration
        if !hasChanged {
            interval /= 2
        }
    }

    func wait(now: ContinuousClock.Instant) -> Duration {
        guard let began else { return .zero }
        return began + interval - now
    }
}
