// sources: Sources/Sharing/Export/JoinedSubtitles.swift
/// Joined subtitles are one WebVTT file, in which no cue comes twice, however many lines are added at a time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    for segment in [bytes, Array("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:".utf8) + bytes] {
        precondition(JoinedSubtitles.offset(of: segment).isFinite, "an offset that is no number")
        var whole = JoinedSubtitles(start: 1.4)
        whole.add(segment)
        let once = whole.text
        precondition(once.starts(with: "WEBVTT\n".utf8) && once.last == UInt8(ascii: "\n"))
        precondition(String(validating: once, as: UTF8.self) != nil, "invalid text")
        whole.add(segment)
        precondition(whole.text == once, "a cue that came twice")
        var slices = JoinedSubtitles(start: 1.4)
        slices.begin(segment)
        while slices.addNext(1) {}
        precondition(slices.text == once, "slices that make another text")
    }
    return 0
}
