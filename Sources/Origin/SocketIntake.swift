import CLibcurl
import Glibc

/// What the system takes in of a connection's bytes before anybody reads them: the window that the peer is promised, and the
/// buffer behind it.
///
/// Where the system does not do what is asked, more is under way than there need be: no harm done.
struct SocketIntake {
    /// The connection's socket, borrowed; -1 as long as it does not stand.
    var descriptor: Int32 = -1
    private var window: Int?
    /// The size of the receive buffer before it was shrunk.
    private var buffer: Int32?

    /// What TCP can have at most (RFC 7323 §2.2); the system's own limit is lower.
    private static let widestWindow = 1 << 30
    /// Room for what is on its way in a window of the smallest size.
    private static let smallestBuffer: Int32 = 16 << 10

    /// Bounds what the peer may send ahead of what was read, in bytes; nil for what the system thinks best. What it
    /// promised before it still takes (RFC 9293 §3.8.6: a window is not to be shrunk).
    ///
    /// Only once the connection stands: a bound that is there when it is made would hold for its life, by the scale of
    /// its windows.
    mutating func limitWindow(to bytes: Int?) {
        // A bound is set again each time: Linux forgets it when it comes to another view of what packets weigh.
        guard bytes != nil || window != nil, descriptor >= 0 else { return }
        window = bytes
        set(Int32(IPPROTO_TCP), weir_tcp_window_clamp, Int32(clamping: bytes ?? Self.widestWindow))
    }

    /// Lets the system take in hardly more while nobody reads: the bound of a window holds for what is on its way only,
    /// and each packet that has come makes room for the next until the buffer is full.
    mutating func shrink() {
        var length = socklen_t(MemoryLayout<Int32>.size)
        var size: Int32 = 0
        guard descriptor >= 0, getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 else { return }
        buffer = size
        set(SOL_SOCKET, SO_RCVBUF, Self.smallestBuffer)
    }

    /// Gives it back the buffer that it had, and leaves its size to the system again.
    mutating func restore() {
        guard let buffer else { return }
        self.buffer = nil
        set(SOL_SOCKET, SO_RCVBUF, buffer / 2)  // Linux doubles what is set.
        set(SOL_SOCKET, weir_so_buf_lock, 0)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
