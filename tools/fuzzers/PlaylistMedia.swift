/// A media playlist that is read can be rendered in every view, and each view reads back as was meant.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard case .media(let playlist)? = try? Playlist.parse(bytes) else { return 0 }
    touch(playlist)
    checkUntouched(playlist, bytes)
    checkStored(playlist)
    checkInjection(playlist, bytes)
    return 0
}

private func touch(_ playlist: MediaPlaylist) {
    var number = playlist.mediaSequence
    for segment in playlist.segments {
        precondition(segment.mediaSequenceNumber >= number, "media sequence numbers do not grow")
        number = segment.mediaSequenceNumber
        _ = (segment.title, segment.durationText, segment.programDateTime, segment.byteRange?.end)
        for key in segment.keys { precondition(playlist.keys[key.index].uri == key.uri, "a key's index is wrong") }
        if let map = segment.map { precondition(playlist.maps[map.index].uri == map.uri, "a map's index is wrong") }
    }
    for key in playlist.keys { _ = (key.initializationVector, key.isFetchable, key.needsDRM) }
}

private func checkUntouched(_ playlist: MediaPlaylist, _ bytes: [UInt8]) {
    if playlist.isLowLatency && playlist.hasEndList { return }
    guard let output = try? playlist.rendered(.relay, naming: { _ in nil }) else {
        preconditionFailure("no relay view")
    }
    let body = bytes[(playlist.text.hasByteOrderMark ? 3 : 0)...]
    precondition(output[...] == body, "an untouched view differs")
}

private func checkStored(_ playlist: MediaPlaylist) {
    let output = try? playlist.rendered(.stored) { reference in
        switch reference {
        case .segment(let segment): "/\(segment.index).ts"
        case .map(let map): "/init-\(map.index).mp4"
        case .key(let key): "/\(key.index).key"
        case .part, .preloadHint, .renditionReport: preconditionFailure("low latency in a stored view")
        }
    }
    guard let output else {
        precondition(playlist.isDeltaUpdate, "no stored view")
        return
    }
    guard case .media(let stored)? = try? Playlist.parse(output) else {
        preconditionFailure("a stored view cannot be read")
    }
    precondition(stored.hasEndList && stored.playlistType == .vod && !stored.isLowLatency, "a stored view is not one")
    precondition(stored.segments.count == playlist.segments.count && stored.duration == playlist.duration)
    for (segment, original) in zip(stored.segments, playlist.segments) {
        precondition(segment.uri == "/\(original.index).ts" && segment.byteRange == nil, "a segment is not renamed")
        precondition(segment.title == original.title && segment.keys.count == original.keys.count)
        precondition(segment.map?.uri == original.map.map { "/init-\($0.index).mp4" }, "a map is not renamed")
    }
}

/// Half of the names are bytes of the input: either they are refused, or the structure stays what it was.
private func checkInjection(_ playlist: MediaPlaylist, _ bytes: [UInt8]) {
    let evil = String(decoding: bytes.suffix(12), as: UTF8.self)
    let output = try? playlist.rendered(.plain) { reference in
        switch reference {
        case .segment(let segment): segment.index % 2 == 0 ? evil : nil
        case .map, .key: evil
        case .part, .preloadHint, .renditionReport: nil
        }
    }
    guard let output else { return }
    guard case .media(let reread)? = try? Playlist.parse(output) else {
        preconditionFailure("a view with odd names cannot be read")
    }
    precondition(reread.segments.count == playlist.segments.count, "a name changed the structure")
    for (segment, original) in zip(reread.segments, playlist.segments) {
        precondition(segment.uri == (original.index % 2 == 0 ? evil : original.uri), "a name is not what was given")
        let range = original.index % 2 == 0 ? nil : original.byteRange
        precondition(segment.byteRange == range, "a byte range changed")
    }
}
