/// Remembers the addresses that failed lately, and orders the addresses of a name by it. Pure.
///
/// An address fails if it accepts no connection, loses the race against another one, or if its connection breaks or falls
/// silent. The next connection is tried at another address of the name first; a complete reply clears the record. Of the
/// addresses that failed, the one whose failure is the oldest comes first, so that repeated attempts visit all of them.
/// libcurl tries IPv6 and IPv4 at the same time (RFC 8305), each family in the order of the list.
struct AddressMemory {
    /// How long a failure is remembered.
    static let life = Duration.seconds(300)
    /// Bounds the memory: an origin's name may have new addresses without end.
    private static let maximumCount = 1000
    private var failures: [SocketAddress: ContinuousClock.Instant] = [:]

    mutating func recordFailure(_ address: SocketAddress, now: ContinuousClock.Instant) {
        failures = failures.filter { now - $0.value < Self.life }
        if failures.count < Self.maximumCount || failures[address] != nil {
            failures[address] = now
        }
    }

    mutating func recordSuccess(_ address: SocketAddress) {
        if !failures.isEmpty {
            failures[address] = nil
        }
    }

    /// The addresses without a failure in the given order, then the others.
    func ordered(_ addresses: [SocketAddress], now: ContinuousClock.Instant) -> [SocketAddress] {
        guard !failures.isEmpty else { return addresses }
        let good = addresses.filter { failure(of: $0, now) == nil }
        let bad = addresses.enumerated().compactMap { index, address in
            failure(of: address, now).map { (failed: $0, index: index, address: address) }
        }
        return good + bad.sorted { ($0.failed, $0.index) < ($1.failed, $1.index) }.map(\.address)
    }

    /// True if one of the addresses, other than `used`, has not failed.
    func hasOther(than used: SocketAddress, in addresses: [SocketAddress], now: ContinuousClock.Instant) -> Bool {
        addresses.contains { $0 != used && failure(of: $0, now) == nil }
    }

    private func failure(of address: SocketAddress, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let time = failures[address], now - time < Self.life else { return nil }
        return time
    }
}
