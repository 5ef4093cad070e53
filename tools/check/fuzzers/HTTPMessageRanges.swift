/// Feeds bytes to the parsers of single field values: what they accept must lie within bounds, and what can be written
/// must read back as the same.
///
/// Compiled as one module with Sources/HTTPMessage.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRanges(_ start: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: size)
    let text = String(decoding: bytes, as: UTF8.self)
    let representation = Int64(size) * 7
    if let range = ByteRange(bytes)?.resolved(size: representation) {
        precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= representation)
    }
    if let range = ContentRange(text) { precondition(ContentRange(range.description) == range) }
    if let tag = EntityTag(fieldValue: bytes) { precondition(EntityTag(fieldValue: tag.description.utf8) == tag) }
    if let date = HTTPDate(bytes) { precondition(HTTPDate(date.description) == date) }
    if let line = FieldLine(bytes) { precondition(!line.name.isEmpty && !line.value.utf8.contains { $0 == 0x0A }) }
    _ = RetryAfter(text)?.delay(from: HTTPDate(secondsSinceEpoch: 0))
    _ = EntityTag("a")?.isNamed(inList: bytes)
    var head = ResponseHead(.ok)
    try? head.append(.location, text)
    precondition(head.fieldBytes.count { $0 == 0x0A } <= 1, "a value has ended its line")
    return 0
}
