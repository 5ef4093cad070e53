/// A check reports existing line numbers in order, single-line messages, and each error of the parser.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let found = PlaylistRules.diagnostics(of: bytes)
    let lines = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
    var previous = 0
    for diagnostic in found {
        let line = diagnostic.line ?? previous
        precondition(line >= 0 && line <= lines, "a line number out of range")
        precondition(diagnostic.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a finding with line breaks")
        if diagnostic.line != nil {
            precondition(line >= previous, "findings out of order")
            previous = line
        }
    }
    do throws(PlaylistError) {
        if case .multivariant(let playlist) = try Playlist.parse(bytes) { checkPresentation(playlist) }
        // Players refuse a variable without a value, where a view omits its line.
        let unreadable = Set(PlaylistError.Code.allCases.map(\.rawValue)).subtracting(["missingVariable"])
        precondition(
            !found.contains { unreadable.contains($0.code) && $0.severity == .error },
            "an error that the parser does not have")
    } catch {
        precondition(
            found.contains { $0.code == error.code.rawValue && $0.severity == .error }, "an error is not reported")
    }
    return 0
}

private func checkPresentation(_ playlist: MultivariantPlaylist) {
    let texts = ["", "#EXT-X-DISCONTINUITY\n#EXTINF:3,\na\n#EXT-X-ENDLIST\n", "#EXT-X-I-FRAMES-ONLY\n"]
    var media: [Int: MediaPlaylist] = [:]
    for place in playlist.renditionURIs.indices {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(place)\n" + texts[place % 3]
        if case .media(let read)? = try? Playlist.parse(Array(text.utf8)) { media[place] = read }
    }
    let found = PlaylistRules.diagnostics(of: playlist, media: media, url: "a", resolving: { $0 })
    precondition(found.contains { $0.code == "selfReference" } == playlist.renditionURIs.contains("a"))
}
