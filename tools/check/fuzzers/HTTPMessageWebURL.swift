// libFuzzer on WebURL: the first line is a base, the rest a reference. Compiled together with Sources/HTTPMessage/*.swift:
//   swiftc -sanitize=fuzzer,address -parse-as-library -O Sources/HTTPMessage/*.swift tools/check/fuzzers/HTTPMessageWebURL.swift

/// Reads what libFuzzer made up and traps where a promise of `WebURL` does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebURL(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let lines = UnsafeBufferPointer(start: start, count: count).split(separator: 0x0A, maxSplits: 1)
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    guard let first = texts.first, let base = try? WebURL(first) else { return 0 }
    check(base)
    if texts.count > 1, let resolved = try? base.resolving(texts[1]) { check(resolved) }
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
