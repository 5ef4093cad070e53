/// The first line is a base, the rest a reference and a Location: a URL reads back as itself, and no Location leads from the web to
/// a handler.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebURL(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let lines = UnsafeBufferPointer(start: start, count: count).split(separator: 0x0A, maxSplits: 1)
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    guard let first = texts.first, let base = try? WebURL(first) else { return 0 }
    check(base)
    guard texts.count > 1 else { return 0 }
    if let resolved = try? base.resolving(texts[1]) { check(resolved) }
    if !base.needsHandler, let target = try? base.resolving(redirect: texts[1]) {
        check(target)
        precondition(!target.needsHandler && target.text.hasPrefix("http"))
        // Browsers take a backslash of a path for a slash, too.
        let bytes = texts[1].utf8
        if bytes.first == UInt8(ascii: "/"), bytes.dropFirst().first.map({ !"/\\".utf8.contains($0) }) ?? true {
            precondition(target.origin == base.origin, "a path leads to another origin")
        }
    }
    return 0
}

/// A URL reads back as itself and holds nothing that could break a request line or a quoted attribute.
private func check(_ url: WebURL) {
    precondition((try? WebURL(url.text)) == url)
    precondition((try? url.resolving("")) == url)
    precondition((try? url.resolving(url.text)) == url)
    precondition(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
    precondition(url.path.utf8.first == UInt8(ascii: "/") || url.path.isEmpty && url.needsHandler)
    precondition(
        url.needsHandler || !url.redacted.utf8.contains(UInt8(ascii: "@")) || url.path.utf8.contains(UInt8(ascii: "@")))
}
