import Assets
import Downloads
import EventLoop
import Fetching
import HTTPMessage
import Orders
import Origin
import Retention
import Sessions
import Store
import WeirAPI

/// Changes whenever the listed state of an asset changes. Computed without reading the disk.
private struct AssetSignature: Equatable {
    let id: String
    let name: String
    let title: String?
    let note: String?
    let origin: WebURL
    let isInsecure: Bool
    let life: StorageLife
    let isLoaded: Bool
    let refusal: String?
    let unusableKeys: Set<Int>
    let keyChanges: Int
    var artwork: Artwork.Kind?
    var isChanged = false
    var edition = 0
    /// The sum of the changes of all folders.
    var changes = 0
    var cachedBytes: Int64 = 0

    @LoopActor init(_ asset: Asset) {
        id = asset.id
        name = asset.name
        title = asset.title
        note = asset.note
        origin = asset.origin
        isInsecure = asset.route.isInsecure
        life = asset.life
        isLoaded = asset.isLoaded
        refusal = asset.refusal
        unusableKeys = asset.keys.unusable
        keyChanges = asset.keys.usabilityChanges
        guard isLoaded else { return }
        artwork = asset.content.additions.artwork
        isChanged = asset.hasChanged
        edition = asset.playlistChanges
        for folder in asset.folders {
            changes += folder.changes
            cachedBytes += folder.cachedBytes
        }
    }
}

/// Caches the JSON of assets between lists, because most assets do not change in between.
@LoopActor final class AssetTexts {
    struct Text: Sendable {
        /// Without tracks, and without `storage` if that has no information.
        let brief: [UInt8]
        let tracks: String
        /// True if `storage` was left out.
        let isStoragePlain: Bool
    }

    /// The state on which a text depends; comparing it reads no files.
    private struct State: Equatable {
        let asset: AssetSignature
        let revision: AssetSignature?
        let task: DownloadTask?
        let state: JobState?
        let need: Need?
        let holds: [Reason]
        let isExpired: Bool
        let volume: API.Volume?
        let channel: String?
        let seen: ViewingHistory.Entry?
    }

    /// Texts that another thread writes, because writing JSON takes long, and the loop must serve players.
    private typealias Batch = Task<Result<[Text], APIError>, Never>

    /// Position of a text that is written or will be.
    private struct Line {
        let batch: Batch
        let index: Int
    }

    /// An asset's shape before it is written as JSON.
    private struct Draft {
        let id: String
        let state: State
        let shape: API.Asset
        let tracks: String
    }

    private unowned let service: LibraryService
    private var known: [String: (state: State, line: Line)] = [:]
    private static let mostLines = 128
    /// The loop serves other work between two turns.
    private static let turn = Duration.milliseconds(5)

    init(_ service: LibraryService) { self.service = service }

    /// Writes the texts of assets whose files need not be read, ahead of the first request.
    func prepare() async {
        let service = service
        await service.summaries.check()
        _ = try? await texts(of: service.library.assets.filter { service.summaries.summary(of: $0) != nil })
    }

    /// The texts of assets in their order, without assets that are removed meanwhile. Yields the loop between turns.
    func texts(of assets: [Asset]) async throws(APIError) -> [Text] {
        var begin = ContinuousClock.now
        var lines: [Line] = []
        var drafts: [Draft] = []
        lines.reserveCapacity(assets.count)
        for asset in assets {
            if ContinuousClock.now - begin > Self.turn {
                lines += write(&drafts)
                await Task.yield()
                begin = .now
            }
            if asset.isRemoved {
                continue
            }
            if let found = known[asset.id], found.state == state(of: asset) {
                lines += write(&drafts)
                lines.append(found.line)
            } else {
                drafts.append(await draft(of: asset))
                if drafts.count == Self.mostLines {
                    lines += write(&drafts)
                }
            }
        }
        lines += write(&drafts)
        // Drops the texts of removed assets.
        if known.count > 2 * service.library.assets.count + 64 {
            known = [:]
        }
        return try await read(lines)
    }

    private func draft(of asset: Asset) async -> Draft {
        let playlistChanges = asset.playlistChanges
        let before = state(of: asset)
        let facts = await service.facts(of: asset)
        let shape = service.brief(asset, facts)
        // Drafting a shape may have opened the asset, so its state is read afterwards; but the tracks of long playlists are read in
        // slices, and what changed between two of them is drafted again.
        var state = state(of: asset)
        if asset.playlistChanges != playlistChanges
            || before.asset.isLoaded && before.asset.changes != state.asset.changes
        {
            state = before
        }
        return Draft(id: asset.id, state: state, shape: shape, tracks: facts.tracks)
    }

    /// Hands drafts to another thread. The positions of their texts are recorded before the loop runs other work, so
    /// that no asset is drafted twice.
    private func write(_ drafts: inout [Draft]) -> [Line] {
        guard !drafts.isEmpty else { return [] }
        let contents = drafts.map { ($0.shape, $0.tracks) }
        let batch = Batch.detached {
            do throws(APIError) {
                return .success(try contents.map { shape, tracks throws(APIError) in try Text(shape, tracks) })
            } catch {
                return .failure(error)
            }
        }
        let lines = drafts.indices.map { Line(batch: batch, index: $0) }
        for (draft, line) in zip(drafts, lines) {
            known[draft.id] = (draft.state, line)
        }
        drafts = []
        return lines
    }

    private func read(_ lines: [Line]) async throws(APIError) -> [Text] {
        var texts: [Text] = []
        texts.reserveCapacity(lines.count)
        var open: (batch: Batch, texts: [Text])?
        for line in lines {
            if let open, open.batch == line.batch {
                texts.append(open.texts[line.index])
            } else {
                let written = try await line.batch.value.get()
                open = (line.batch, written)
                texts.append(written[line.index])
            }
        }
        return texts
    }

    private func state(of asset: Asset) -> State {
        let downloader = service.downloader
        let kept = downloader.download(of: asset)
        let download = downloader.latestDownload(of: asset)
        return State(
            asset: AssetSignature(asset), revision: asset.revision.map { AssetSignature($0) }, task: kept?.task,
            state: download?.state,
            need: download?.need, holds: download?.holds ?? [], isExpired: service.retention.isExpired(asset),
            volume: asset.volume.map { API.Volume(path: $0.path, isPresent: $0.isThere) },
            channel: service.library.channel(of: asset)?.name, seen: service.sessions?.history?.entry(of: asset))
    }
}

extension AssetTexts.Text {
    private static let plain = API.Storage()
    /// `plain` as JSON. Encoding it never fails.
    private static let plainText = (try? API.encode(plain)) ?? []
    /// Empty tracks by `API.encode`. In a JSON string its quotation marks would be escaped.
    private static let empty = Array(#""tracks":{"audio":[],"subtitles":[],"variants":[]}"#.utf8)

    init(_ shape: API.Asset, _ tracks: String) throws(APIError) {
        var shape = shape
        isStoragePlain = shape.storage == Self.plain
        if isStoragePlain {
            shape.storage = nil
        }
        brief = try API.encode(shape)
        self.tracks = tracks
    }

    /// The text with its tracks and its `storage`.
    var complete: [UInt8] {
        guard let range = brief.lastRange(of: Self.empty) else { return brief }
        var text = Array(brief[..<range.lowerBound])
        text.reserveCapacity(brief.count + tracks.utf8.count + 128)
        if isStoragePlain {
            text += Array(#""storage":"#.utf8) + Self.plainText + [UInt8(ascii: ",")]
        }
        text += #""tracks":"#.utf8
        text += tracks.utf8
        return text + brief[range.upperBound...]
    }
}

extension [UInt8] {
    /// Range of the last occurrence of `bytes`.
    fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
        stride(from: count - bytes.count, through: 0, by: -1).lazy.map { $0..<$0 + bytes.count }
            .first { self[$0.lowerBound] == bytes[0] && self[$0].elementsEqual(bytes) }
    }
}
