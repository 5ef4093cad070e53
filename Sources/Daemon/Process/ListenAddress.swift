internal import Glibc

/// A literal loopback address and a port on which the daemon listens.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// The address: `127.…` or `::1`, without brackets.
    package let host: String
    package let port: UInt16

    /// The default port, after RFC 8216.
    package static let standardPort: UInt16 = 8216
    package static let standard = all(port: standardPort)

    /// The addresses by which `localhost` is known, with a port.
    static func all(port: UInt16) -> [ListenAddress] {
        [ListenAddress(host: "127.0.0.1", port: port), ListenAddress(host: "::1", port: port)]
    }

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The port at the end of a URL of the daemon; nil if it has none.
    static func port(ofURL url: String) -> UInt16? {
        guard let end = url.split(separator: ":").last else { return nil }
        return UInt16(end)
    }

    /// An address and a port as in a URL.
    static func text(host: String, port: UInt16) -> String {
        guard host.contains(":") else { return "\(host):\(port)" }
        return "[\(host)]:\(port)"
    }

    /// Parses `127.0.0.1:8216` or `[::1]:8216`. Throws for names and for addresses that other machines can reach.
    init(_ text: String) throws(Refusal) {
        let wanted = "an address of this machine with a port, such as 127.0.0.1:8216 or [::1]:8216"
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Refusal("\"\(text)\" is not \(wanted)")
        }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed {
            host = String(host.dropFirst().dropLast())
        }
        var address = [UInt8](repeating: 0, count: 16)
        let family = isBracketed ? AF_INET6 : AF_INET
        guard inet_pton(family, host, &address) == 1 else { throw Refusal("\"\(text)\" is not \(wanted)") }
        var isLoopback = address[0] == 127
        if isBracketed {
            isLoopback = address == Self.loopback6
        }
        guard isLoopback else {
            throw Refusal("other machines could reach \(text); Weir listens on loopback addresses only")
        }
        self.init(host: host, port: port)
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    package var description: String { Self.text(host: host, port: port) }
}

/// A wish for an address of this machine on the network: the address, an interface that has it, or `auto`; optionally
/// with a port.
package struct NetworkAddress: Equatable, Sendable {
    /// The literal address without brackets, the name of an interface, or `auto`.
    package let host: String
    /// The port; nil for the daemon's own port.
    package let port: UInt16?
    /// True if `host` is an address. The others are looked up, and their addresses may change.
    package let isLiteral: Bool

    private static let automatic = "auto"

    /// Parses `192.168.1.5`, `192.168.1.5:8216`, `fd00::5`, `[fd00::5]:8216`, `eth0`, `eth0:8216` or `auto`. Throws for
    /// wildcard addresses.
    init(_ text: String) throws(Refusal) {
        let wanted = "one address of this machine, such as 192.168.1.5 or 192.168.1.5:8216, an interface, or auto"
        var host = text
        var port = UInt16?.none
        if let end = text.lastIndex(of: "]"), text.hasPrefix("[") {
            host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.hasPrefix(":") {
                port = UInt16(rest.dropFirst())
            }
            guard rest.isEmpty || port != nil else { throw Refusal("\"\(text)\" is not \(wanted)") }
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            host = String(text[..<colon])
            port = UInt16(text[text.index(after: colon)...])
            guard port != nil else { throw Refusal("\"\(text)\" is not \(wanted)") }
        }
        self.host = host
        self.port = port
        if Self.isInterface(host) {
            isLiteral = false
            return
        }

        isLiteral = true
        var address = [UInt8](repeating: 0, count: 16)
        let isIPv6 = host.contains(":")
        let family = isIPv6 ? AF_INET6 : AF_INET
        guard inet_pton(family, host, &address) == 1 else {
            throw Refusal("\"\(text)\" is not \(wanted)")
        }
        let isMulticast = isIPv6 ? address[0] == 0xff : address[0] >= 224
        guard address.contains(where: { $0 != 0 }), !isMulticast else { throw Refusal("\(text) is not \(wanted)") }
    }

    /// True for `auto`, for an interface of this machine, and for a name such as `wg0` or `eth0.12` of one that may come.
    /// `localhost` and `nas.lan` are none.
    private static func isInterface(_ host: String) -> Bool {
        if host == automatic || if_nametoindex(host) != 0 {
            return true
        }
        return host.utf8.count < Int(IFNAMSIZ)
            && host.wholeMatch(of: /[A-Za-z][A-Za-z_-]*[0-9][0-9A-Za-z_-]*(\.[0-9]+)?/) != nil
    }

    /// The literal address that is meant now; nil if there is none.
    func literal(on machine: MachineAddresses) -> String? {
        if isLiteral {
            return host
        }
        if host == Self.automatic {
            return machine.best
        }
        return machine.best(ofInterface: host)
    }
}
