/// A parsed text is written back unchanged, and its lines cover it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    var small = PlaylistLimits.standard
    small.lines = 64
    small.lineBytes = 512
    _ = try? PlaylistText(bytes, limits: small)
    guard let text = try? PlaylistText(bytes) else { return 0 }
    precondition(text.write() == bytes, "the text is not written back")
    var end = text.hasByteOrderMark ? 3 : 0
    for line in 0..<text.lineCount {
        let extent = text.extent(line)
        precondition(extent.lowerBound == end, "a gap between lines")
        precondition(text.value(line).upperBound <= extent.upperBound, "a value beyond its line")
        end = extent.upperBound
    }
    precondition(end == text.bytes.count, "the lines do not cover the text")
    precondition(text.isChanged || text.bytes == bytes, "a text without mends differs")
    precondition(TextWriter(text).finished()[...] == text.bytes[(text.hasByteOrderMark ? 3 : 0)...], "a copy differs")
    return 0
}
