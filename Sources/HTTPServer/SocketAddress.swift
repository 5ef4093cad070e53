import CLibevent
import CLinux
import Glibc

/// An IPv4 or IPv6 address with its port, or that of a Unix socket, which has neither.
struct SocketAddress: Hashable, Sendable {
    /// The address in network order; four bytes for IPv4, none for a Unix socket.
    private var octets: [UInt8]
    let port: UInt16

    /// Parses a literal address, IPv6 with or without brackets; nil for anything else, host names included.
    init?(literal: String, port: UInt16) {
        var bare = literal
        if bare.hasPrefix("["), bare.hasSuffix("]") {
            bare = String(bare.dropFirst().dropLast())
        }
        self.port = port
        octets = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, bare, &octets) == 1 {
            octets.removeLast(12)
        } else if inet_pton(AF_INET6, bare, &octets) != 1 {
            return nil
        }
    }

    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let value = raw.loadUnaligned(as: sockaddr_in.self)
            port = UInt16(bigEndian: value.sin_port)
            octets = withUnsafeBytes(of: value.sin_addr) { Array($0) }
        case AF_INET6:
            let value = raw.loadUnaligned(as: sockaddr_in6.self)
            port = UInt16(bigEndian: value.sin6_port)
            octets = withUnsafeBytes(of: value.sin6_addr) { Array($0) }
        case AF_UNIX: (octets, port) = ([], 0)
        default: return nil
        }
    }

    /// The local address of a bound socket; nil without one.
    init?(localOf descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound -> SocketAddress? in
                guard getsockname(descriptor, rebound, &length) == 0 else { return nil }
                return SocketAddress(rebound)
            }
        }
        guard let address else { return nil }
        self = address
    }

    var isIPv6: Bool { octets.count == 16 }
    var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    var isUnix: Bool { octets.isEmpty }

    /// True for an address of this machine, an IPv4 one mapped to IPv6 (RFC 4291 §2.5.5.2) included.
    var isLoopback: Bool {
        guard isIPv6 else { return isUnix || octets[0] == 127 }
        let head = octets.prefix(10)
        let isMapped = octets[10] == 0xFF && octets[11] == 0xFF
        guard head.allSatisfy({ $0 == 0 }) else { return false }
        guard !isMapped else { return octets[12] == 127 }
        return octets[10...14].allSatisfy { $0 == 0 } && octets[15] == 1
    }

    var isUnspecified: Bool { !isUnix && octets.allSatisfy { $0 == 0 } }

    /// The address as a number of two halves; the first is 0 for IPv4.
    var number: (high: UInt64, low: UInt64) {
        let value: (ArraySlice<UInt8>) -> UInt64 = { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        return (value(octets.dropLast(8)), value(octets.suffix(8)))
    }

    /// The address without port and brackets.
    var host: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard !isUnix, inet_ntop(family, octets, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The address as in a Host field, with brackets, without port.
    var literal: String {
        guard isIPv6 else { return host }
        return "[\(host)]"
    }

    func withSockaddr<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var storage = sockaddr_storage()
        return withUnsafeMutableBytes(of: &storage) { raw in
            let size: Int
            if isIPv6 {
                var value = sockaddr_in6()
                value.sin6_family = sa_family_t(AF_INET6)
                value.sin6_port = port.bigEndian
                withUnsafeMutableBytes(of: &value.sin6_addr) { $0.copyBytes(from: octets) }
                raw.storeBytes(of: value, as: sockaddr_in6.self)
                size = MemoryLayout<sockaddr_in6>.size
            } else {
                var value = sockaddr_in()
                value.sin_family = sa_family_t(AF_INET)
                value.sin_port = port.bigEndian
                withUnsafeMutableBytes(of: &value.sin_addr) { $0.copyBytes(from: octets) }
                raw.storeBytes(of: value, as: sockaddr_in.self)
                size = MemoryLayout<sockaddr_in>.size
            }
            return raw.withMemoryRebound(to: sockaddr.self) { rebound in
                guard let start = rebound.baseAddress else { return body([sockaddr()], 0) }
                return body(start, socklen_t(size))
            }
        }
    }
}
