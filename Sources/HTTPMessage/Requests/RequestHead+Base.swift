extension RequestHead {
    private static var forwardedProto: FieldName { FieldName("X-Forwarded-Proto") }
    private static var forwardedHost: FieldName { FieldName("X-Forwarded-Host") }

    /// The scheme and the authority of the URLs by which the client reaches this server, such as `https://tv.example`.
    ///
    /// A reverse proxy gives its own in X-Forwarded-Proto and X-Forwarded-Host, each a list with the client's side first. Anybody
    /// can send these: use the result in nothing but the reply to the same request.
    public var base: String {
        let isSecure = forwarded(Self.forwardedProto)?.lowercased() == "https"
        let scheme = isSecure ? "https://" : "http://"
        if let host = forwarded(Self.forwardedHost), Self.isAuthority(host) {
            return scheme + host
        }
        return scheme + String(decoding: hostBytes, as: UTF8.self)
    }

    private func forwarded(_ name: FieldName) -> String? {
        guard let value = firstValue(of: name) else { return nil }
        return String(decoding: value.prefix { $0 != ByteClass.comma && !ByteClass.isBlank($0) }, as: UTF8.self)
    }

    /// True for what a Host field has: nothing that ends an attribute of a playlist, a line or a path.
    private static func isAuthority(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                ByteClass.isDigit($0) || ByteClass.lowercased($0) &- 0x61 < 26 || "-._:[]".utf8.contains($0)
            }
    }
}
