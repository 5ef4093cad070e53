import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist

/// Finds what only dead hosts have: see `HostReach`.
extension Library {
    /// Returns true for each segment of a playlist that has ended, by its index, that neither is stored nor can be fetched,
    /// because its host, or that of its key or initialization section, is dead; nil if there is none. Hosts that have not
    /// answered lately are looked at before.
    public func deadSegments(of rendition: Rendition, in asset: Asset) async -> [Bool]? {
        guard mayHaveDeadMedia(rendition, in: asset) else { return nil }
        var urls: [WebURL.Origin: WebURL] = [:]
        addNeededURLs(of: rendition, in: asset, to: &urls)
        await lookAtHosts(of: urls, of: asset)
        var slice = LoopSlice()
        return await findDeadSegments(of: rendition, in: asset, &slice)
    }

    /// Returns the renditions, as places in `Asset.renditions`, of which nothing can be fetched, because the hosts of their
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
        await lookAtHosts(of: urls, of: asset)
        slice = LoopSlice()
        var dead: Set<Int> = []
        for rendition in empty where asset.has(rendition) {
            if await isDead(rendition, in: asset, &slice) { dead.insert(rendition.place) }
            await slice.giveWay()
        }
        return dead
    }

    private func isDead(_ rendition: Rendition, in asset: Asset, _ slice: inout LoopSlice) async -> Bool {
        guard let source = rendition.source else {
            let urls = asset.candidateURLs(of: rendition)
            return !urls.isEmpty && urls.allSatisfy(client.isDead)
        }
        guard mayHaveDeadMedia(rendition, in: asset),
            let dead = await findDeadSegments(of: rendition, in: asset, &slice)
        else { return false }
        return zip(dead, source.playlist.segments).allSatisfy { $0 || $1.isGap }
    }

    /// False if everything is stored, and for a playlist whose segments may come from mirrors.
    private func mayHaveDeadMedia(_ rendition: Rendition, in asset: Asset) -> Bool {
        guard let source = rendition.source, source.isDurable, !source.isRecorded, !rendition.isComplete, !isOffline
        else {
            return false
        }
        return !asset.isImported && !asset.hasMirrors(rendition)
    }

    /// Adds a URL at each host that something of this rendition is missing from.
    private func addNeededURLs(
        of rendition: Rendition, in asset: Asset, to urls: inout [WebURL.Origin: WebURL]
    ) {
        for url in neededURLs(of: rendition, in: asset) where urls[url.origin] == nil { urls[url.origin] = url }
    }

    private func lookAtHosts(of urls: [WebURL.Origin: WebURL], of asset: Asset) async {
        let requests = urls.values.map { playlistFetcher.request($0, asset.access) }
        await client.lookAtHosts(of: requests, witness: playlistFetcher.request(asset.origin, asset.access))
    }

    /// A URL at each host that the rendition's playlist, or what is missing of its media, is on.
    private func neededURLs(of rendition: Rendition, in asset: Asset) -> [WebURL] {
        guard let source = rendition.source else { return asset.candidateURLs(of: rendition) }
        guard source.isDurable, !source.isRecorded else { return [] }
        let (playlist, hosts) = (source.playlist, source.hosts)
        let maps = playlist.maps.filter { !rendition.hasStored($0) }.compactMap { source.url(of: $0) }
        let keys = playlist.keys.filter { !rendition.hasStored($0) }.compactMap { source.url(of: $0) }
        let segments = hosts.firstSegments.map { try? source.base.resolving(playlist.segments[$0].uri) }
        return maps + keys + segments.compactMap(\.self)
    }

    private func findDeadSegments(
        of rendition: Rendition, in asset: Asset, _ slice: inout LoopSlice
    ) async -> [Bool]? {
        guard let source = rendition.source else { return nil }
        let (playlist, hosts) = (source.playlist, source.hosts)
        let dead = Set(hosts.origins.filter { client.isDead($0) })
        guard !dead.isEmpty else { return nil }
        func isDead(_ origin: WebURL.Origin?) -> Bool { origin.map(dead.contains) ?? false }
        let maps = Set(
            playlist.maps.filter { isDead(hosts.origin(ofMap: $0.index)) && !rendition.hasStored($0) }.map(\.index))
        let keys = Set(
            playlist.keys.filter { isDead(hosts.origin(ofKey: $0.index)) && !rendition.hasStored($0) }.map(\.index))
        var found = [Bool](repeating: false, count: playlist.segments.count)
        for segment in playlist.segments where !segment.isGap {
            if segment.index % 64 == 0 { await slice.giveWay() }
            let isUnplayable =
                segment.map.map { maps.contains($0.index) } ?? false
                || !keys.isEmpty && segment.keys.contains { keys.contains($0.index) }
            let isAbsent =
                isDead(hosts.origin(ofSegment: segment.index))
                && !rendition.folder.contains(rendition.file(of: segment))
            found[segment.index] = isUnplayable || isAbsent
        }
        return found.contains(true) ? found : nil
    }
}

extension Rendition {
    /// True if the key is stored, or cannot be fetched.
    fileprivate func hasStored(_ key: Key) -> Bool { number(of: key).map { keys.hasFile($0) } ?? true }
    fileprivate func hasStored(_ map: Map) -> Bool { folder.contains(name(of: map).description) }
}
