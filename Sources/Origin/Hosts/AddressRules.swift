import CLibcurl
import Glibc
import HTTPMessage

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
            bytes = Self.unmapped(withUnsafeBytes(of: address.sin6_addr) { Array($0) })
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
            bytes = Self.unmapped(withUnsafeBytes(of: v6) { Array($0) })
        } else {
            return nil
        }
        self.port = port
    }

    /// Stands for a Unix socket.
    static let noAddress = SocketAddress(bytes: [0, 0, 0, 0], port: 0)

    private init(bytes: [UInt8], port: UInt16) {
        self.bytes = bytes
        self.port = port
    }

    /// Returns the address with another port.
    func with(port: UInt16) -> SocketAddress { SocketAddress(bytes: bytes, port: port) }

    /// Parses a literal in any form that a resolver accepts, such as `127.1` or `2130706433`.
    init?(loose text: String, port: UInt16) {
        var v4 = in_addr()
        if let exact = SocketAddress(literal: text, port: port) {
            self = exact
        } else if inet_aton(text, &v4) != 0 {
            bytes = withUnsafeBytes(of: v4) { Array($0) }
            self.port = port
        } else {
            return nil
        }
    }

    /// The addresses of a host that no resolver is asked for, with the port 0; nil for any other name.
    static func known(of host: String) -> [SocketAddress]? {
        if let address = SocketAddress(loose: host, port: 0) {
            return [address]
        }
        guard HostClass.isLoopback(host) else { return nil }
        return [SocketAddress(bytes: [127, 0, 0, 1], port: 0)]
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    private static let translatedPrefix: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

    /// An IPv4-mapped address reaches the same socket as the IPv4 address.
    private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.starts(with: mappedPrefix) else { return bytes }
        return Array(bytes[12...])
    }

    /// The text form, without brackets.
    var literal: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        inet_ntop(family, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } || embeddedIPv4?.allSatisfy { $0 == 0 } ?? false }
    var isMulticast: Bool {
        if bytes.count == 4 {
            return bytes[0] >= 224
        }
        if bytes[0] == 0xFF {
            return true
        }
        guard let embeddedIPv4 else { return false }
        return embeddedIPv4[0] >= 224
    }
    /// True for a globally reachable address by IANA's registries. One that embeds an IPv4 address is judged by that.
    var isPublic: Bool { hostClass == .public }

    /// The class, by the embedded IPv4 address if there is one.
    var hostClass: HostClass {
        if let embeddedIPv4 {
            return Self.classOfIPv4(embeddedIPv4)
        }
        if bytes.count == 4 {
            return Self.classOfIPv4(bytes)
        }
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes.last == 1 {
            return .loopback
        }
        guard isPublicIPv6 else { return .private }
        return .public
    }

    /// The IPv4 address that a translator (NAT64, RFC 6052) or a relay (6to4, RFC 3056) reaches; nil for none. With DNS64
    /// every IPv4 host has such an address.
    var embeddedIPv4: [UInt8]? {
        guard bytes.count == 16 else { return nil }
        if bytes.starts(with: Self.translatedPrefix) {
            return Array(bytes[12...])
        }
        // The prefix of a network's own translator (RFC 8215), with the usual length of 96 bits.
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 1]) {
            return Array(bytes[12...])
        }
        guard bytes.starts(with: [0x20, 0x02]) else { return nil }
        return Array(bytes[2..<6])
    }

    private static func classOfIPv4(_ bytes: [UInt8]) -> HostClass {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (127, _, _): .loopback
        case (0, _, _), (10, _, _), (224..., _, _): .private
        case (100, 64...127, _): .private  // carrier-grade NAT
        case (169, 254, _): .private  // link-local
        case (172, 16...31, _), (192, 168, _): .private
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): .private  // protocols, documentation
        case (192, 88, 99): .private  // 6to4 relays
        case (198, 18...19, _): .private  // benchmarks; some VPN clients invent addresses here
        default: .public
        }
    }

    /// Only 2000::/3 is assigned; everything else is special: loopback, mapped and compatible IPv4, unique local,
    /// link-local, multicast.
    private var isPublicIPv6: Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0x20, 0x01, 0...1): return false  // Teredo, ORCHID and other protocols: 2001::/23
        case (0x20, 0x01, 0x0D) where bytes[3] == 0xB8: return false  // documentation
        case (0x3F, 0xFF, 0...0x0F): return false  // documentation
        default: return true
        }
    }
}

/// The class of a host, as far as the rules for private hosts depend on it.
public enum HostClass: String, Sendable {
    case `public`
    case `private`
    case loopback

    /// True for a name or an address of this machine.
    package static func isLoopback(_ host: String) -> Bool {
        if let address = SocketAddress(loose: host, port: 0) {
            return address.hostClass == .loopback
        }
        return isLoopbackName(host)
    }

    /// True for a name of this machine.
    static func isLoopbackName(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    /// Judges a host by its name alone, because a proxy resolves it.
    init(ofName host: String) {
        if HostClass.isLoopback(host) {
            self = .loopback
        } else if let address = SocketAddress(loose: host, port: 0) {
            self = address.hostClass
        } else {
            let top = host.split(separator: ".").last.map(String.init)
            let isLocal =
                !host.contains(".") || host.hasSuffix(".home.arpa") || top.map(Self.localDomains.contains) ?? true
            self = isLocal ? .private : .public
        }
    }

    /// Top-level domains that no public name has (RFC 6762, and ICANN's decisions about `internal` and others).
    private static let localDomains: Set<String> = [
        "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private",
    ]
}

/// The addresses to which one attempt may connect.
struct AddressRights {
    /// The host and port of the attempt.
    let peer: OriginRequest.Peer
    /// The host and port of the user's URL; nil if the user gave none.
    var namedPeer: OriginRequest.Peer?
    /// See `OriginRoute.firstClass`.
    var firstClass: HostClass?
    var allowedHosts: [AllowedHost] = []
    /// The addresses of the user's host, if the attempt is for another one; empty if they are not known.
    var namedAddresses: [SocketAddress] = []

    init(peer: OriginRequest.Peer) { self.peer = peer }

    /// True if the host is the one of the user's URL.
    var isNamedHost: Bool { namedPeer?.host == peer.host }
    /// True if some private address may be allowed, so that the connection must not be reused by others.
    var mayBePrivate: Bool { isNamedHost || isNamedPrivate || !allowedHosts.isEmpty }
    /// True if all known addresses of the user's host are private. A public name that has a private address besides may be
    /// an attack.
    private var isNamedPrivate: Bool {
        !namedAddresses.isEmpty && namedAddresses.allSatisfy { $0.hostClass != .public }
    }
    /// True if the user's host has this address too, under its other name.
    private func isNamedHost(at address: SocketAddress?) -> Bool {
        guard let address, isNamedPrivate else { return false }
        if address.hostClass == .loopback {
            return namedAddresses.allSatisfy { $0.hostClass == .loopback }
        }
        return namedAddresses.contains { $0.bytes == address.bytes }
    }

    func allows(_ kind: HostClass, at address: SocketAddress?) -> Bool {
        if kind == .public {
            return true
        }
        if allowedHosts.contains(where: { $0.matches(host: peer.host, port: peer.port, address: address) }) {
            return true
        }
        guard let namedPeer, firstClass != .public, isNamedHost || isNamedHost(at: address) else { return false }
        if peer.port == namedPeer.port {
            return true
        }
        return kind == .private && [80, 443].contains(peer.port)
    }

    /// True if a public name leads to a private address now: an attack by DNS rebinding looks so.
    func isRebound(_ kind: HostClass) -> Bool { isNamedHost && firstClass == .public && kind != .public }

    /// The cause of a refusal and the option that lifts it.
    func refusal(of kind: HostClass, at address: SocketAddress?) -> String {
        var peerText = "the name \(peer.host)"
        if let address {
            peerText = "\(peer.host) is \(address.literal)"
        }
        var option = "--allow-host \(WebURL.bracketed(peer.host))"
        let hasUsualPort = [80, 443].contains(peer.port)
        if !hasUsualPort || kind == .loopback {
            option += ":\(peer.port)"
        }
        if isRebound(kind) {
            return
                "\(peerText), but the name was public at first, and a changed answer may be an attack; if you trust it, "
                + "add \(option)"
        }
        let isLiteral = address?.literal == peer.host
        guard !isLiteral else { return "if you trust it, add \(option)" }
        return "\(peerText); if you trust it, add \(option)"
    }
}

struct AddressRules {
    /// Weir's own listeners. No request may connect to them, since Weir would send requests to itself.
    var ownListeners: [SocketAddress] = []

    func allows(_ address: SocketAddress, _ rights: AddressRights) -> Bool {
        isPossible(address) && rights.allows(address.hostClass, at: address)
    }

    /// True for an address that is not excluded whatever the user's rights are. A proxy of the user may be private.
    func isPossible(_ address: SocketAddress) -> Bool {
        !address.isUnspecified && !address.isMulticast && !isOwn(address)
    }

    func isOwn(_ address: SocketAddress) -> Bool {
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
