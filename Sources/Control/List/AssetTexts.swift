import Downloader
import EventLoop
import Library
import Store

/// What a list says of each asset as JSON, kept from one list to the next: most assets are as they were.
@LoopActor final class AssetTexts {
    /// One asset's text.
    struct Text {
        /// Without its tracks.
        let brief: [UInt8]
        /// Its tracks.
        let tracks: [UInt8]
    }

    /// What a text depends on. Nothing is read for it.
    private struct State: Equatable {
        let asset: Asset.Signature
        let revision: Asset.Signature?
        let task: DownloadTask?
        let state: Download.State?
        let need: Download.Need?
        let isExpired: Bool
        let place: API.Place?
    }

    private unowned let service: LibraryService
    private var known: [String: (state: State, text: Text)] = [:]
    /// Between two turns others have the loop.
    private static let turn = Duration.milliseconds(5)

    init(_ service: LibraryService) { self.service = service }

    /// Makes the texts of those assets of which nothing has to be read for it, before anybody asks for them.
    func prepare() async {
        let service = service
        await service.library.summaries.check()
        _ = try? await texts(of: service.library.assets.filter { service.library.summaries[$0] != nil })
    }

    /// The texts of assets, in their order; those that are removed meanwhile are left out. It takes turns with others.
    func texts(of assets: [Asset]) async throws(ControlError) -> [Text] {
        var begin = ContinuousClock.now
        var texts: [Text] = []
        texts.reserveCapacity(assets.count)
        for asset in assets {
            if ContinuousClock.now - begin > Self.turn {
                await Task.yield()
                begin = .now
            }
            if !asset.isRemoved { texts.append(try text(of: asset)) }
        }
        // Those of assets that are there no more.
        if known.count > 2 * service.library.assets.count + 64 { known = [:] }
        return texts
    }

    private func text(of asset: Asset) throws(ControlError) -> Text {
        if let found = known[asset.id], found.state == state(of: asset) { return found.text }
        let facts = service.facts(of: asset)
        let text = Text(brief: try API.encode(service.brief(asset, facts)), tracks: Array(facts.tracks.utf8))
        // To make it the asset may have been looked into.
        known[asset.id] = (state(of: asset), text)
        return text
    }

    private func state(of asset: Asset) -> State {
        let downloader = service.downloader
        let kept = downloader.download(of: asset)
        let download = asset.revision.flatMap { downloader.download(of: $0) } ?? kept
        return State(
            asset: asset.signature, revision: asset.revision?.signature, task: kept?.task, state: download?.state,
            need: download?.need, isExpired: service.library.isExpired(asset),
            place: asset.annex.map { API.Place(path: $0.path, isThere: $0.isThere) })
    }
}

extension AssetTexts.Text {
    /// What `API.encode` makes of tracks of which there are none. In a string of JSON its quotation marks would be escaped.
    private static let empty = Array(#""tracks":{"audio":[],"subtitles":[],"variants":[]}"#.utf8)
    private static let head = Array(#""tracks":"#.utf8)

    /// With its tracks.
    var whole: [UInt8] {
        guard let place = brief.lastRange(of: Self.empty) else { return brief }
        return brief[..<place.lowerBound] + Self.head + tracks + brief[place.upperBound...]
    }
}

extension [UInt8] {
    /// Where bytes stand last.
    fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
        stride(from: count - bytes.count, through: 0, by: -1).lazy.map { $0..<$0 + bytes.count }
            .first { self[$0.lowerBound] == bytes[0] && self[$0].elementsEqual(bytes) }
    }
}
