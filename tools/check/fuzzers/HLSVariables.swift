/// The first line is the query of a playlist's URL, the second an imported value, the rest the text. After expansion,
/// lines keep their kinds and numbers, and no value adds a line, a quote or an attribute.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let parts = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return 0 }
    let imported = String(decoding: parts[1], as: UTF8.self)
    let sources = VariableSources(
        imports: ["a": imported, "b": "x", "": imported], query: String(decoding: parts[0], as: UTF8.self))
    let body = Array(parts[2])
    guard let playlist = try? Playlist.parse(body, variables: sources), let before = try? PlaylistText(body) else {
        return 0
    }
    let text = playlist.text
    precondition(text.write() == body, "the text is not written back")
    for (old, new) in zip(before.lines.indices, text.lines.indices) where !text.extent(new).isEmpty {
        precondition(text.lines[new].kind == before.lines[old].kind, "a variable changed a line's kind")
    }
    precondition(text.bytes.count <= PlaylistLimits.standard.bytes, "a text has grown beyond the limit")
    for line in before.lines.indices where !text.extent(line).isEmpty {
        precondition(text.lines[line].content.count <= PlaylistLimits.standard.lineBytes, "a line has grown too long")
        compareAttributes(before, text, line)
    }
    checkView(playlist)
    return 0
}

private func compareAttributes(_ before: PlaylistText, _ after: PlaylistText, _ line: Int) {
    guard case .tag(let tag) = before.lines[line].kind, tag.hasAttributes, let old = try? before.attributes(line) else {
        return
    }
    // Of a repeated tag, the first line gets the value of the last.
    if tag.isSingle, before.lines.count(where: { $0.kind == .tag(tag) }) > 1 { return }
    guard let new = try? after.attributes(line) else { preconditionFailure("a variable broke an attribute list") }
    let known = Set(old.names + old.names.map { $0.uppercased() })
    precondition(known.isSuperset(of: new.names), "a variable brought an attribute")
}

/// A view has no EXT-X-DEFINE, and is parsed with the content of its playlist.
private func checkView(_ playlist: Playlist) {
    // Without its low-latency tags, a delta update that has ended lacks segments.
    if case .media(let media) = playlist, media.isDeltaUpdate, media.hasEndList { return }
    let output: [UInt8]
    do throws(PlaylistError) {
        switch playlist {
        case .media(let media): output = try media.rendered(.relay) { _ in nil }
        case .multivariant(let multivariant): output = try multivariant.rendered(.relay) { _ in nil }
        }
    } catch { preconditionFailure("no relay view: \(error)") }
    do throws(PlaylistError) {
        let reread = try Playlist.parse(output)
        precondition(!reread.text.lines.contains { $0.kind == .tag(.define) }, "a definition is left")
        switch (playlist, reread) {
        case (.media(let old), .media(let new)): precondition(old.segments.map(\.uri) == new.segments.map(\.uri))
        case (.multivariant(let old), .multivariant(let new)): precondition(old.renditionURIs == new.renditionURIs)
        default: preconditionFailure("another kind of playlist")
        }
    } catch {
        // Text that resembles a reference is preserved, and is an error from version 8 on.
        precondition(error.code == .missingVariable, "the view cannot be parsed")
    }
}
