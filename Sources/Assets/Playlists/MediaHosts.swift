import HLS
import HTTPMessage

/// The hosts that a playlist's segments, initialization sections and keys come from. Pure, and linear in the number of
/// segments.
struct MediaHosts: Sendable {
    /// By index of the host; the first is that of the playlist itself.
    private(set) var origins: [WebURL.Origin]
    /// Indices of hosts, by index of the segment; empty if all segments are on the playlist's own.
    private var segments: [UInt8] = []
    /// The index of the first segment on each host that has any.
    private(set) var firstSegments: [Int] = []
    /// The index of the first segment in each folder, if there are several that begin at discontinuities: parts such as
    /// advertisements, whose URLs may be redirected elsewhere than those of the rest.
    private(set) var insertions: [Int] = []
    private var maps: [UInt8] = []
    private var keys: [UInt8] = []
    /// Hosts beyond this many are not told apart: a playlist may name a new one in each line.
    private static let maximumCount = 64
    private static let unknown = UInt8.max
    private static let mostInsertions = 8

    init(_ source: Rendition.Source) {
        let playlist = source.playlist
        let base = source.base
        origins = [base.origin]
        var known: [Substring: UInt8] = [:]
        let found = playlist.segments.map { host(of: $0.uri, base, &known) }
        var seen: Set<UInt8> = [Self.unknown]
        var last = Self.unknown
        for (index, host) in found.enumerated() where host != last {
            last = host
            if seen.insert(host).inserted {
                firstSegments.append(index)
            }
        }
        if found.contains(where: { $0 != 0 }) {
            segments = found
        }
        insertions = Self.insertions(in: playlist)
        maps = playlist.maps.map { host(of: $0.uri, base, &known) }
        keys = playlist.keys.map { key in
            guard let url = source.url(of: key), url.inlineBytes == nil else { return Self.unknown }
            return host(of: url.origin)
        }
    }

    private static func insertions(in playlist: MediaPlaylist) -> [Int] {
        var folders: Set<Substring> = []
        var first: [Int] = []
        for segment in playlist.segments where segment.index == 0 || segment.isDiscontinuity {
            let path = segment.uri.prefix { $0 != "?" && $0 != "#" }
            let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
            guard folders.insert(folder).inserted else { continue }
            first.append(segment.index)
            if first.count == mostInsertions {
                break
            }
        }
        guard first.count > 1 else { return [] }
        return first
    }

    func origin(ofSegment index: Int) -> WebURL.Origin? {
        // One host has all of them.
        guard !segments.isEmpty else { return origins[0] }
        return origin(segments, index)
    }

    /// The index of the first segment within a range on each host that has any there.
    func firstSegments(in range: Range<Int>) -> [Int] {
        guard !segments.isEmpty else { return Array(range.prefix(1)) }
        var seen: Set<UInt8> = []
        return range.filter { segments[$0] != Self.unknown && seen.insert(segments[$0]).inserted }
    }

    func origin(ofMap index: Int) -> WebURL.Origin? { origin(maps, index) }
    func origin(ofKey index: Int) -> WebURL.Origin? { origin(keys, index) }

    private func origin(_ hosts: [UInt8], _ index: Int) -> WebURL.Origin? {
        guard hosts.indices.contains(index), hosts[index] != Self.unknown else { return nil }
        return origins[Int(hosts[index])]
    }

    /// - Parameter known: the hosts by the beginnings of URIs, because resolving each URI would take long.
    private mutating func host(of uri: String, _ base: WebURL, _ known: inout [Substring: UInt8]) -> UInt8 {
        guard let beginning = Self.beginning(of: uri) else { return 0 }
        if let host = known[beginning] {
            return host
        }
        var host = Self.unknown
        if let origin = (try? base.resolving(uri))?.origin {
            host = self.host(of: origin)
        }
        if known.count < Self.maximumCount {
            known[beginning] = host
        }
        return host
    }

    private mutating func host(of origin: WebURL.Origin) -> UInt8 {
        if let index = origins.firstIndex(of: origin) {
            return UInt8(index)
        }
        guard origins.count < Self.maximumCount else { return Self.unknown }
        origins.append(origin)
        return UInt8(origins.count - 1)
    }

    /// The part of a URI up to the end of its host; nil for a path, which is on the playlist's host.
    private static func beginning(of uri: String) -> Substring? {
        let bytes = uri.utf8
        let slash = UInt8(ascii: "/")
        guard !WebURL.isRelative(uri) || bytes.first == slash && bytes.dropFirst().first == slash else { return nil }
        var slashes = 0
        let end = bytes.firstIndex { byte in
            if byte == slash {
                slashes += 1
            }
            return slashes == 3
        }
        return uri[..<(end ?? uri.endIndex)]
    }
}

extension Rendition.Source {
    /// The hosts of its media; those of a large playlist were found on a worker.
    var hosts: MediaHosts { preparations?.hosts ?? MediaHosts(self) }
}
