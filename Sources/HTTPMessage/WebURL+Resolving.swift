extension WebURL {
    /// Resolves `reference` against this URL (RFC 3986 §5.2, strict).
    ///
    /// Leading and trailing blanks are ignored and inner spaces become `%20`: playlists in the field contain both.
    /// - Throws: `WebURLError` when the result is neither http nor https, or is malformed.
    public func resolving(_ reference: String) throws(WebURLError) -> WebURL {
        let text = Self.trimming(reference.utf8[...])
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .forbiddenCharacter }
        if Self.splitScheme(text) != nil { return try WebURL(absolute: text) }
        if text.starts(with: "//".utf8) {
            return try WebURL(absolute: "\(scheme.rawValue):\(Substring(text))"[...].utf8)
        }
        let (path, query) = Self.splitPath(text)
        let encodedQuery = query.map(Self.encoding)
        guard !path.isEmpty else {
            return WebURL(origin: origin, path: self.path, query: encodedQuery ?? self.query)
        }
        let encoded = Self.encoding(path)
        let merged = encoded.utf8.first == UInt8(ascii: "/") ? encoded : directory + encoded
        return WebURL(origin: origin, path: Self.removingDotSegments(merged), query: encodedQuery)
    }

    /// The path through its last slash.
    private var directory: Substring {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
        return path[..<(end ?? path.startIndex)]
    }

    private static func trimming(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = text.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }
        return end.map { start[...$0] } ?? start.prefix(0)
    }

    /// RFC 3986 §5.2.4, for a path that begins with a slash.
    static func removingDotSegments(_ path: String) -> String {
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.contains(where: { isDots($0) }) else { return path }
        var kept: [Substring] = []
        for segment in segments {
            if segment.count == 2, isDots(segment) { _ = kept.popLast() }
            if !isDots(segment) { kept.append(Substring(segment)) }
        }
        // A path that ends in a dot segment names a folder.
        if let last = segments.last, isDots(last) { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }

    private static func isDots(_ segment: Substring.UTF8View) -> Bool {
        (1...2).contains(segment.count) && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
