extension CMCD {
    private static let parameter = "CMCD"

    /// Removes the CMCD parameter from a query, so that client data neither reaches an origin nor changes a resource's
    /// URL.
    ///
    /// - Returns: nil when nothing else is left; the query unchanged when it has no CMCD parameter.
    public static func removed(from query: String?) -> String? {
        guard let query, mayHold(query.utf8) else { return query }
        let all = query.split(separator: "&", omittingEmptySubsequences: false)
        let rest = all.filter { !isOurs($0) }
        if rest.count == all.count { return query }
        return rest.isEmpty ? nil : rest.joined(separator: "&")
    }

    /// The decoded CMCD parameter of a query; nil without one.
    static func value(inQuery query: Substring) -> String? {
        guard mayHold(query.utf8), let parameter = query.split(separator: "&").first(where: isOurs) else { return nil }
        guard let equals = parameter.firstIndex(of: "=") else { return nil }
        return PercentEncoding.decode(parameter[parameter.index(after: equals)...])
    }

    private static func isOurs(_ parameter: Substring) -> Bool {
        PercentEncoding.decode(parameter.prefix { $0 != "=" }) == Self.parameter
    }

    /// A cheap test that avoids splitting most queries. The name may be percent-encoded, hence the `%`.
    private static func mayHold(_ query: some Collection<UInt8>) -> Bool {
        query.contains { $0 == UInt8(ascii: "C") || $0 == UInt8(ascii: "%") }
    }
}

extension RequestHead {
    /// The CMCD that the player sent; nil without any. Costs a look at the length of each field name in that case.
    public var clientData: CMCD? { mayHoldClientData ? foundClientData : nil }

    /// Makes no copy and no reference count: each request for a stored piece passes here.
    private var mayHoldClientData: Bool {
        for field in fields where (11...12).contains(field.nameEnd - field.nameStart) { return true }
        return bytes.withUnsafeBytes { $0[targetRange].contains(UInt8(ascii: "?")) }
    }

    private var foundClientData: CMCD? {
        var data: CMCD?
        for field in fields where Self.namesClientData(bytes[field.name]) {
            data = data ?? CMCD()
            data?.read(bytes[field.value])
        }
        if let query = queryBytes, let text = CMCD.value(inQuery: Substring(decoding: query, as: UTF8.self)) {
            data = data ?? CMCD()
            data?.read(text.utf8)
        }
        return data
    }

    private static func namesClientData(_ name: ArraySlice<UInt8>) -> Bool {
        let isNamed = { ByteClass.equals(name, ignoringCase: $0) }
        return switch name.count {
        case 11: isNamed("cmcd-status") || isNamed("cmcd-object")
        case 12: isNamed("cmcd-request") || isNamed("cmcd-session")
        default: false
        }
    }
}
