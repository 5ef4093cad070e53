internal import Glibc

/// The time of the day where the user is. Pure but for the default.
enum LocalTime {
    /// The second of the day at a time in seconds since 1970.
    /// - Parameter offset: seconds east of Greenwich at that time, summer time included.
    static func second(at time: Int64, offset: (Int64) -> Int = systemOffset) -> Int {
        let local = time + Int64(offset(time))
        return Int((local % 86_400 + 86_400) % 86_400)
    }

    /// The offset by TZ or /etc/localtime, as they are now: a traveller may have changed the latter.
    static func systemOffset(at time: Int64) -> Int {
        tzset()
        var seconds = time_t(time)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts.tm_gmtoff
    }
}
