import CLibcurl
import Glibc

/// Limits what the system receives on a connection before it is read: the advertised window and the receive buffer.
///
/// If the system ignores a limit, more bytes than necessary are in fetch; that is harmless.
struct SocketReceiveLimits {
    /// The connection's socket, borrowed; -1 before it is established.
    var descriptor: Int32 = -1
    private var window: Int?
    /// The size of the receive buffer before `shrink()`.
    private var buffer: Int32?

    /// The TCP maximum (RFC 7323 §2.2); the system's own limit is lower.
    private static let widestWindow = 1 << 30
    /// Fits the bytes in fetch of the smallest window.
    private static let smallestBuffer: Int32 = 16 << 10

    /// Limits how many bytes the peer may send ahead of the reader; nil for the system's default. Bytes already
    /// promised are still accepted (RFC 9293 §3.8.6: a window must not shrink).
    ///
    /// Only for an established connection: a limit set before would determine the window scale and last for the
    /// connection's life.
    mutating func limitWindow(to bytes: Int?) {
        // The limit is set again each time, because Linux drops it when it re-estimates the size of packets.
        guard bytes != nil || window != nil, descriptor >= 0 else { return }
        window = bytes
        set(Int32(IPPROTO_TCP), weir_tcp_window_clamp, Int32(clamping: bytes ?? Self.widestWindow))
    }

    /// Shrinks the receive buffer while the connection is not read. The window only limits bytes in fetch, and each
    /// packet that arrives admits the next until the buffer is full.
    mutating func shrink() {
        var length = socklen_t(MemoryLayout<Int32>.size)
        var size: Int32 = 0
        guard descriptor >= 0, getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 else { return }
        buffer = size
        set(SOL_SOCKET, SO_RCVBUF, Self.smallestBuffer)
    }

    /// Restores the receive buffer and its automatic sizing.
    mutating func restore() {
        guard let buffer else { return }
        self.buffer = nil
        set(SOL_SOCKET, SO_RCVBUF, buffer / 2)  // Linux doubles the value.
        set(SOL_SOCKET, weir_so_buf_lock, 0)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
