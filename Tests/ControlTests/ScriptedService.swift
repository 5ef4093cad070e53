import API
import Control
import Downloader
import EventLoop
import Exchange
import Library
import Retention
import Substitution

/// A service with two assets, one of which fails for every call.
@LoopActor final class ScriptedService: ControlService {
    var removed: [String] = []
    var changes: [String] = []
    var images: [String: [UInt8]] = [:]
    var requests: [API.DownloadRequest] = []

    func assets(_ wish: API.AssetQuery) async throws(APIError) -> [UInt8] {
        try API.encode(
            API.AssetList(assets: [try await asset(named: "sintel")], playCache: API.PlayCache(bytes: 5, limit: 9)))
    }

    func asset(named name: String) async throws(APIError) -> API.Asset {
        switch name {
        case "sintel", "a b/c":
            return API.Asset(name: name, id: "sintel-k3f9", url: "https://h/m.m3u8", duration: 888.1)
        case "broken": throw APIError(.disk, "broken: the disk gives errors", next: "weir show broken")
        default: throw APIError(.noSuchAsset, "no asset is called \(name)", next: "weir list")
        }
    }

    func update(assetNamed name: String) async throws(APIError) -> API.Asset { try await asset(named: name) }

    func cache(_ request: API.CacheRequest, ofAsset name: String) async throws(APIError) -> API.Asset {
        try await asset(named: name)
    }

    func attach(_ request: API.AttachRequest, toAsset name: String) async throws(APIError) -> API.Attachment {
        let asset = try await asset(named: name)
        let kind = request.kind ?? .subtitles
        return API.Attachment(
            asset: asset.name, id: "attached-\(kind.rawValue)", kind: kind, name: request.title ?? "Deutsch", count: 2)
    }

    func detach(_ id: String, fromAsset name: String) async throws(APIError) -> API.Detachment {
        guard id != "none" else { throw APIError(.noSuchTrack, "\(name) has no attached track \"none\"") }
        return API.Detachment(asset: try await asset(named: name).name, id: id, bytes: 5)
    }

    func removeAsset(named name: String) async throws(APIError) -> API.Removal {
        _ = try await asset(named: name)
        removed.append(name)
        return API.Removal(name: name, bytes: 5)
    }

    func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export {
        _ = try await asset(named: name)
        return API.Export(name: name, path: request.path, format: request.format ?? .folder, bytes: 7)
    }

    func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        guard request.path != "/nowhere" else { throw APIError(.badImport, "/nowhere cannot be read") }
        return API.Asset(name: request.name ?? "film", id: "film-2222", url: "http://imported.invalid/film-2222/m.m3u8")
    }

    func artwork(ofAsset name: String) async throws(APIError) -> API.Artwork {
        guard let bytes = images[name] else { throw APIError(.noArtwork, "\(name) has no artwork") }
        return API.Artwork(mediaType: "image/png", bytes: bytes)
    }

    func setArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset {
        images[name] = bytes
        return API.Asset(name: name, id: name, url: "https://h/m.m3u8")
    }

    private(set) var policies: [String: API.Policy] = [:]
    private(set) var assetChanges: [String: API.AssetChange] = [:]

    func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset {
        var asset = try await asset(named: name)
        policies[name] = policy
        asset.storage = API.Storage(policy: policy)
        return asset
    }

    func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset {
        var asset = try await asset(named: name)
        assetChanges[name] = change
        asset.name = change.name ?? name
        asset.title = change.title
        return asset
    }

    private(set) var currentMode = API.Mode(.auto)

    func mode() async throws(APIError) -> API.Mode { currentMode }

    func change(to mode: API.Mode) async throws(APIError) -> API.Mode {
        currentMode = mode
        return mode
    }

    func inspect(url: String) async throws(APIError) -> API.Presentation {
        API.Presentation(url: url, duration: 3, tracks: .init())
    }

    func open(_ request: API.PresentationRequest) async throws(APIError) -> API.Presentation {
        API.Presentation(url: request.source, tracks: .init())
    }

    func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation {
        requests.append(request)
        var presentation = API.Presentation(url: request.source, tracks: .init())
        presentation.explanation = API.Explanation(
            chosen: .init(index: 0, id: "video-720p", reason: "the highest bit rate"), others: [], selection: .init())
        return presentation
    }

    func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        requests.append(request)
        return API.Download(id: "d1", asset: "sintel")
    }

    func downloads() async throws(APIError) -> [API.Download] { [try await download(id: "d1")] }

    func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest
    ) async throws(APIError) -> API.Download {
        var download = try await download(id: id)
        changes.append("\(change.rawValue) \(request.url ?? "-")")
        download.state = change == .pause ? .paused : change == .cancel ? .cancelled : .queued
        return download
    }

    func download(id: String) async throws(APIError) -> API.Download {
        guard id == "d1" else { throw APIError(.noSuchDownload, "there is no download \(id)") }
        return API.Download(id: id, asset: "sintel")
    }
}

extension LibraryService {
    /// A service over a library that moves no assets.
    convenience init(
        library: Library, summaries: Summaries? = nil, retention: Retention, downloader: Downloader
    ) {
        self.init(
            library: library, summaries: summaries ?? Summaries(library.store), substitutions: Substitutions(),
            retention: retention,
            exchange: ExchangeServices(library, moves: MoveRegister()), downloader: downloader)
    }
}
