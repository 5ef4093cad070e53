import Assets
import Downloads
import EventLoop
import HTTPMessage
import Orders
import Origin
import Retention
import Sessions
import Sharing
import Store
package import WeirAPI

/// The list of all assets. A long list is built from known facts, in turns, and in pages on request.
extension LibraryService {
    /// The keys that follow the assets in a list.
    private struct Tail: Encodable {
        let next: String?
        let playCache: API.PlayCache
    }

    /// Version of the texts in summaries. Raise it when `facts` changes its meaning or `API.Tracks` gains keys.
    nonisolated static let summaryVersion = 4

    package func assets(_ query: API.AssetQuery) async throws(APIError) -> [UInt8] {
        await summaries.check()
        let streams = try await streamTexts.texts(of: library.streams)
        let all = library.assets
        let page = Self.page(query, of: all)
        let texts = try await texts.texts(of: Array(page))
        var body = Array(#"{"assets":["#.utf8)
        let isBrief = query.isBrief
        let lengths = texts.map { text in
            guard !isBrief else { return text.brief.count + 1 }
            return text.brief.count + text.tracks.utf8.count + 128
        }
        body.reserveCapacity(lengths.reduce(1024, +))
        var isFirst = true
        for text in texts {
            if !isFirst {
                body.append(UInt8(ascii: ","))
            }
            isFirst = false
            if isBrief {
                body += text.brief
            } else {
                body += text.complete
            }
        }

        let isLast = page.endIndex == all.endIndex
        var others: [[UInt8]] = []
        if isLast {
            others = try await self.others(streams)
        }
        for text in others {
            if !isFirst {
                body.append(UInt8(ascii: ","))
            }
            isFirst = false
            body += text
        }

        // The shapes come first: the size of an asset may need a look into the store.
        let cache = API.PlayCache(bytes: Int(retention.cachedBytes), limit: retention.cacheLimit.map { Int($0) })
        let next = isLast ? nil : page.last?.name
        body += Array("],".utf8) + (try API.encode(Tail(next: next, playCache: cache))).dropFirst()
        return body
    }

    /// The list for phones, without paths and origins.
    func assetsForPhones(_ query: API.AssetQuery) async throws(APIError) -> API.AssetList {
        await summaries.check()
        let all = library.assets
        let page = Self.page(query, of: all)
        let isLast = page.endIndex == all.endIndex
        var shapes: [API.Asset] = []
        var slice = LoopSlice()
        for asset in page where !asset.isRemoved {
            await slice.giveWay()
            let facts = await facts(of: asset)
            var shape = brief(asset, facts)
            if !query.isBrief {
                shape.tracks = try API.decode(from: Array(facts.tracks.utf8))
            }
            shapes.append(shape.forPhone)
        }
        if isLast {
            var others = exchange.orphans.bundles.values.map(Self.shape)
            others += library.streams.filter(library.isUnopened).map(StreamTexts.shape)
            shapes += others.sorted { $0.name < $1.name }.map(\.forPhone)
        }

        let cache = API.PlayCache(bytes: Int(retention.cachedBytes), limit: retention.cacheLimit.map { Int($0) })
        var list = API.AssetList(assets: shapes, playCache: cache)
        if !isLast {
            list.next = page.last?.name
        }
        return list
    }

    /// The entries that follow the assets: unusable bundles, and streams of which nothing is stored.
    private func others(_ streams: [StreamTexts.Text]) async throws(APIError) -> [[UInt8]] {
        var others: [(name: String, text: [UInt8])] = []
        for orphan in exchange.orphans.bundles.values {
            others.append((orphan.name, try API.encode(Self.shape(orphan))))
        }
        var slice = LoopSlice()
        for stream in streams {
            await slice.giveWay()
            if library.isUnopened(stream.stream) {
                others.append((stream.stream.name, stream.text))
            }
        }
        return others.sorted { $0.name < $1.name }.map(\.text)
    }

    private static func page(_ query: API.AssetQuery, of assets: [Asset]) -> ArraySlice<Asset> {
        var first = 0
        if let name = query.after {
            first = index(after: name, in: assets)
        }
        return assets[first...].prefix(query.limit ?? .max)
    }

    private static func index(after name: String, in assets: [Asset]) -> Int {
        var range = assets.startIndex..<assets.endIndex
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if assets[middle].name <= name {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The list entry of a bundle that cannot be used.
    static func shape(_ orphan: OrphanBundle) -> API.Asset {
        var shape = API.Asset(name: orphan.name, id: orphan.id, url: "")
        shape.unreadable = orphan.reason
        shape.state = .unreadable
        return shape
    }

    /// The facts of an asset that depend on its playlists and pieces: from the summary, or by reading them.
    func facts(of asset: Asset) async -> SummaryRecord {
        if let known = summaries.summary(of: asset) {
            return known
        }
        return await found(asset)
    }

    /// The facts of an asset, read from its playlists and pieces.
    func found(_ asset: Asset) async -> SummaryRecord {
        var (facts, tracks) = await foundWithTracksApart(asset)
        facts.tracks = await Self.text(of: tracks, for: asset)
        return facts
    }

    /// The text of tracks in a summary, written outside the loop if it is long: that of 10,000 variants takes a second.
    static func text(of tracks: API.Tracks, for asset: Asset) async -> String {
        let text = await PureWork.shared.run(size: tracks.textSize, for: asset) { Self.text(of: tracks) }
        return text ?? Self.text(of: tracks)
    }

    private nonisolated static func text(of tracks: API.Tracks) -> String {
        String(decoding: (try? API.encode(tracks)) ?? [], as: UTF8.self)
    }

    /// The facts of an asset, and its tracks, of which the facts do not have the text yet.
    func foundWithTracksApart(_ asset: Asset) async -> (facts: SummaryRecord, tracks: API.Tracks) {
        let tracks = await AssetShapes(asset).tracks()
        // Each of the sums below goes over all renditions, of which there may be 10,000.
        var slice = LoopSlice()
        let isStored: Bool
        // The download's record may be unreadable.
        if let kept = downloader.download(of: asset), !kept.isUnreadable {
            isStored = kept.isComplete
        } else {
            isStored = asset.isPlayableOffline
        }
        await slice.giveWay()
        let bytes = asset.bytes + (asset.revision?.bytes ?? 0)
        await slice.giveWay()
        let cachedBytes = asset.cachedBytes + (asset.revision?.cachedBytes ?? 0)
        await slice.giveWay()
        var local = Playability.Answer.no
        // A stored asset does not play if its keys may not be used.
        if isStored, asset.keys.unusable.isEmpty || asset.isPlayableOffline {
            local = .yes
        } else if bytes > 0 {
            local = .partial
        }
        let hasArtwork = asset.content.additions.artwork != nil
        let facts = SummaryRecord(
            asset: asset.id, version: Self.summaryVersion, local: local.rawValue, isLive: asset.isLive,
            duration: asset.duration, bytes: bytes, cachedBytes: cachedBytes, hasArtwork: hasArtwork,
            quality: tracks.storedQuality, tracks: "")
        return (facts, tracks)
    }

    /// An asset in a list, without its tracks.
    func brief(_ asset: Asset, _ facts: SummaryRecord) -> API.Asset {
        let kept = downloader.download(of: asset)
        let download = downloader.latestDownload(of: asset)
        var shape = API.Asset(
            name: asset.name, id: asset.id, title: asset.title, url: asset.origin.redacted, duration: facts.duration)
        shape.path = asset.bundlePath
        shape.isLive = facts.isLive
        shape.created = Int(asset.created)
        if let seen = sessions?.history?.entry(of: asset) {
            shape.position = seen.rest.map(API.milliseconds)
            shape.isWatched = seen.isWatched.trueOrNil
        }
        shape.note = kept?.task.note ?? asset.note
        shape.ranges = download.flatMap { download in
            let ranges = download.requestedRanges
            // An open end is later than the end of any media.
            return ranges?.ranges.map {
                .init(start: $0.lowerBound, end: min($0.upperBound, facts.duration ?? $0.upperBound))
            }
        }
        shape.isImported = asset.origin.isPlaceholder.trueOrNil
        shape.recordingOf = library.channel(of: asset)?.name
        shape.isInsecure = asset.route.isInsecure.trueOrNil
        shape.bytes = Int(facts.bytes)
        shape.cachedBytes = Int(facts.cachedBytes)
        shape.isRevised = (asset.revision != nil).trueOrNil
        // Only an open asset knows whether the content of its origin has changed.
        shape.hasChanged = (asset.isLoaded && asset.hasChanged).trueOrNil
        shape.local = Playability.Answer(rawValue: facts.local) ?? .no
        shape.quality = facts.quality
        shape.unreadable = asset.refusal
        var state: JobState?
        if let download {
            let actual: JobState
            if asset.isLoaded {
                actual = download.actualState(isComplete: download.isComplete)
            } else {
                // The summary decides, so that nothing has to be read.
                actual = download.actualState(isComplete: facts.local == Playability.Answer.yes.rawValue)
            }
            shape.need = download.need(in: actual)
            state = actual
        }
        shape.shortfall = download?.shortfall
        if let download, state == .paused || download.need?.isRule ?? false {
            shape.reason = API.Download.reasons(of: download).first?.message
        }
        if facts.hasArtwork {
            shape.artwork = "\(API.root)/assets/\(PercentEncoding.encode(asset.name))/artwork"
        }
        shape.download = download.map { $0.asset.id }
        shape.volume = asset.volume.map { API.Volume(path: $0.path, isPresent: $0.isThere) }
        let storage = storage(of: asset)
        shape.storage = storage
        shape.keys = keySummary(of: asset)

        var words = AssetState.Facts()
        words.isUnreadable = asset.refusal != nil
        words.isExpired = storage.isExpired
        words.download = state
        words.isRecording = facts.isLive
        words.isComplete = shape.local == .yes
        words.hasBytes = shape.bytes > 0
        words.isPurged = storage.purge != nil
        shape.state = words.state
        shape.stored = words.stored
        return shape
    }

    func shape(_ asset: Asset) async -> API.Asset {
        let (facts, tracks) = await foundWithTracksApart(asset)
        var shape = brief(asset, facts)
        shape.tracks = tracks
        return shape
    }
}

/// The list of all downloads. For complete ones it has only facts that are known without opening their assets.
extension LibraryService {
    /// The loop serves other work between two turns.
    private static let turn = Duration.milliseconds(5)

    package func downloads() async throws(APIError) -> [API.Download] {
        await summaries.check()
        var begin = ContinuousClock.now
        var shapes: [API.Download] = []
        for download in downloader.downloads {
            if ContinuousClock.now - begin > Self.turn {
                await Task.yield()
                begin = .now
            }
            // While a new revision is fetched, its download represents the asset.
            guard download.asset.revision == nil, downloader.download(of: download.asset) === download else { continue }
            if library.isComplete(download) {
                shapes.append(await complete(download))
            } else {
                shapes.append(API.Download(download))
            }
        }
        return shapes
    }

    private func complete(_ download: Download) async -> API.Download {
        let asset = download.asset
        guard !asset.isLoaded else {
            let bytes = asset.bytes - asset.cachedBytes
            return API.Download(complete: download, duration: asset.duration, bytes: Int(bytes))
        }
        let facts = await facts(of: asset)
        let bytes = facts.bytes - facts.cachedBytes
        return API.Download(complete: download, duration: facts.duration ?? asset.duration, bytes: Int(bytes))
    }
}

extension Library {
    /// True if a download is complete, judged without opening its asset.
    func isComplete(_ download: Download) -> Bool {
        let asset = download.asset
        guard download.state == .complete else { return false }
        guard !asset.isLoaded else { return download.isComplete }
        if let summary = summaries?.summary(of: asset) {
            return summary.local == Playability.Answer.yes.rawValue
        }
        return asset.volume?.isThere ?? true
    }
}

/// Entries of the streams file of which nothing is stored yet.
extension LibraryService {
    /// Nil if there is none of that name.
    func knownOnly(named name: String) -> API.Asset? {
        guard let stream = library.stream(named: name), library.asset(at: stream.url) == nil else { return nil }
        return StreamTexts.shape(stream)
    }

    /// The asset at a stream's URL, even if the asset has another name.
    func asset(ofStream name: String) -> Asset? { library.stream(named: name).flatMap { library.asset(at: $0.url) } }

    /// Throws if a stream has this name, because the request needs a stored asset.
    func refuse(stream name: String) throws(APIError) {
        guard let stream = library.stream(named: name) else { return }
        if let list = stream.list {
            throw APIError(
                .noSuchAsset, "\(name) is a channel of the list \(list), and nothing of it is stored",
                next: "weir get --record \(name); or weir remove \(name), which hides it")
        }
        throw APIError(
            .noSuchAsset, "\(name) is in the streams file, and nothing of it is stored",
            next: "weir get \(name); or weir remove \(name), which deletes its entry")
    }
}
