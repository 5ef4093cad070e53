/// A subtitle file is read or refused; what is read is written as WebVTT that reads as the same cues.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    // Half of the inputs begin like the one format, half are of the other, whatever libFuzzer finds first.
    for text in [bytes, Array("WEBVTT\n\n".utf8) + bytes, Array("1\n00:00:01,000 --> 00:00:02,000\n".utf8) + bytes] {
        guard let file = try? CueFile(text) else { continue }
        precondition(!file.cues.isEmpty && file.end >= 0)
        precondition(file.cues.allSatisfy { $0.start >= 0 && $0.end >= 0 }, "a time before the film")
        let written = file.webVTT(start: nil)
        guard let again = try? CueFile(written) else { preconditionFailure("WebVTT that cannot be read") }
        precondition(again.cues.map(\.start) == file.cues.map(\.start), "other times")
        precondition(again.webVTT(start: nil) == written, "a file that reads as another")
    }
    return 0
}
