import EventLoop
import Fetching
public import HLS
import HTTPMessage
import Origin

/// Finds what only dead hosts have: see `HostReach`.
extension Library {
    /// Returns true for each segment of a playlist that has ended, by its index, that neither is stored nor can be fetched,
    /// because its host, or that of its key or initialization section, is dead; nil if there is none. Hosts that have not
    /// answered lately are looked at before.
    public func deadSegments(of rendition: Rendition, in asset: Asset) async -> [Bool]? {
        guard mayHaveDeadMedia(rendition, in: asset), let source = rendition.source else { return nil }
        var urls: [WebURL.Origin: WebURL] = [:]
        addNeededURLs(of: rendition, in: asset, to: &urls)
        await lookAtHosts(of: urls.values, of: asset, insertions: source.insertions)
        var slice = LoopSlice()
        return await findDeadSegments(of: rendition, &slice)
    }

    /// Returns the renditions, as indices in `Asset.renditions`, of which nothing can be fetched, because the hosts of their
    /// playlists or of all their segments are dead. Hosts that have not answered lately are looked at before.
    public func deadRenditions(of asset: Asset) async -> Set<Int> {
        let all = asset.renditions
        var empty: [Rendition] = []
        var urls: [WebURL.Origin: WebURL] = [:]
        // An entry may have 10,000 renditions, and each has a folder that is opened.
        var slice = LoopSlice()
        for rendition in all where !rendition.isComplete && !rendition.isLive {
            await slice.giveWay()
            guard rendition.folder.bytes == 0 else { continue }
            empty.append(rendition)
            addNeededURLs(of: rendition, in: asset, to: &urls)
        }
        // If its only host is dead, no other part of the asset can be played instead.
        guard urls.count > 1 || empty.count < all.count else { return [] }
        await lookAtHosts(of: urls.values, of: asset)
        slice = LoopSlice()
        var dead: Set<Int> = []
        for rendition in empty where asset.content.has(rendition) {
            if await isDead(rendition, in: asset, &slice) {
                dead.insert(rendition.index)
            }
            await slice.giveWay()
        }
        return dead
    }

    /// Returns the cut of a live playlist that leaves out the segments of dead hosts; nil if nothing was ever left out. Each
    /// segment is judged once, and the hosts of new ones that have not answered lately are looked at before. Also for the end of
    /// a broadcast, for a player that has seen the rest.
    public func liveCut(
        of rendition: Rendition, _ source: Rendition.Source, in asset: Asset
    ) async -> MediaPlaylistCut? {
        let isJudged = !isOffline && !source.isRecorded && !asset.content.hasMirrors(rendition)
        let new = rendition.makeLive().omissions.unjudged(in: source.playlist, shift: source.shift)
        if isJudged, !new.isEmpty {
            let playlist = source.playlist
            let segments = source.hosts.firstSegments(in: new).compactMap {
                try? source.base.resolving(playlist.segments[$0].uri)
            }
            var newParts: NewParts?
            // A first playlist may have 100,000 segments.
            if new.count < playlist.segments.count {
                newParts = NewParts(in: playlist, of: new)
            }
            let parts = neededParts(of: rendition, in: source, only: newParts)
            await lookAtHosts(of: segments + parts, of: asset, insertions: source.insertions(in: new))
        }
        guard isJudged, let lost = LostMedia(of: rendition, in: source, client) else {
            return rendition.makeLive().omissions.cut(source.playlist, shift: source.shift, isLost: nil)
        }
        return rendition.makeLive().omissions.cut(source.playlist, shift: source.shift) { lost.has($0) }
    }

    private func isDead(_ rendition: Rendition, in asset: Asset, _ slice: inout LoopSlice) async -> Bool {
        guard let source = rendition.source else {
            let urls = asset.candidateURLs(of: rendition)
            return !urls.isEmpty && urls.allSatisfy(client.isDead)
        }
        guard mayHaveDeadMedia(rendition, in: asset),
            let dead = await findDeadSegments(of: rendition, &slice)
        else { return false }
        return zip(dead, source.playlist.segments).allSatisfy { $0 || $1.isGap }
    }

    /// False if everything is stored, and for a playlist whose segments may come from mirrors.
    private func mayHaveDeadMedia(_ rendition: Rendition, in asset: Asset) -> Bool {
        guard let source = rendition.source, source.isDurable, !source.isRecorded, !rendition.isComplete, !isOffline
        else {
            return false
        }
        return !asset.isImported && !asset.content.hasMirrors(rendition)
    }

    /// Adds a URL at each host that something of this rendition is missing from.
    private func addNeededURLs(
        of rendition: Rendition, in asset: Asset, to urls: inout [WebURL.Origin: WebURL]
    ) {
        for url in neededURLs(of: rendition, in: asset) where urls[url.origin] == nil {
            urls[url.origin] = url
        }
    }

    private func lookAtHosts(of urls: some Collection<WebURL>, of asset: Asset, insertions: [WebURL] = []) async {
        await client.lookAtHosts(
            of: urls.map { playlistFetcher.request($0, asset.access) },
            insertions: insertions.map { playlistFetcher.request($0, asset.access) },
            witness: playlistFetcher.request(asset.origin, asset.access))
    }

    /// A URL at each host that the rendition's playlist, or what is missing of its media, is on.
    private func neededURLs(of rendition: Rendition, in asset: Asset) -> [WebURL] {
        guard let source = rendition.source else { return asset.candidateURLs(of: rendition) }
        guard source.isDurable, !source.isRecorded else { return [] }
        let segments = source.hosts.firstSegments.compactMap {
            try? source.base.resolving(source.playlist.segments[$0].uri)
        }
        return neededParts(of: rendition, in: source) + segments
    }

    /// The URLs of initialization sections and keys that are not stored.
    private func neededParts(
        of rendition: Rendition, in source: Rendition.Source, only new: NewParts? = nil
    ) -> [WebURL] {
        let maps = source.playlist.maps.filter { new?.maps.contains($0.index) ?? true }
        let keys = source.playlist.keys.filter { new?.keys.contains($0.index) ?? true }
        return maps.filter { !rendition.hasStored($0, in: source) }.compactMap { source.url(of: $0) }
            + keys.filter { !rendition.hasStored($0, in: source) }.compactMap { source.url(of: $0) }
    }

    private func findDeadSegments(of rendition: Rendition, _ slice: inout LoopSlice) async -> [Bool]? {
        guard let source = rendition.source, let lost = LostMedia(of: rendition, in: source, client) else { return nil }
        var found = [Bool](repeating: false, count: source.playlist.segments.count)
        for segment in source.playlist.segments where !segment.isGap {
            if segment.index % 64 == 0 {
                await slice.giveWay()
            }
            found[segment.index] = lost.has(segment)
        }
        guard found.contains(true) else { return nil }
        return found
    }
}

/// The initialization sections and keys, by index, that new segments of a live playlist need, and the one before them does not: the
/// hosts of the others are known.
private struct NewParts {
    private(set) var maps: Set<Int>
    private(set) var keys: Set<Int>

    init(in playlist: MediaPlaylist, of new: Range<Int>) {
        let segments = playlist.segments[new]
        maps = Set(segments.compactMap { $0.map?.index })
        keys = Set(segments.flatMap { $0.keys.map(\.index) })
        guard new.lowerBound > 0 else { return }
        let before = playlist.segments[new.lowerBound - 1]
        if let map = before.map {
            maps.remove(map.index)
        }
        for key in before.keys {
            keys.remove(key.index)
        }
    }
}

/// The segments of one playlist that can be neither played from the store nor fetched, because hosts are dead.
@LoopActor private struct LostMedia {
    private let rendition: Rendition
    private let source: Rendition.Source
    private let client: OriginClient
    private let hosts: MediaHosts
    private let dead: Set<WebURL.Origin>
    /// Indices of initialization sections and keys.
    private let maps, keys: Set<Int>
    /// True if requests for some segments may be redirected to a dead host.
    private let hasRedirects: Bool

    /// Nil if no host is dead.
    init?(of rendition: Rendition, in source: Rendition.Source, _ client: OriginClient) {
        let hosts = source.hosts
        let dead = Set(hosts.origins.filter { client.isDead($0) })
        // Where all is in one folder, a balancer may redirect the next request to a host that answers.
        hasRedirects = !hosts.insertions.isEmpty && client.hasDeadRedirects
        guard !dead.isEmpty || hasRedirects else { return nil }
        self.rendition = rendition
        self.source = source
        self.client = client
        self.hosts = hosts
        self.dead = dead
        func isDead(_ origin: WebURL.Origin?) -> Bool { origin.map(dead.contains) ?? false }
        let lostMaps = source.playlist.maps.filter {
            isDead(hosts.origin(ofMap: $0.index)) && !rendition.hasStored($0, in: source)
        }
        let lostKeys = source.playlist.keys.filter {
            isDead(hosts.origin(ofKey: $0.index)) && !rendition.hasStored($0, in: source)
        }
        maps = Set(lostMaps.map(\.index))
        keys = Set(lostKeys.map(\.index))
    }

    func has(_ segment: Segment) -> Bool {
        if let map = segment.map, maps.contains(map.index) {
            return true
        }
        if !keys.isEmpty, segment.keys.contains(where: { keys.contains($0.index) }) {
            return true
        }
        guard isOnDeadHost(segment) else { return false }
        // The names of an ended playlist are known already.
        let lister = source.isDurable ? nil : source
        return !rendition.folder.contains(rendition.file(of: segment, in: lister))
    }

    private func isOnDeadHost(_ segment: Segment) -> Bool {
        if hosts.origin(ofSegment: segment.index).map(dead.contains) ?? false {
            return true
        }
        guard hasRedirects, let url = try? source.base.resolving(segment.uri) else { return false }
        return client.isDead(url)
    }
}

extension Rendition {
    /// True if the key is stored, or cannot be fetched.
    fileprivate func hasStored(_ key: Key, in source: Source) -> Bool {
        guard let number = number(of: key, in: source) else { return true }
        return keys.hasFile(number)
    }

    fileprivate func hasStored(_ map: Map, in source: Source) -> Bool {
        folder.contains(name(of: map, in: source).description)
    }
}

extension Rendition.Source {
    /// See `MediaHosts.insertions`.
    fileprivate var insertions: [WebURL] { insertions(in: playlist.segments.indices) }

    fileprivate func insertions(in range: Range<Int>) -> [WebURL] {
        hosts.insertions.filter { range.contains($0) }.compactMap { try? base.resolving(playlist.segments[$0].uri) }
    }
}
