import CLibcurl
import Glibc

/// Limits a byte rate. Bytes are counted after they arrive, so excess bytes are compensated by a later pause. Pure.
/// Unused tokens above the bucket's depth are lost.
struct TokenBucket {
    /// Bytes per second, above 0.
    let rate: Double
    private var tokens: Double
    private var updated: ContinuousClock.Instant
    /// The bucket's depth in bytes.
    private let depth: Double

    /// - Parameter seconds: the bucket's depth, in seconds of the rate.
    init(rate: Int64, depth seconds: Double = 0.25, at now: ContinuousClock.Instant) {
        self.rate = Double(max(1, rate))
        depth = self.rate * seconds
        tokens = depth
        updated = now
    }

    mutating func consume(_ bytes: Int, at now: ContinuousClock.Instant) {
        tokens = min(depth, tokens + rate * seconds(until: now)) - Double(bytes)
        updated = now
    }

    /// The time until bytes may arrive again; nil if they may now.
    /// - Parameter uncounted: bytes that have arrived, and are not consumed yet.
    func wait(at now: ContinuousClock.Instant, after uncounted: Int = 0) -> Duration? {
        let tokens = min(depth, tokens + rate * seconds(until: now)) - Double(uncounted)
        guard tokens <= 0 else { return nil }
        // Wait for half the depth, so that the transfer runs for a while once it resumes.
        return .seconds((depth / 2 - tokens) / rate)
    }

    private func seconds(until now: ContinuousClock.Instant) -> Double { (now - updated) / .seconds(1) }
}

/// Limits background transfers to the user's rate and to what players leave them. Pure.
///
/// Players come and go, and what they leave changes several times a second. The user's bucket sees every byte all the same: one that
/// began again with each change would forget what it is owed, and give its depth away each time.
struct BackgroundRate {
    private var users: TokenBucket?
    private var players: TokenBucket?
    /// Bytes that the transfers may have under way together under the user's limit; nil without one. What the system has promised
    /// to accept comes whatever is paused, so it is a part of what the first seconds bring.
    let window: Int64?
    /// The number of transfers at once under the user's limit; nil without one.
    let slots: Int?
    /// The bounds on each connection of such a transfer; nil without the user's limit.
    let bounds: ConnectionBounds?
    private static let windowTime = 0.2
    /// The depth of the user's bucket, in seconds. Beside it stands what the system holds, from which a pause ends at once.
    private static let depth = 0.05

    /// - Parameter rate: the user's, in bytes per second; nil for no limit.
    init(users rate: Int64?, at now: ContinuousClock.Instant) {
        users = rate.map { TokenBucket(rate: $0, depth: Self.depth, at: now) }
        window = rate.map { Int64(Double($0) * Self.windowTime) }
        slots = window.map { ConnectionBounds.slots(sharing: Int($0)) }
        bounds = window.map { ConnectionBounds(sharing: Int($0)) }
    }

    /// True if the user limits the rate.
    var isLimitedByUser: Bool { users != nil }
    /// True if anything limits the rate.
    var isLimited: Bool { users != nil || players != nil }

    /// Sets the rate that players leave, in bytes per second; nil for no limit, and 0 if nothing may arrive for now.
    mutating func leave(_ rate: Int64?, at now: ContinuousClock.Instant) {
        players = nil
        if let rate, rate > 0 {
            players = TokenBucket(rate: rate, at: now)
        }
    }

    mutating func consume(_ bytes: Int, at now: ContinuousClock.Instant) {
        users?.consume(bytes, at: now)
        players?.consume(bytes, at: now)
    }

    /// The time until bytes may arrive again; nil if they may now.
    /// - Parameter uncounted: bytes that have arrived, and are not consumed yet.
    func wait(at now: ContinuousClock.Instant, after uncounted: Int = 0) -> Duration? {
        let waits = [users?.wait(at: now, after: uncounted), players?.wait(at: now, after: uncounted)]
        return waits.compactMap(\.self).max()
    }
}

/// Bounds on a connection whose transfers are under the user's limit. Pure.
struct ConnectionBounds: Equatable {
    /// Most bytes of one read.
    let read: Int
    /// Most bytes that the system promises to accept on a new connection; nil for its default. The system makes the promise before the
    /// head arrives, from which on a window can be limited, and keeps it whatever is paused.
    let promise: Int?
    /// The default of the system.
    private static let usualPromise = 64 << 10
    /// A receive buffer for a few packets.
    private static let smallest = 8 << 10
    /// A fraction of it: what is read counts at once, and nothing that has been read can be given back.
    private static let longestRead = 16 << 10
    /// While one transfer waits for its reply, another one may use the rate.
    private static let fewestSlots = 2

    /// - Parameter window: bytes that all transfers together may have under way.
    init(sharing window: Int) {
        let share = max(Self.smallest, window / Self.slots(sharing: window))
        read = min(share, Self.longestRead)
        if share < Self.usualPromise {
            promise = share
        } else {
            promise = nil
        }
    }

    /// The number of transfers at once: as many as the window has room for the system's promises.
    static func slots(sharing window: Int) -> Int {
        let few = min(fewestSlots, max(1, window / smallest))
        return max(few, window / usualPromise)
    }
}

/// Limits the windows of transfers, so that they do not fill the queue of a slow link in which a player's next request would
/// wait. Pure. Bytes that a receiver's window allows soon fill the bottleneck's queue ("bufferbloat"), and cannot be recalled
/// when a transfer has to pause. Six connections allow at least 384 KB at once: four seconds of 3G. LEDBAT (RFC 6817)
/// limits the delay that a background transfer adds; this type does so through the window. It costs no speed. It applies
/// only if the round trip is short and the measured rate is low, and it allows twice the bytes that this rate can have
/// under way: on a faster link the rate grows until the limit disappears.
struct WindowLimiter {
    private var rates: [Double] = []
    private var last: (at: ContinuousClock.Instant, bytes: Int64)?
    private var roundTrips: [Duration] = []
    /// Links faster than this (bytes per second) are not limited: the default windows pass in a moment.
    private static let fast = 2_000_000.0
    /// On a slower link than this, downloads have connections of their own, whose windows can be limited.
    private static let slow = 256_000.0
    /// The longest round trip for which the limit applies.
    private static let roundTrip = Duration.milliseconds(300)
    private static let sampleTime = Duration.milliseconds(500)
    private static let samples = 8
    private static let connections = 8
    private static let smallest: Int64 = 32 << 10

    /// Bytes that may be under way for all transfers together; nil for no limit.
    var window: Int64? {
        guard let rate, rate < Self.fast else { return nil }
        return max(Self.smallest, Int64(2 * rate * (Self.roundTrip / .seconds(1))))
    }

    /// True if a limit applies, and the link is a slow one.
    var isSlow: Bool {
        guard let rate else { return false }
        return rate < Self.slow
    }

    /// Bytes per second; nil if they are unknown, or the round trip is long.
    private var rate: Double?

    private mutating func setRate() {
        rate = nil
        if rates.count > 1, let shortest = roundTrips.min(), shortest < Self.roundTrip {
            rate = rates.max()
        }
    }

    /// Records the setup time of a new connection: one round trip, or more on a busy link.
    mutating func connected(in time: Duration) {
        roundTrips.append(time)
        if roundTrips.count > Self.connections {
            roundTrips.removeFirst()
        }
        setRate()
    }

    /// Records the bytes received since the start; true if that is a new measurement.
    mutating func record(_ bytes: Int64, at now: ContinuousClock.Instant) -> Bool {
        guard let last else {
            self.last = (now, bytes)
            return false
        }
        let time = now - last.at
        guard time >= Self.sampleTime else { return false }
        self.last = (now, bytes)
        defer { setRate() }
        // Idle for most of the time.
        if time > Self.sampleTime * 3 {
            rates = []
            return true
        }
        rates.append(Double(bytes - last.bytes) / (time / .seconds(1)))
        if rates.count > Self.samples {
            rates.removeFirst()
        }
        return true
    }
}

/// Limits what the system receives on a connection before it is read: the advertised window. A buffer that is smaller than that
/// would make the system drop bytes, which the peer sends again only after a timeout.
/// If the system ignores a limit, more bytes than necessary are under way; that is harmless.
struct SocketReceiveLimits {
    /// The connection's socket, borrowed; -1 before it is established.
    var descriptor: Int32 = -1
    private var window: Int?
    /// The size of the receive buffer before `hold()`; nil without a hold.
    private var buffer: Int32?
    private static let smallestBuffer: Int32 = 32 << 10
    /// The TCP maximum (RFC 7323 §2.2); the system's own limit is lower.
    private static let widestWindow = 1 << 30
    /// True if the buffer has had a size of its own since the socket was opened.
    private let isFixed: Bool

    init(isFixed: Bool = false) { self.isFixed = isFixed }

    /// Gives a socket that is not connected yet a receive buffer which lets the peer send so many bytes ahead.
    static func fix(_ descriptor: Int32, promising bytes: Int) {
        // Linux doubles the value, and offers about half of the buffer as the window.
        var size = Int32(clamping: bytes)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Limits how many bytes the peer may send ahead of the reader; nil for the system's default. Bytes already
    /// promised are still accepted (RFC 9293 §3.8.6: a window must not shrink). Only for an established connection: a
    /// limit set before would determine the window scale and last for the connection's life.
    mutating func limitWindow(to bytes: Int?) {
        // The limit is set again each time, because Linux drops it when it re-estimates the size of packets.
        guard bytes != nil || window != nil, descriptor >= 0 else { return }
        window = bytes
        set(weir_tcp_window_clamp, at: Int32(IPPROTO_TCP), to: Int32(clamping: bytes ?? Self.widestWindow))
    }

    /// Call while the connection is not read: each packet that arrives would admit the next until the buffer is full. The buffer
    /// then fits what was promised and little more.
    mutating func hold() {
        // Older systems do not say what was promised. It is at most the limit, which applies since before the pause.
        guard buffer == nil, !isFixed, descriptor >= 0,
            let promised = advertisedWindow ?? window.map({ Int32(clamping: $0) })
        else { return }
        let size = value(SOL_SOCKET, SO_RCVBUF, at: 0) ?? 0
        let unread = value(SOL_SOCKET, weir_so_meminfo, at: 0) ?? 0
        let needed = max(Self.smallestBuffer, unread + promised + promised / 4)
        guard needed < size else { return }
        buffer = size
        // Linux doubles the value.
        set(SO_RCVBUF, at: SOL_SOCKET, to: needed / 2)
    }

    /// Ends `hold`.
    mutating func restore() {
        guard let buffer else { return }
        self.buffer = nil
        set(SO_RCVBUF, at: SOL_SOCKET, to: buffer / 2)
        set(weir_so_buf_lock, at: SOL_SOCKET, to: 0)
    }

    /// Bytes that the peer may still send; nil if the system does not say.
    private var advertisedWindow: Int32? { value(Int32(IPPROTO_TCP), weir_tcp_info, at: Int(weir_tcp_info_window)) }

    /// A number of 32 bits at an offset of an option's value; nil if there is none.
    private func value(_ level: Int32, _ option: Int32, at offset: Int) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 512)
        var length = socklen_t(bytes.count)
        guard getsockopt(descriptor, level, option, &bytes, &length) == 0, Int(length) >= offset + 4 else { return nil }
        return bytes.withUnsafeBytes { Int32(clamping: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    private func set(_ option: Int32, at level: Int32, to value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
