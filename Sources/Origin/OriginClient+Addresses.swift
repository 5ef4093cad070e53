extension OriginClient {
    /// Whether a literal address, one of IPv6 without brackets, is the Internet's at large rather than of some machine, link
    /// or home; nil for what is no address.
    public nonisolated static func isPublic(_ literal: String) -> Bool? {
        SocketAddress(literal: literal, port: 0)?.isPublic
    }
}
