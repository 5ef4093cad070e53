import API
import Control
import EventLoop
import HTTPServer
import TestSupport

/// A daemon with the real API and a service whose downloads go through given states.
@LoopActor final class ScriptedDaemon: ControlService {
    /// The states of a download, one for each request; the last one repeats.
    var states: [API.Download] = []
    private(set) var requests: [API.DownloadRequest] = []
    private(set) var openings: [API.PresentationRequest] = []
    private(set) var removed: [String] = []
    private(set) var questions = 0
    private(set) var changes: [String] = []
    private(set) var images: [String: [UInt8]] = [:]
    /// The event feed; nil for a daemon without events.
    let events: EventFeed?
    let assetsByName: [String: API.Asset]
    private var server: HTTPServer?
    private let claim: StateClaim

    /// Starts the daemon in a state directory.
    ///
    /// - Parameter snapshot: the first event of the stream; nil for a daemon without an event stream.
    init(
        state: String, assets: [API.Asset] = [], states: [API.Download] = [], snapshot: [API.Download]? = nil
    ) throws {
        events = snapshot.map { downloads in EventFeed { downloads } }
        assetsByName = Dictionary(assets.map { ($0.name, $0) }) { $1 }
        self.states = states
        claim = try StateDirectory(state).claim()
        let routes = ControlRoutes(service: self, events: events, token: claim.token)
        let server = HTTPServer { _ = routes.handle($0) }
        let port = try server.listen(host: "127.0.0.1", port: 0)
        try claim.publish(url: "http://127.0.0.1:\(port)")
        self.server = server
    }

    func stop() async {
        events?.end()
        await server?.stop(within: .seconds(2))
        server = nil
    }

    func assets(_ wish: API.AssetQuery) async throws(APIError) -> [UInt8] {
        try API.encode(API.AssetList(assets: assetsByName.values.sorted { $0.name < $1.name }))
    }

    func asset(named name: String) async throws(APIError) -> API.Asset {
        guard let asset = assetsByName[name] ?? assetsByName.values.first(where: { $0.url == name }) else {
            throw APIError(.noSuchAsset, "there is no asset named \(name)", next: "weir list")
        }
        return asset
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
        removed.append(name)
        return API.Removal(name: name, bytes: try await asset(named: name).bytes)
    }

    func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export {
        let leftOut = request.format == .mp4 ? ["subtitles-en: no WebVTT"] : nil
        return API.Export(
            name: name, path: request.path, format: request.format ?? .folder, bytes: 7_000_000, leftOut: leftOut)
    }

    func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        var asset = API.Asset(name: request.name ?? "film", id: "film-2222", url: "http://imported.invalid/film/m.m3u8")
        asset.bytes = 7_000_000
        return asset
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
        API.Presentation(url: url, duration: 61, tracks: .init(variants: [sampleVariant]))
    }

    func open(_ request: API.PresentationRequest) async throws(APIError) -> API.Presentation {
        openings.append(request)
        return API.Presentation(url: request.source, tracks: .init())
    }

    func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation {
        requests.append(request)
        if let contradiction = request.contradiction { throw APIError(.badRequest, contradiction) }
        guard request.quality != .height(9) else { throw APIError(.noMatch, "no variant is 9p; there are 720p") }
        var other = API.Variant(id: "video-360p")
        (other.width, other.height, other.bandwidth) = (640, 360, 800_000)
        var presentation = API.Presentation(
            url: request.source, duration: 61, tracks: .init(variants: [other, sampleVariant]))
        presentation.explanation = sampleExplanation
        return presentation
    }

    func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        requests.append(request)
        guard !states.isEmpty else {
            throw APIError(
                .live, "\(request.source) is live: it cannot be saved", next: "mpv http://localhost:8216/…")
        }
        return try await download(id: "d1")
    }

    func downloads() async throws(APIError) -> [API.Download] { states }

    func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest
    ) async throws(APIError) -> API.Download {
        guard var download = states.first(where: { $0.id == id }) else {
            throw APIError(.noSuchDownload, "there is no download \(id)")
        }
        changes.append([change.rawValue, id, request.url].compactMap(\.self).joined(separator: " "))
        switch change {
        case .pause: download.state = .paused
        case .resume: download.state = .queued
        case .cancel: download.state = .cancelled
        }
        return download
    }

    func download(id: String) async throws(APIError) -> API.Download {
        questions += 1
        return states.count > 1 ? states.removeFirst() : states[0]
    }
}
