/// A parsed multivariant playlist can be rendered in every view, and the offline view lists only what is stored.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard case .multivariant(let playlist)? = try? Playlist.parse(bytes) else { return 0 }
    checkRelay(playlist)
    let seed = bytes.reduce(UInt32(17)) { $0 &* 31 &+ UInt32($1) }
    for choice in 0..<4 {
        let places = playlist.renditionURIs.indices.filter { (seed >> UInt32(($0 + choice * 7) % 31)) & 1 == 1 }
        checkStored(playlist, Set(places))
    }
    checkStored(playlist, Set(playlist.renditionURIs.indices))
    return 0
}

private func checkRelay(_ playlist: MultivariantPlaylist) {
    guard let untouched = try? playlist.rendered(.relay, naming: { _ in nil }),
        let relay = try? playlist.rendered(naming: { $0.renditionIndex.map { "/\($0).m3u8" } })
    else { preconditionFailure("no relay view") }
    let hasVariables = playlist.text.lines.contains { $0.kind == .tag(.define) }
    guard case .multivariant(let reread)? = try? Playlist.parse(relay) else {
        // A variable's value may look like a reference, which is undefined once the definitions are omitted.
        precondition(hasVariables, "the relay view cannot be parsed")
        return
    }
    let body = playlist.text.bytes[(playlist.text.hasByteOrderMark ? 3 : 0)...]
    precondition(hasVariables || untouched[...] == body, "an untouched view differs")
    precondition(
        reread.contentSteering == nil && reread.variants.allSatisfy { $0.pathwayID == "." }, "steering is left")
    precondition(reread.variants.map(\.renditionIndex) == playlist.variants.map(\.renditionIndex))
    precondition(reread.media.map(\.renditionIndex) == playlist.media.map(\.renditionIndex))
    precondition(reread.variants.map(\.codecs) == playlist.variants.map(\.codecs))
}

private func checkStored(_ playlist: MultivariantPlaylist, _ renditions: Set<Int>) {
    let whole = playlist.completeVariants(renditions: renditions)
    let output = try? playlist.stored(renditions: renditions) { $0.renditionIndex.map { "/\($0).m3u8" } }
    guard let view = output else {
        precondition(whole.isEmpty, "no stored view")
        return
    }
    guard case .multivariant(let stored)? = try? Playlist.parse(view) else {
        precondition(!playlist.variables.isEmpty, "the stored view cannot be parsed")
        return
    }
    let names = Set(renditions.map { "/\($0).m3u8" })
    precondition(stored.renditionURIs.allSatisfy(names.contains), "a stored view lists what is not stored")
    precondition(whole.count > 256 || stored.variants.map(\.bandwidth) == whole.map(\.bandwidth))
    let groups = Set(stored.media.map(\.group))
    for variant in stored.variants {
        for type in Media.Kind.allCases {
            guard let id = variant.group(type) else { continue }
            precondition(groups.contains(Media.Group(type: type, id: id)), "a reference to an empty group")
        }
    }
    let defaults = Set(stored.media.filter(\.isDefault).map(\.group))
    let hadDefaults = Set(playlist.media.filter(\.isDefault).map(\.group)).intersection(groups)
    precondition(defaults == hadDefaults, "a default is not repaired")
}
