import Glibc

/// The time of day.
enum WallClock {
    /// Since 1970-01-01T00:00:00Z, leap seconds not counted.
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
