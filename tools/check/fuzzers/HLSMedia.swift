/// A parsed media playlist can be rendered in every view, and each view can be parsed with the expected content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard case .media(let playlist)? = try? Playlist.parse(bytes) else { return 0 }
    touch(playlist)
    checkUntouched(playlist)
    checkRewritten(playlist)
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

private func checkUntouched(_ playlist: MediaPlaylist) {
    if playlist.isLowLatency && playlist.hasEndList { return }
    if playlist.text.lines.contains(where: { $0.kind == .tag(.define) }) { return }
    guard let output = try? playlist.rendered(.relay, naming: { _ in nil }) else {
        preconditionFailure("no relay view")
    }
    let body = playlist.text.bytes[(playlist.text.hasByteOrderMark ? 3 : 0)...]
    precondition(output[...] == body, "an untouched view differs")
    // A version that is mended may be one from which undefined variables are errors.
    if String(decoding: body, as: UTF8.self).contains("{$") { return }
    guard let again = try? Playlist.parse(playlist.text.bytes) else {
        return precondition(playlist.segments.isEmpty, "a mended text is refused")
    }
    // A text that ended within a line may be a finished one without that line.
    precondition(again.text.bytes.starts(with: playlist.text.bytes), "a mended text is mended again")
}

/// Each reference is requested once, and its new name replaces the old one.
private func checkRewritten(_ playlist: MediaPlaylist) {
    // A variable's value may look like a reference, which is undefined once the definitions are omitted.
    let hasVariables = playlist.text.lines.contains { $0.kind == .tag(.define) }
    guard playlist.isLive, !hasVariables else { return }
    var requested = 0
    let output = try? playlist.rendered(.relay) { _ in
        requested += 1
        return "/\(requested)"
    }
    guard let output, case .media(let reread)? = try? Playlist.parse(output) else {
        return precondition(output != nil && playlist.segments.isEmpty, "the renamed playlist cannot be parsed")
    }
    precondition(reread.parts.count == playlist.parts.count && reread.parts.allSatisfy { $0.uri.hasPrefix("/") })
    precondition(reread.preloadHints.map(\.kind) == playlist.preloadHints.map(\.kind), "hints differ")
    precondition(reread.renditionReports.map(\.lastPart) == playlist.renditionReports.map(\.lastPart), "reports differ")
    precondition(reread.segments.map(\.mediaSequenceNumber) == playlist.segments.map(\.mediaSequenceNumber))
    precondition(reread.dateRanges.map(\.id) == playlist.dateRanges.map(\.id), "date ranges differ")
    let references =
        playlist.segments.count + playlist.storage.mapRecords.count + playlist.parts.count + playlist.preloadHints.count
        + playlist.renditionReports.count + playlist.dateRanges.count { $0.assetURI != nil }
        + playlist.dateRanges.count { $0.assetList != nil }
        + playlist.storage.keyOccurrences.count { playlist.storage.keyRecords[Int($0)].method != .none }
    precondition(requested == references, "a reference is omitted or requested twice")
}

private func checkStored(_ playlist: MediaPlaylist) {
    let output = try? playlist.rendered(.bundle) { reference in
        switch reference {
        case .segment(let segment): "\(segment.index).ts"
        case .map(let map): "init-\(map.index).mp4"
        case .key(let key): "\(key.index).key"
        case .assetURI, .assetList: nil
        case .part, .preloadHint, .renditionReport: preconditionFailure("low latency in a stored view")
        }
    }
    guard let output else {
        precondition(playlist.isDeltaUpdate, "no stored view")
        return
    }
    guard case .media(let stored)? = try? Playlist.parse(output) else {
        preconditionFailure("the stored view cannot be parsed")
    }
    precondition(
        stored.hasEndList && stored.playlistType == .vod && !stored.isLowLatency,
        "the stored view has not ended or has low-latency tags")
    precondition(!stored.dateRanges.contains(where: \.isInterstitial), "an interstitial is left")
    let kept = playlist.segments.filter { !$0.isGap }
    precondition(stored.segments.map(\.uri) == kept.map { "\($0.index).ts" }, "segments differ")
    for (segment, original) in zip(stored.segments, kept) { compare(segment, original) }
}

private func compare(_ segment: Segment, _ original: Segment) {
    precondition(segment.byteRange == nil && segment.title == original.title && !segment.isGap)
    precondition(segment.map?.uri == original.map.map { "init-\($0.index).mp4" }, "a map is not renamed")
    precondition(segment.keys.count == original.keys.count)
    for key in original.keys where key.keyFormat == "identity" && (key.method == .aes128 || key.method == .sampleAES) {
        guard let same = segment.keys.first(where: { $0.keyFormat == "identity" }) else {
            preconditionFailure("a key is lost")
        }
        let number = same.initializationVector ?? vector(segment.mediaSequenceNumber)
        precondition(number == key.initializationVector ?? vector(original.mediaSequenceNumber), "a vector changed")
    }
}

private func vector(_ sequenceNumber: SequenceNumber) -> [UInt8] {
    let number = Int(sequenceNumber)
    return (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: number >> ((15 - $0) * 8)) }
}

/// Half of the names are bytes of the input. They are rejected, or the structure does not change.
private func checkInjection(_ playlist: MediaPlaylist, _ bytes: [UInt8]) {
    let hostile = String(decoding: bytes.suffix(12), as: UTF8.self)
    let output = try? playlist.rendered(.plain) { reference in
        switch reference {
        case .segment(let segment): segment.index % 2 == 0 ? hostile : nil
        case .map, .key: hostile
        case .part, .preloadHint, .renditionReport: nil
        case .assetURI, .assetList: hostile
        }
    }
    guard let output else { return }
    guard case .media(let reread)? = try? Playlist.parse(output) else {
        return precondition(playlist.segments.isEmpty, "the view with hostile names cannot be parsed")
    }
    precondition(reread.segments.count == playlist.segments.count, "a name changed the structure")
    for (segment, original) in zip(reread.segments, playlist.segments) {
        precondition(
            segment.uri == (original.index % 2 == 0 ? hostile : original.uri), "a name differs from the given one")
        let range = original.index % 2 == 0 ? nil : original.byteRange
        precondition(segment.byteRange == range, "a byte range changed")
    }
}
