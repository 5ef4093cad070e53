// sources: Sources/Playback/Routes/Route.swift
// rooms: as built
import Assets
import Glibc
import HTTPMessage
import Orders

/// A path names one thing whatever prefix or query it has, and a path that is made of it names the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let openings = ["", "/", "/a/film-1/aaaaaa/", "/select/quality=720p/", "/select/", "/https://h/", "/auto/"]
    for opening in openings {
        check(Array(opening.utf8) + bytes)
    }
    return 0
}

private func check(_ target: [UInt8]) {
    // A request's target has its origin form: a connection refuses any other.
    guard target.first == UInt8(ascii: "/"), let route = Route(target: target[...]) else { return }
    switch route {
    case .origin(let url, let mode, let choice):
        precondition(mode != .adaptive || choice == nil, "a choice of what Weir chooses")
        guard mode == .auto, choice == nil else { return }
        expect("/offline", target, .origin(url, mode: .offline))
        expect("/local", target, .origin(url, mode: .local))
        expect("/auto", target, .origin(url, mode: .adaptive))
        expect("/select/quality=720p", target) { if case .origin(url, .auto, .some) = $0 { true } else { false } }
    case .entry(let name, let mode, let choice):
        guard mode == .auto, choice == nil else { return }
        let path = Array(target.prefix { $0 != UInt8(ascii: "?") })
        expect("/offline", path, .entry(name: name, mode: .offline))
        expect("/local", path, .entry(name: name, mode: .local))
        expect("/auto", path, .entry(name: name, mode: .adaptive))
        precondition(Route(target: (path + Array("?a=/b".utf8))[...]) == route, "a query that changes the asset")
        guard AssetNaming.isName(name) else { return }
        precondition(Route(target: Array("/\(PercentEncoding.encode(name)).m3u8".utf8)[...]) == route, "another name")
    case .listed(let url):
        precondition(!url.isEmpty && target.starts(with: Route.listedPrefix.utf8), "an entry that no list names")
    case .badChoice(let reason):
        precondition(!reason.isEmpty && target.starts(with: "/select/".utf8))
    case .channels:
        precondition(target.starts(with: "/weir.m3u".utf8))
    case .playlist(let asset, let session, let rendition):
        expectPath([asset, session.id, rendition, Route.playlistFile], of: route)
    case .interstitial(let asset, let session, let name):
        expectPath([asset, session.id, Interstitials.folder, "\(name)"], of: route)
    case .piece(let asset, let session, let folder, let file):
        expectPath([asset, session.id, folder, file], of: route)
    }
}

/// Components of a path lead to the same route, with a query too.
private func expectPath(_ components: [String], of route: Route) {
    precondition(components.allSatisfy { !$0.contains("/") && !$0.contains("?") }, "a component that is two")
    let path = Array(("/a/" + components.joined(separator: "/")).utf8)
    for target in [path, path + Array("?a=b/c".utf8)] {
        precondition(Route(target: target[...]) == route, "\(components) lead elsewhere")
    }
}

private func expect(_ prefix: String, _ target: [UInt8], _ wanted: Route) {
    expect(prefix, target) { $0 == wanted }
}

private func expect(_ prefix: String, _ target: [UInt8], _ isWanted: (Route?) -> Bool) {
    precondition(isWanted(Route(target: Array(prefix.utf8) + target[...])), "\(prefix) changes what is named")
}
