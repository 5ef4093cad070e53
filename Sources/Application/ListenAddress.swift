internal import Glibc

/// A literal loopback address and a port on which the daemon listens.
public struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// The address: `127.…` or `::1`, without brackets.
    public let host: String
    /// The port; 0 for any free one.
    public let port: UInt16

    /// The default port, after RFC 8216.
    public static let standardPort: UInt16 = 8216
    /// The default address.
    public static let standard = [
        ListenAddress(host: "127.0.0.1", port: standardPort), ListenAddress(host: "::1", port: standardPort),
    ]

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `127.0.0.1:8216` or `[::1]:8216`.
    ///
    /// - Throws: `Refusal` for names, addresses that other machines can reach, and invalid ports.
    init(_ text: String) throws(Refusal) {
        let wanted = "an address of this machine with a port, such as 127.0.0.1:8216 or [::1]:8216"
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Refusal("\"\(text)\" is not \(wanted)")
        }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        var address = [UInt8](repeating: 0, count: 16)
        let family = isBracketed ? AF_INET6 : AF_INET
        guard inet_pton(family, host, &address) == 1 else { throw Refusal("\"\(text)\" is not \(wanted)") }
        let isLoopback = isBracketed ? address == Self.loopback6 : address[0] == 127
        guard isLoopback else {
            throw Refusal("others on the network could reach \(text); Weir listens on loopback addresses alone")
        }
        self.init(host: host, port: port)
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    /// The text form, which `init(_:)` parses.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
