/// A curl command, its words between NULs, has a URL and header fields that can be sent, and none of one request alone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    guard let command = try? CurlCommand(["curl"] + words) else { return 0 }
    precondition(!command.url.isEmpty)
    var names: Set<String> = []
    for text in command.fields {
        let field = FieldLine(text.utf8)
        precondition(field != nil && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a field that cannot be sent")
        let name = field?.name.lowercased() ?? ""
        precondition(
            name != "host" && name != "range" && names.insert(name).inserted, "a field that is left out, or twice")
    }
    return 0
}
