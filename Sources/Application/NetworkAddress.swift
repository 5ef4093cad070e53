internal import Glibc

/// An address of this machine on the network, optionally with a port.
public struct NetworkAddress: Equatable, Sendable {
    /// The literal address, without brackets.
    public let host: String
    /// The port; nil for the daemon's own port.
    public let port: UInt16?

    /// Parses `192.168.1.5`, `192.168.1.5:8216`, `fd00::5` or `[fd00::5]:8216`.
    ///
    /// - Throws: `Refusal` for names, and for wildcard addresses: the user has to choose one address.
    init(_ text: String) throws(Refusal) {
        let wanted = "one address of this machine, such as 192.168.1.5 or 192.168.1.5:8216"
        var (host, port) = (text, UInt16?.none)
        if let end = text.lastIndex(of: "]"), text.hasPrefix("[") {
            host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            port = rest.hasPrefix(":") ? UInt16(rest.dropFirst()) : nil
            guard rest.isEmpty || port != nil else { throw Refusal("\"\(text)\" is not \(wanted)") }
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            host = String(text[..<colon])
            port = UInt16(text[text.index(after: colon)...])
            guard port != nil else { throw Refusal("\"\(text)\" is not \(wanted)") }
        }
        var address = [UInt8](repeating: 0, count: 16)
        let isIPv6 = host.contains(":")
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, host, &address) == 1 else {
            throw Refusal("\"\(text)\" is not \(wanted)")
        }
        let isMulticast = isIPv6 ? address[0] == 0xff : address[0] >= 224
        guard address.contains(where: { $0 != 0 }), !isMulticast else {
            throw Refusal("\(text) is not \(wanted)")
        }
        (self.host, self.port) = (host, port)
    }
}
