// libFuzzer on cookie files in Netscape's format and on user names in URLs. Compiled together with Sources/HTTPMessage/*.swift:
//   swiftc -sanitize=fuzzer,address -parse-as-library -O Sources/HTTPMessage/*.swift \
//     tools/check/fuzzers/HTTPMessageCookieFile.swift

/// Reads what libFuzzer made up and traps where a promise of `StoredCookie` or `UserInformation` does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCookieFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for cookie in StoredCookie.all(in: bytes) {
        // One line of seven fields, which reads back as itself: nothing can add another cookie to the file.
        precondition(StoredCookie(cookie.line.utf8) == cookie)
        precondition(cookie.line.split(separator: "\t", omittingEmptySubsequences: false).count == 7)
        precondition(cookie.line.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 })
        precondition(cookie.matches(host: cookie.domain))
    }
    let split = UserInformation(splitting: String(decoding: bytes, as: UTF8.self))
    if let url = try? WebURL(split.url) { precondition(UserInformation(splitting: url.text).field == nil) }
    return 0
}
