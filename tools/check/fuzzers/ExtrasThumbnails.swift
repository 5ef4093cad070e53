// sources: Sources/Extras/ThumbnailTrack.swift
/// Thumbnails name files beside theirs alone, and their playlist and times are written for any numbers; the head of any picture is read
/// within its bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let heads: [[UInt8]] = [
        [], [0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("RIFF\0\0\0\0WEBPVP8".utf8),
    ]
    for head in heads {
        guard let picture = Artwork(head + bytes), let size = PictureSize.of(picture) else { continue }
        precondition(
            (0...1 << 32).contains(size.width) && (0...1 << 32).contains(size.height), "a size from beyond its field")
    }
    let cue = Array("WEBVTT\n\n00:01.000 --> 00:02.000\n".utf8)
    for text in [bytes, cue + bytes, cue + Array("s.jpg#xywh=".utf8) + bytes] {
        guard let file = try? CueFile(text), let track = try? ThumbnailTrack(file) else { continue }
        precondition(track.names.allSatisfy { !$0.contains("/") && !$0.hasPrefix(".") }, "a file of another folder")
        precondition(track.count == file.cues.count && track.names.count <= track.count)
        precondition(track.playlist { "\($0).jpg" }.starts(with: "#EXTM3U".utf8))
        let times = track.webVTT { "\($0).jpg" }
        guard let again = try? ThumbnailTrack(CueFile(times)) else { preconditionFailure("times that cannot be read") }
        precondition(again.count == track.count)
    }
    return 0
}
