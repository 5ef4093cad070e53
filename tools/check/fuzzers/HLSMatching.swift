/// Two playlists, separated by a line of `=`: each is the same as itself, and the relation between them is consistent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    if let date = DateTime(String(decoding: bytes.prefix(40), as: UTF8.self)) {
        precondition(DateTime(date.description) == date, "a date is parsed as another")
        _ = (date.adding(seconds: 1e300), date.adding(seconds: -.infinity), date.adding(seconds: .nan))
    }
    let end = bytes.firstIndex(of: UInt8(ascii: "=")).flatMap { start in
        bytes[start...].starts(with: Array("=====\n".utf8)) ? start : nil
    }
    let first = try? Playlist.parse(Array(bytes[..<(end ?? bytes.count)]))
    let second = end.flatMap { try? Playlist.parse(Array(bytes[($0 + 6)...])) }
    for playlist in [first, second] { if let playlist { checkItself(playlist) } }
    guard case .media(let old)? = first, case .media(let new)? = second else { return 0 }
    switch new.relation(to: old) {
    case .grown(let added): precondition(added >= 0)
    case .slid(let removed, let added): precondition(removed > 0 && added >= 0)
    case .changed(let number): precondition(number ?? 0 >= 0)
    case .same, .stale: break
    }
    return 0
}

private func checkItself(_ playlist: Playlist) {
    switch playlist {
    case .media(let media):
        let relation = media.relation(to: media)
        precondition(
            relation == .same || (media.isDeltaUpdate && relation == .same), "a playlist is not the same as itself")
    case .multivariant(let multivariant):
        let places = Array(multivariant.renditionURIs.indices)
        precondition(multivariant.mirrors.flatMap { $0 }.sorted() == places, "mirrors do not cover the renditions")
        precondition(multivariant.mirrors.allSatisfy { $0 == $0.sorted() })
        precondition(
            multivariant.renditionIndices(in: multivariant) == places,
            "a playlist's renditions have other indices in itself")
    }
}
