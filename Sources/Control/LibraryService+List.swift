public import API
import Downloader
import EventLoop
import Exchange
import HTTPMessage
import Library
import Retention
import Store

/// The list of all assets: long ones are answered from what is known, in turns, and where wanted in pages.
extension LibraryService {
    /// The keys that follow the assets in a list.
    private struct Tail: Encodable {
        let next: String?
        let playCache: API.PlayCache
    }

    /// The form of the texts that summaries keep: to be raised when `facts` says something else, or `API.Tracks` has more.
    static let summaryVersion = 1

    /// See `ControlService`.
    public func assets(_ wish: API.ListWish) async throws(APIError) -> [UInt8] {
        await library.summaries.check()
        let all = library.assets
        let first = wish.after.map { name in Self.place(after: name, in: all) } ?? 0
        let page = all[first...].prefix(wish.limit ?? .max)
        let texts = try await texts.texts(of: Array(page))
        var body = Array(#"{"assets":["#.utf8)
        let most = texts.reduce(1024) { $0 + $1.brief.count + (wish.isBrief ? 1 : $1.tracks.utf8.count + 128) }
        body.reserveCapacity(most)
        var isFirst = true
        for text in texts {
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            body += wish.isBrief ? text.brief : text.whole
        }
        for shape in page.endIndex == all.endIndex ? others : [] {
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            body += try API.encode(shape)
        }
        // The shapes first: to tell an asset's size the store is looked into.
        let cache = API.PlayCache(bytes: Int(retention.cachedBytes), limit: retention.cacheLimit.map { Int($0) })
        let next = page.endIndex < all.endIndex ? page.last?.name : nil
        body += Array("],".utf8) + (try API.encode(Tail(next: next, playCache: cache))).dropFirst()
        return body
    }

    /// The entries that follow the assets: unusable bundles, and streams of which nothing is stored.
    private var others: [API.Asset] {
        (exchange.orphans.bundles.values.map { Self.shape($0) } + knownOnly).sorted { $0.name < $1.name }
    }

    /// The place of the first asset behind a name.
    private static func place(after name: String, in assets: [Asset]) -> Int {
        var range = assets.startIndex..<assets.endIndex
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = assets[middle].name <= name ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// The list entry of a bundle that cannot be used.
    static func shape(_ orphan: OrphanBundle) -> API.Asset {
        var shape = API.Asset(name: orphan.name, id: orphan.id, url: "")
        shape.unreadable = orphan.reason
        return shape
    }

    /// What is to be said of an asset that rests on its playlists and pieces: as it is known, else by reading them.
    func facts(of asset: Asset) -> SummaryRecord { library.summaries[asset] ?? found(asset) }

    /// The facts of an asset, read from its playlists and pieces.
    func found(_ asset: Asset) -> SummaryRecord {
        // What is wanted of it may not be understood.
        let kept = downloader.download(of: asset)
        let isStored = kept.flatMap { $0.isUnreadable ? nil : $0.isWhole } ?? asset.isPlayableOffline
        // What is stored does not play where its keys may not be used.
        let isComplete = isStored && (asset.keys.unusable.isEmpty || asset.isPlayableOffline)
        let tracks = AssetShapes(asset).tracks
        let text = (try? API.encode(tracks)) ?? []
        let local: API.Local = isComplete ? .complete : asset.bytes > 0 ? .partly : .none
        return SummaryRecord(
            asset: asset.id, version: Self.summaryVersion, local: local.rawValue, isLive: asset.isLive,
            duration: asset.duration, bytes: asset.bytes + (asset.revision?.bytes ?? 0),
            cachedBytes: asset.cachedBytes + (asset.revision?.cachedBytes ?? 0), hasArtwork: asset.artworkKind != nil,
            quality: tracks.storedQuality, tracks: String(decoding: text, as: UTF8.self))
    }

    /// An asset in a list, without its tracks.
    func brief(_ asset: Asset, _ facts: SummaryRecord) -> API.Asset {
        let kept = downloader.download(of: asset)
        let download = asset.revision.flatMap { downloader.download(of: $0) } ?? kept
        var shape = API.Asset(
            name: asset.name, id: asset.id, title: asset.title, url: asset.origin.redacted, duration: facts.duration)
        shape.isLive = facts.isLive
        shape.isImported = asset.origin.isPlaceholder ? true : nil
        shape.bytes = Int(facts.bytes)
        shape.cachedBytes = Int(facts.cachedBytes)
        shape.isRevised = asset.revision != nil ? true : nil
        // A change is noticed by looking at the asset.
        shape.hasChanged = !asset.isAsleep && asset.hasChanged ? true : nil
        shape.local = API.Local(rawValue: facts.local) ?? .none
        shape.quality = facts.quality
        shape.unreadable = asset.refusal
        // Of one that sleeps the word says so, and nothing of it need be read.
        let isWhole = asset.isAsleep ? facts.local == API.Local.complete.rawValue : nil
        shape.state = download.map { API.Download.State($0, isWhole: isWhole ?? $0.isWhole) }
        shape.need = shape.state == .waiting ? download.flatMap { API.Download.Need($0) } : nil
        shape.artwork = facts.hasArtwork ? "\(API.root)/assets/\(PercentEncoding.encode(asset.name))/artwork" : nil
        shape.download = download.map { $0.asset.id }
        shape.place = asset.volume.map { API.Place(path: $0.path, isThere: $0.isThere) }
        shape.storage = storage(of: asset)
        shape.keys = keySummary(of: asset)
        return shape
    }

    func shape(_ asset: Asset) -> API.Asset {
        var shape = brief(asset, found(asset))
        shape.tracks = AssetShapes(asset).tracks
        return shape
    }
}

/// The list of all downloads. Most of a large store are complete: of these no more is told than what is known without
/// looking into their assets.
extension LibraryService {
    /// Between two turns others have the loop.
    private static let turn = Duration.milliseconds(5)

    /// See `ControlService`.
    public func downloads() async throws(APIError) -> [API.Download] {
        await library.summaries.check()
        var begin = ContinuousClock.now
        var shapes: [API.Download] = []
        for download in downloader.downloads {
            if ContinuousClock.now - begin > Self.turn {
                await Task.yield()
                begin = .now
            }
            // Where an origin's new content is fetched, that download stands for the asset.
            guard download.asset.revision == nil, downloader.download(of: download.asset) === download else { continue }
            shapes.append(library.isComplete(download) ? complete(download) : API.Download(download))
        }
        return shapes
    }

    /// A download of which all is there, in a list.
    private func complete(_ download: Download) -> API.Download {
        let asset = download.asset
        let facts = asset.isAsleep ? facts(of: asset) : nil
        let bytes = facts.map { $0.bytes - $0.cachedBytes } ?? (asset.bytes - asset.cachedBytes)
        return API.Download(complete: download, duration: facts?.duration ?? asset.duration, bytes: Int(bytes))
    }
}

extension Library {
    /// True if a download is complete, as far as is known without its asset being looked into.
    func isComplete(_ download: Download) -> Bool {
        let asset = download.asset
        guard download.state == .complete else { return false }
        guard asset.isAsleep else { return download.isWhole }
        return summaries[asset].map { $0.local == API.Local.complete.rawValue } ?? asset.volume?.isThere ?? true
    }
}

/// Streams that the user has written down, and of which the library has nothing yet.
extension LibraryService {
    /// Entries of the streams file without an asset.
    var knownOnly: [API.Asset] { library.unopenedStreams.map(shape) }

    /// One of them, as `knownOnly` has it; nil where there is none of that name.
    func knownOnly(named name: String) -> API.Asset? {
        library.stream(named: name).flatMap { library.asset(at: $0.url) == nil ? shape($0) : nil }
    }

    /// The asset that a stream's name leads to, though it is called otherwise.
    func asset(ofStream name: String) -> Asset? { library.stream(named: name).flatMap { library.asset(at: $0.url) } }

    /// Throws for a stream of this name: what is asked is about something that is not here.
    func refuse(stream name: String) throws(APIError) {
        guard library.stream(named: name) != nil else { return }
        throw APIError(
            .noSuchAsset, "\(name) is in the list of streams, and nothing of it is here",
            next: "weir get \(name), or take it out of the list with an editor")
    }

    private func shape(_ stream: KnownStream) -> API.Asset {
        var shape = API.Asset(name: stream.name, id: stream.name, title: stream.title, url: stream.url.redacted)
        shape.isKnownOnly = true
        return shape
    }
}
