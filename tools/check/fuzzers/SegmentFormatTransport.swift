/// A transport stream that is read can stand where it stands itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    do throws(SegmentFormatError) {
        let stream = try TransportStream(ByteSource(bytes))
        precondition(!stream.streams.isEmpty && Set(stream.streams.map(\.pid)).count == stream.streams.count)
        precondition(stream.streams.allSatisfy { ($0.firstTime ?? 0) < 1 << 33 }, "a time beyond its clock")
        let reason = stream.mismatch(inPlaceOf: stream)
        precondition(reason == nil || !reason!.contains("other streams"), "it has other streams than itself")
        let splice = stream.splice()
        let joined = splice.joined(with: bytes)
        precondition(joined.count == splice.count && (splice.count - count) % 188 == 0, "a packet is torn")
        if count % 188 == 0 {
            let again = try TransportStream(ByteSource(joined))
            precondition(
                again.streams.map(\.firstTime) == stream.streams.map(\.firstTime), "times are not what they were")
        }
    } catch {
        precondition((error.offset ?? 0) <= count, "an error that is nowhere")
    }
    return 0
}
