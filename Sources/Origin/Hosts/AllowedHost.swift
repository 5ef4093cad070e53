import Glibc
import HTTPMessage

/// An entry of `allow-hosts`, or of `no_proxy`: a name, an address or a network, with a port or without.
public struct AllowedHost: Hashable, Sendable, CustomStringConvertible {
    private enum Target: Hashable {
        case name(String)
        /// A name and all names below it.
        case domain(String)
        case network(SocketAddress, bits: Int)
    }

    private let target: Target
    private let port: UInt16?
    /// The text from which it was made.
    public let description: String

    /// Parses `nas.local`, `*.example.com`, `10.0.0.5:8096`, `192.168.0.0/16`, `fd00::/8` or `[fd00::5]:8096`.
    public init(_ text: String) throws(RouteRefusal) { try self.init(text, coversSubdomains: false) }

    /// - Parameter coversSubdomains: true if a name stands for the names below it too.
    init(_ text: String, coversSubdomains: Bool) throws(RouteRefusal) {
        description = text
        guard let (host, port) = Self.split(text) else { throw Self.refusal(text) }
        self.port = port
        if let network = Self.network(host) {
            target = network
            return
        }
        var base = host
        if host.hasPrefix("*.") {
            base = host.dropFirst(2)
        } else if host.hasPrefix(".") {
            base = host.dropFirst()
        }
        guard base.utf8.count <= Self.longestName, let name = InternationalName.ascii(base) else {
            throw Self.refusal(text)
        }
        if coversSubdomains || base.utf8.count < host.utf8.count {
            target = .domain(name)
        } else {
            target = .name(name)
        }
    }

    /// Bounds the work on a name, in bytes of UTF-8.
    private static let longestName = 1024

    private static func refusal(_ text: String) -> RouteRefusal {
        RouteRefusal(
            "\"\(text)\" is not a host to allow: give a name, an address or a network such as 192.168.0.0/16, "
                + "with a port or without")
    }

    private static func split(_ text: String) -> (host: Substring, port: UInt16?)? {
        var host = text[...]
        var tail = ""[...]

        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[..<end].dropFirst()
            tail = text[end...].dropFirst()
            // A network's size may be inside the brackets or behind them.
            var size = ""[...]
            if tail.hasPrefix("/") {
                size = tail.prefix { $0 != ":" }
            }
            tail = tail.dropFirst(size.count)
            host = Substring(String(host) + size)
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            tail = text[colon...]
        }

        if tail.isEmpty {
            return (host, nil)
        }
        guard tail.first == ":", tail.utf8.dropFirst().allSatisfy(\.isDigitByte), let port = UInt16(tail.dropFirst()),
            port > 0
        else { return nil }
        return (host, port)
    }

    private static func network(_ text: Substring) -> Target? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = SocketAddress(literal: String(parts[0]), port: 0) else { return nil }
        let most = address.bytes.count * 8
        guard parts.count > 1 else { return .network(address, bits: most) }
        guard parts[1].utf8.allSatisfy(\.isDigitByte), let bits = Int(parts[1]), bits <= most else { return nil }
        return .network(address, bits: bits)
    }

    /// True if a connection to a host at an address is meant. `address` is nil if only the name is known.
    func matches(host: String, port: UInt16, address: SocketAddress?) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch target {
        case .name(let name): return host == name
        case .domain(let name): return host == name || host.hasSuffix("." + name)
        case .network(let network, let bits):
            guard let address else { return false }
            let embedded = address.embeddedIPv4 ?? []
            return network.hasPrefix(of: address.bytes, bits: bits) || network.hasPrefix(of: embedded, bits: bits)
        }
    }
}

extension UInt8 {
    var isDigitByte: Bool { (0x30...0x39).contains(self) }
}

extension SocketAddress {
    /// True if another address begins with the same bits.
    fileprivate func hasPrefix(of other: [UInt8], bits: Int) -> Bool {
        guard bytes.count == other.count else { return false }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard bytes.prefix(whole) == other.prefix(whole) else { return false }
        return rest == 0 || (bytes[whole] ^ other[whole]) >> (8 - rest) == 0
    }
}
