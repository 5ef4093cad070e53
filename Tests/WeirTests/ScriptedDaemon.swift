import Control
import EventLoop
import HTTPServer
import Orders
import TestSupport
import WeirAPI

/// A daemon with the real API and a service whose downloads go through given states.
@LoopActor final class ScriptedDaemon {
    /// The states of a download, one for each request; the last one repeats.
    var states: [API.Download] = []
    /// The id of a download that another one has replaced.
    private var replaced: String?
    private(set) var requests: [API.DownloadRequest] = []
    private(set) var openings: [API.PresentationRequest] = []
    private(set) var removed: [String] = []
    private(set) var questions = 0
    private(set) var changes: [String] = []
    private(set) var images: [String: [UInt8]] = [:]
    /// The event feed; nil for a daemon without events.
    let events: EventFeed?
    let assetsByName: [String: API.Asset]
    private var server: WebServer?
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
        let routes = ControlRoutes(handlers, events: events, token: claim.token)
        let server = WebServer { _ = routes.handle($0) }
        let port = try server.listen(host: "127.0.0.1", port: 0)
        try claim.publish(url: "http://127.0.0.1:\(port)")
        self.server = server
    }

    func replace(_ id: String?) { replaced = id }

    func stop() async {
        events?.end()
        await server?.stop(within: .seconds(2))
        server = nil
    }

    private func asset(_ name: String) throws(APIError) -> API.Asset {
        guard let asset = assetsByName[name] ?? assetsByName.values.first(where: { $0.url == name }) else {
            throw APIError(.noSuchAsset, "there is no asset named \(name)", next: "weir list")
        }
        return asset
    }

    private func download() -> API.Download {
        questions += 1
        return states.count > 1 ? states.removeFirst() : states[0]
    }

    private(set) var policies: [String: StoragePolicy] = [:]
    private(set) var assetChanges: [String: API.AssetChange] = [:]
    private(set) var currentMode = API.Mode(.auto)

    /// The endpoints that the daemon answers.
    var handlers: EndpointHandlers {
        var handlers = EndpointHandlers()
        registerAssets(in: &handlers)
        registerFiles(in: &handlers)
        registerDownloads(in: &handlers)
        handlers.on(Endpoints.mode) { _ in self.currentMode }
        handlers.on(Endpoints.setMode) { _, mode in
            self.currentMode = mode
            return mode
        }
        return handlers
    }

    private func registerAssets(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.assets) { _ in
            API.AssetList(assets: self.assetsByName.values.sorted { $0.name < $1.name })
        }
        handlers.on(Endpoints.asset) { call throws(APIError) in try self.asset(call.item) }
        handlers.on(Endpoints.update) { call throws(APIError) in try self.asset(call.item) }
        handlers.on(Endpoints.cache) { call, _ throws(APIError) in try self.asset(call.item) }
        handlers.on(Endpoints.removeAsset) { call throws(APIError) in
            self.removed.append(call.item)
            return API.Removal(name: call.item, bytes: try self.asset(call.item).bytes)
        }
        handlers.on(Endpoints.setPolicy) { call, policy throws(APIError) in
            var asset = try self.asset(call.item)
            self.policies[call.item] = policy
            asset.storage = API.Storage(policy: policy)
            return asset
        }
        handlers.on(Endpoints.changeAsset) { call, change throws(APIError) in
            var asset = try self.asset(call.item)
            self.assetChanges[call.item] = change
            asset.name = change.name ?? call.item
            asset.title = change.title
            return asset
        }
    }

    private func registerFiles(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.attach) { call, request throws(APIError) in
            let kind = request.kind ?? .subtitles
            return API.Attachment(
                asset: try self.asset(call.item).name, id: "attached-\(kind.rawValue)", kind: kind,
                name: request.title ?? "Deutsch", count: 2)
        }
        handlers.on(Endpoints.detach) { call throws(APIError) in
            let id = call.items[1]
            guard id != "none" else {
                throw APIError(.noSuchTrack, "\(call.item) has no attached track \"none\"")
            }
            return API.Detachment(asset: try self.asset(call.item).name, id: id, bytes: 5)
        }
        handlers.on(Endpoints.export) { call, request in
            var export = API.Export(
                name: call.item, path: request.path, format: request.format ?? .folder, bytes: 7_000_000)
            if request.format == .mp4 {
                export.shortfalls = [Shortfall(.container, "subtitles-en is left out: it is no WebVTT")]
            }
            return export
        }
        handlers.on(Endpoints.importAsset) { _, request in
            let name = request.name ?? "film"
            var asset = API.Asset(name: name, id: "film-2222", url: "http://imported.invalid/film/m.m3u8")
            asset.bytes = 7_000_000
            return asset
        }
        handlers.on(Endpoints.setArtwork) { call, bytes in
            self.images[call.item] = bytes
            return API.Asset(name: call.item, id: call.item, url: "https://h/m.m3u8")
        }
    }

    private func registerDownloads(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.presentation) { call throws(APIError) in
            API.Presentation(url: try call.url(), duration: 61, tracks: .init(variants: [sampleVariant]))
        }
        handlers.on(Endpoints.open) { _, request in
            self.openings.append(request)
            return API.Presentation(url: request.source, tracks: .init())
        }
        handlers.on(Endpoints.playable) { _, request throws(APIError) in
            guard !PlayerURL.isURL(request.source) else {
                return API.Presentation(url: request.source, tracks: .init())
            }
            let asset = try self.asset(request.source)
            var presentation = API.Presentation(url: asset.url, tracks: asset.tracks)
            presentation.name = asset.name
            return presentation
        }
        handlers.on(Endpoints.selection) { _, request throws(APIError) in try self.explain(request) }
        handlers.on(Endpoints.addDownload) { _, request throws(APIError) in
            self.requests.append(request)
            guard !self.states.isEmpty else {
                let next = "mpv http://localhost:8216/…"
                throw APIError(.live, "\(request.source) is live: it cannot be saved", next: next)
            }
            return self.download()
        }
        handlers.on(Endpoints.downloads) { _ in API.DownloadList(downloads: self.states) }
        handlers.on(Endpoints.download) { call throws(APIError) in
            if self.questions > 0, call.item == self.replaced {
                self.questions += 1
                throw APIError(.noSuchDownload, "there is no download \(call.item)")
            }
            return self.download()
        }
        for change in API.DownloadChange.allCases {
            handlers.on(Endpoints.changeDownload(change)) { call, request throws(APIError) in
                try self.change(change, id: call.item, request)
            }
        }
    }

    private func explain(_ request: API.DownloadRequest) throws(APIError) -> API.Presentation {
        requests.append(request)
        if let contradiction = request.order.contradiction {
            throw APIError(.badRequest, contradiction)
        }
        guard request.order.selection.quality != .height(9) else {
            throw APIError(.noMatch, "no variant is 9p; there are 720p")
        }
        var other = API.Variant(id: "video-360p")
        other.width = 640
        other.height = 360
        other.bandwidth = 800_000
        var presentation = API.Presentation(
            url: request.source, duration: 61, tracks: .init(variants: [other, sampleVariant]))
        presentation.explanation = sampleExplanation
        return presentation
    }

    private func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest
    ) throws(APIError) -> API.Download {
        guard var download = states.first(where: { $0.id == id }) else {
            throw APIError(.noSuchDownload, "there is no download \(id)")
        }
        changes.append([change.rawValue, id, request.url].compactMap(\.self).joined(separator: " "))
        switch change {
        case .pause: download.state = .paused
        case .resume, .first: download.state = .queued
        case .cancel: download.state = .cancelled
        }
        return download
    }
}
