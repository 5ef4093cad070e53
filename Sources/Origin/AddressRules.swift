import Glibc

struct SocketAddress: Hashable {
    /// Network byte order; 4 or 16 bytes.
    let bytes: [UInt8]
    let port: UInt16

    /// Converts the address that libcurl is about to connect to; nil for another family or a truncated address.
    init?(family: Int32, _ raw: UnsafeRawBufferPointer) {
        switch family {
        case AF_INET where raw.count >= MemoryLayout<sockaddr_in>.size:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            port = UInt16(bigEndian: address.sin_port)
        case AF_INET6 where raw.count >= MemoryLayout<sockaddr_in6>.size:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let all = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            // An IPv4-mapped address reaches the same socket as the IPv4 address.
            bytes = all.starts(with: Self.mappedPrefix) ? Array(all[12...]) : all
            port = UInt16(bigEndian: address.sin6_port)
        default: return nil
        }
    }

    /// Parses a literal, IPv6 without brackets; nil for anything else.
    init?(literal: String, port: UInt16) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, literal, &v4) == 1 {
            bytes = withUnsafeBytes(of: v4) { Array($0) }
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            let all = withUnsafeBytes(of: v6) { Array($0) }
            bytes = all.starts(with: Self.mappedPrefix) ? Array(all[12...]) : all
        } else {
            return nil
        }
        self.port = port
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }
    var isMulticast: Bool { bytes.count == 4 ? bytes[0] >= 224 : bytes[0] == 0xFF }
    /// True for a globally reachable address by IANA's registries: not private, and no encoding of another address.
    var isPublic: Bool { bytes.count == 4 ? isPublicIPv4 : isPublicIPv6 }

    private var isPublicIPv4: Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64...127, _): false  // carrier-grade NAT
        case (169, 254, _): false  // link-local
        case (172, 16...31, _), (192, 168, _): false
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): false  // protocols, documentation
        case (192, 88, 99): false  // 6to4 relays
        case (198, 18...19, _): false  // benchmarks
        default: true
        }
    }

    /// Only 2000::/3 is assigned; everything else is special: loopback, mapped and compatible IPv4, NAT64 (64:ff9b::/96
    /// and 64:ff9b:1::/48), unique local, link-local, multicast.
    private var isPublicIPv6: Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0x20, 0x01, 0...1): return false  // Teredo, ORCHID and other protocols: 2001::/23
        case (0x20, 0x01, 0x0D) where bytes[3] == 0xB8: return false  // documentation
        case (0x20, 0x02, _): return false  // 6to4
        case (0x3F, 0xFF, 0...0x0F): return false  // documentation
        default: return true
        }
    }
}

struct AddressRules {
    /// Weir's own listeners. No request may connect to them, since Weir would send requests to itself.
    var ownListeners: [SocketAddress] = []

    func allows(_ address: SocketAddress, isNamed: Bool) -> Bool {
        guard !address.isUnspecified, !address.isMulticast, !isOwn(address) else { return false }
        return isNamed || address.isPublic
    }

    private func isOwn(_ address: SocketAddress) -> Bool {
        ownListeners.contains { own in
            // A listener on all interfaces is reached through any local address; these are not known here.
            own == address || (own.isUnspecified && own.port == address.port && !address.isPublic)
        }
    }
}

extension OriginClient {
    /// True if a literal address, IPv6 without brackets, is globally reachable; nil if the text is not an address.
    public nonisolated static func isPublic(_ literal: String) -> Bool? {
        SocketAddress(literal: literal, port: 0)?.isPublic
    }
}
