import CLinux
import Glibc

/// A clock that never goes back, and also counts while the machine sleeps.
package enum BootClock {
    /// Seconds since the machine's start.
    package static var seconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }
}
