/// Playlists with the byte ranges of an input's lines: a view keeps them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let values = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map(Array.init)
    checkSegments(values)
    checkParts(values)
    return 0
}

private func checkSegments(_ ranges: [[UInt8]]) {
    var text = Array("#EXTM3U\n#EXT-X-MAP:URI=\"a\",BYTERANGE=\"".utf8) + (ranges.last ?? []) + Array("\"\n".utf8)
    for range in ranges { text += Array("#EXT-X-BYTERANGE:".utf8) + range + Array("\n#EXTINF:1,\na\n".utf8) }
    // A view with all segments cannot be made of a delta update.
    guard case .media(let playlist)? = try? Playlist.parse(text), !playlist.isDeltaUpdate else { return }
    let view = MediaPlaylistView(keepsLowLatency: true, keepsByteRanges: true, isFinished: false)
    guard let output = try? playlist.rendered(view, naming: { _ in "b" }),
        case .media(let reread)? = try? Playlist.parse(output)
    else { preconditionFailure("the view with byte ranges cannot be parsed") }
    precondition(reread.segments.map(\.byteRange) == playlist.segments.map(\.byteRange), "a byte range changed")
    // All sections get one name.
    precondition(
        playlist.maps.count > 1 || reread.maps.map(\.byteRange) == playlist.maps.map(\.byteRange),
        "a section's byte range changed")
    for segment in playlist.segments { precondition(segment.byteRange.map { $0.end > $0.offset } ?? true) }
}

private func checkParts(_ ranges: [[UInt8]]) {
    var text = Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n".utf8)
    for range in ranges {
        text += Array("#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"".utf8) + range + Array("\"\n".utf8)
    }
    guard case .media(let playlist)? = try? Playlist.parse(text), !playlist.parts.isEmpty, !playlist.isDeltaUpdate
    else { return }
    for odd in 0...1 {
        let output = try? playlist.rendered { reference in
            if case .part(let part) = reference, part.index % 2 == odd { return "b" }
            return nil
        }
        guard let output, case .media(let reread)? = try? Playlist.parse(output) else {
            preconditionFailure("the view with parts cannot be parsed")
        }
        for (part, old) in zip(reread.parts, playlist.parts) {
            precondition(part.byteRange == (old.index % 2 == odd ? nil : old.byteRange), "a part's byte range changed")
        }
    }
}
