internal import Foundation
internal import Glibc
internal import Origin

/// The addresses of this machine's interfaces that are up, in the kernel's order, and the interface of its default route.
struct MachineAddresses: Equatable {
    struct Entry: Equatable {
        let interface: String
        /// Literal, without a zone.
        let literal: String
    }

    let entries: [Entry]
    /// The interface by which IPv4 packets leave for other networks; nil without such a route.
    let defaultInterface: String?

    static var current: MachineAddresses {
        let routes = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
        return MachineAddresses(entries: interfaces, defaultInterface: defaultInterface(routes: routes))
    }

    /// The literal addresses, each once.
    var literals: [String] {
        entries.map(\.literal).reduce(into: []) { found, literal in
            if !found.contains(literal) {
                found.append(literal)
            }
        }
    }

    /// The best address for other machines: a private one, of the default route's interface before others, IPv4 before
    /// IPv6. A public one is never chosen: whoever has its URL could play from anywhere.
    var best: String? {
        let homes = entries.filter { !Self.isLocal($0.literal) && !(OriginClient.isPublic($0.literal) ?? true) }
        let first = homes.filter { $0.interface == defaultInterface }
        return Self.first(of: first) ?? Self.first(of: homes)
    }

    /// The address of an interface that other machines can reach, IPv4 before IPv6; nil if it has none.
    func best(ofInterface name: String) -> String? {
        let own = entries.filter { $0.interface == name }
        let reachable = own.filter { !Self.isLocal($0.literal) }
        return Self.first(of: reachable) ?? Self.first(of: own.filter { Self.isLoopback($0.literal) })
    }

    private static func first(of entries: [Entry]) -> String? {
        let four = entries.first { !$0.literal.contains(":") }
        return (four ?? entries.first)?.literal
    }

    /// The interface of the default route with the lowest metric in the text of `/proc/net/route`. Its columns are
    /// interface, destination, gateway, flags, references, use, metric and mask.
    static func defaultInterface(routes: String) -> String? {
        let rows = routes.split(separator: "\n").dropFirst().map { $0.split(whereSeparator: \.isWhitespace) }
        let defaults = rows.filter { $0.count > 7 && $0[1] == "00000000" && $0[7] == "00000000" }
        let metric = { (row: [Substring]) in Int(row[6]) ?? Int.max }
        return defaults.min { metric($0) < metric($1) }.map { String($0[0]) }
    }

    // MARK: The kernel's list

    private static var interfaces: [Entry] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }

        var entries: [Entry] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0, let literal = literal(address)
            else { continue }
            entries.append(Entry(interface: String(cString: entry.ifa_name), literal: literal))
        }
        return entries
    }

    private static func literal(_ address: UnsafePointer<sockaddr>) -> String? {
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }

        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let bytes = text.map { UInt8(bitPattern: $0) }
        // An interface's name follows a percent sign.
        let literal = bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "%") }
        return String(decoding: literal, as: UTF8.self)
    }

    // MARK: Kinds of addresses

    /// True if an interface has this address. Compares bytes, because an address has several text forms.
    func contains(_ host: String) -> Bool {
        let wanted = Self.bytes(host)
        return entries.contains { Self.bytes($0.literal) == wanted }
    }

    private static func bytes(_ literal: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        let family = literal.contains(":") ? AF_INET6 : AF_INET
        inet_pton(family, literal, &bytes)
        return bytes
    }

    static func isLoopback(_ literal: String) -> Bool {
        guard literal.contains(":") else { return literal.hasPrefix("127.") }
        return bytes(literal) == bytes("::1")
    }

    /// True if other machines cannot use an address: loopback, or link-local, which needs an interface's name.
    static func isLocal(_ literal: String) -> Bool {
        if isLoopback(literal) {
            return true
        }
        // fe80::/10 (RFC 4291 §2.5.6).
        let bytes = bytes(literal)
        return literal.contains(":") && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
    }
}
