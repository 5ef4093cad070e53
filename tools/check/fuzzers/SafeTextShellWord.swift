/// A line splits into words that, quoted, split into the same words.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    guard let words = ShellWord.split(text) else { return 0 }
    let quoted = words.map(ShellWord.quoted).joined(separator: " ")
    precondition(ShellWord.split(quoted) == words, "quoted words split into others")
    return 0
}
