/// Feeds bytes to the request head parser whole, and again in two portions: both must agree, in the head and in the
/// refusal, and a head's parts must lie within it.
///
/// Compiled as one module with Sources/HTTPMessage.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestHead(_ start: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: size)
    var whole = RequestHeadParser()
    let head = try? whole.parse(bytes)
    let cut = size == 0 ? 0 : Int(bytes[size - 1]) % size
    var portioned = RequestHeadParser()
    do {
        let early = try portioned.parse(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
        let late = try early ?? portioned.parse(bytes)
        precondition(late?.byteCount == head?.byteCount && late?.target == head?.target, "portions change the head")
    } catch {
        precondition(head == nil, "portions change a head into a refusal")
    }
    guard let head else { return 0 }
    precondition(head.byteCount <= size && head.fieldCount <= 64 && !head.hostBytes.isEmpty)
    for index in 0..<head.fieldCount {
        let (name, value) = head.fieldLine(at: index)
        precondition(!name.isEmpty && !value.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D })
    }
    _ = (head.path, head.query, head[.range], head.keepsConnection)
    return 0
}
