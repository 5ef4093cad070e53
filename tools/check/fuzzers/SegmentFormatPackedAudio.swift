/// Packed audio that is read can stand where it stands itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    do throws(SegmentFormatError) {
        let audio = try PackedAudio(ByteSource(bytes))
        precondition(audio.firstTime < 1 << 33, "a time beyond its clock")
        precondition(audio.mismatch(inPlaceOf: audio) == nil && !"\(audio.frames)".isEmpty)
        // What is behind the first frame's header is nobody's business.
        let again = try PackedAudio(ByteSource(bytes + [0]))
        precondition(again == audio, "a byte at the end makes another of it")
    } catch {
        precondition((error.offset ?? 0) <= count, "an error that is nowhere")
    }
    return 0
}
