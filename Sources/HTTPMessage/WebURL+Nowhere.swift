/// URLs that stand where one has to, and lead nowhere.
extension WebURL {
    /// `invalid` is no host's name for ever (RFC 6761 §6.4).
    private static let nowhereHost = "imported.invalid"

    /// A URL that stands for no origin, with something in it that makes it one of its own: of letters, digits and `-`.
    public static func nowhere(_ word: String) throws(WebURLError) -> WebURL {
        try WebURL("http://\(nowhereHost)/\(word)/master.m3u8")
    }

    /// Whether it stands for no origin: nobody is asked for it, no name server either.
    public var isNowhere: Bool { host == Self.nowhereHost }
}
