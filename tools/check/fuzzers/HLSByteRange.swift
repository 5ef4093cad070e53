/// A byte range of a segment, a part or a section: a parsed range is within bounds, and stays equal when written with its offset.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let range = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard let parts = SubRange.parts(range, 0..<range.count) else { return 0 }
    precondition(parts.length >= 0 && parts.offset ?? 0 >= 0)
    guard let whole = SubRange(offset: parts.offset ?? 0, length: parts.length) else { return 0 }
    let text = Array(whole.description.utf8)
    let again = SubRange.parts(text, 0..<text.count)
    precondition(again?.length == whole.length && again?.offset == whole.offset && whole.end > whole.offset)
    return 0
}
