/// Values of a parsed list can be read as any type, and an edited list has the expected attributes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let list = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let prefix = Array("#EXTM3U\n#EXT-X-MEDIA:".utf8)
    guard let text = try? PlaylistText(prefix + list), text.lineCount == 2,
        let attributes = try? text.attributes(1)
    else {
        _ = try? AttributeList(list)
        return 0
    }
    for name in attributes.names {
        _ = attributes.flag(name)
        _ = try? attributes.decimalInteger(name)
        _ = try? attributes.duration(name)
        _ = try? attributes.ratio(name)
        _ = attributes.timeOffset(name)
        _ = try? attributes.hexadecimal(name)
        _ = try? attributes.resolution(name)
        _ = try? attributes.subRange(name).map { $0.end }
        check(text, attributes, removing: name)
    }
    return 0
}

private func check(_ text: PlaylistText, _ attributes: AttributeList, removing name: String) {
    guard attributes.fault == nil, attributes.names.count > 1, name != "ADDED" else { return }
    var edits = AttributeEdits()
    edits.set(name, .removed)
    edits.set("ADDED", .quoted("a,b"))
    var writer = TextWriter(text)
    guard (try? edits.apply(to: attributes, &writer)) != nil,
        let edited = try? PlaylistText(writer.finished()), let result = try? edited.attributes(1)
    else {
        let isLong = attributes.names.count >= 128 || text.bytes.count > 16_000
        precondition(isLong, "the edited list cannot be parsed")
        return
    }
    precondition(result["ADDED"] == "a,b", "the added attribute is lost")
    let expected = attributes.names.filter { $0 != name && $0 != "ADDED" }
    precondition(result.names.filter { $0 != "ADDED" } == expected, "names differ after an edit")
    for kept in expected { precondition(result[kept] == attributes[kept], "a value differs after an edit") }
}
