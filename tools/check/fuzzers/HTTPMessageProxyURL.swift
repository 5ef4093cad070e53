// libFuzzer on the URLs of proxies. Compiled together with Sources/HTTPMessage/*.swift:
//   swiftc -sanitize=fuzzer,address -parse-as-library -O Sources/HTTPMessage/*.swift \
//     tools/check/fuzzers/HTTPMessageProxyURL.swift

/// Reads what libFuzzer made up and traps where a promise of `ProxyURL` does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProxyURL(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do {
        let proxy = try ProxyURL(text)
        // The record reads back as itself, and libcurl takes C texts.
        let again = try ProxyURL(proxy.text)
        precondition(again == proxy)
        precondition(!proxy.host.isEmpty && proxy.port > 0)
        precondition(!(proxy.host + (proxy.user ?? "") + (proxy.password ?? "")).utf8.contains(0))
        precondition(proxy.host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x40 && $0 != 0x2F })
        if let password = proxy.password, password.utf8.count > 8 {
            precondition(!proxy.description.utf8.elementsEqual(password.utf8))
        }
    } catch {
        precondition(text.utf8.count < 16 || !error.description.contains(text))
    }
    return 0
}
