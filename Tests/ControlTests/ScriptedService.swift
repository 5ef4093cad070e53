import Assets
import EventLoop
import HTTPMessage
import Orders
import TestRooms
import WeirAPI

@testable import Control

/// Two assets, one of which fails for every call, and one download.
@LoopActor final class ScriptedService {
    private(set) var removed: [String] = []
    private(set) var changes: [String] = []
    private(set) var images: [String: [UInt8]] = [:]
    private(set) var requests: [API.DownloadRequest] = []
    private(set) var policies: [String: StoragePolicy] = [:]
    private(set) var assetChanges: [String: API.AssetChange] = [:]
    private(set) var currentMode = API.Mode(.auto)

    /// The endpoints that the service answers.
    var handlers: EndpointHandlers {
        var handlers = EndpointHandlers()
        registerAssets(in: &handlers)
        registerDownloads(in: &handlers)
        handlers.on(Endpoints.mode) { _ in self.currentMode }
        handlers.on(Endpoints.setMode) { _, mode in
            self.currentMode = mode
            return mode
        }
        return handlers
    }

    private func asset(_ name: String) throws(APIError) -> API.Asset {
        switch name {
        case "sintel", "a b/c":
            return API.Asset(name: name, id: "sintel-k3f9", url: "https://h/m.m3u8", duration: 888.1)
        case "broken": throw APIError(.disk, "broken: the disk gives errors", next: "weir show broken")
        default: throw APIError(.noSuchAsset, "no asset is called \(name)", next: "weir list")
        }
    }

    private func registerAssets(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.assets) { _ throws(APIError) in
            API.AssetList(assets: [try self.asset("sintel")], playCache: API.PlayCache(bytes: 5, limit: 9))
        }
        handlers.on(Endpoints.asset) { call throws(APIError) in try self.asset(call.item) }
        handlers.on(Endpoints.removeAsset) { call throws(APIError) in
            _ = try self.asset(call.item)
            self.removed.append(call.item)
            return API.Removal(name: call.item, bytes: 5)
        }
        handlers.on(Endpoints.changeAsset) { call, change throws(APIError) in
            var asset = try self.asset(call.item)
            self.assetChanges[call.item] = change
            asset.name = change.name ?? call.item
            asset.title = change.title
            return asset
        }
        handlers.on(Endpoints.policy) { call in self.policies[call.item] ?? StoragePolicy() }
        handlers.on(Endpoints.setPolicy) { call, policy throws(APIError) in
            var asset = try self.asset(call.item)
            self.policies[call.item] = policy
            asset.storage = API.Storage(policy: policy)
            return asset
        }
        handlers.on(Endpoints.export) { call, request throws(APIError) in
            _ = try self.asset(call.item)
            return API.Export(name: call.item, path: request.path, format: request.format ?? .folder, bytes: 7)
        }
        handlers.on(Endpoints.importAsset) { _, request throws(APIError) in
            guard request.path != "/nowhere" else { throw APIError(.badImport, "/nowhere cannot be read") }
            let name = request.name ?? "film"
            return API.Asset(name: name, id: "film-2222", url: "http://imported.invalid/film-2222/m.m3u8")
        }
        handlers.onBytes(Endpoints.artwork) { call throws(APIError) in
            guard let bytes = self.images[call.item] else {
                throw APIError(.noArtwork, "\(call.item) has no artwork")
            }
            return ControlResponse(status: .ok, body: bytes, mediaType: "image/png")
        }
        handlers.on(Endpoints.setArtwork) { call, bytes in
            self.images[call.item] = bytes
            return API.Asset(name: call.item, id: call.item, url: "https://h/m.m3u8")
        }
    }

    private func download(_ id: String) throws(APIError) -> API.Download {
        guard id == "d1" else { throw APIError(.noSuchDownload, "there is no download \(id)") }
        return API.Download(id: id, asset: "sintel")
    }

    private func registerDownloads(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.presentation) { call throws(APIError) in
            API.Presentation(url: try call.url(), duration: 3, tracks: .init())
        }
        handlers.on(Endpoints.open) { _, request in API.Presentation(url: request.source, tracks: .init()) }
        handlers.on(Endpoints.selection) { _, request in
            self.requests.append(request)
            var presentation = API.Presentation(url: request.source, tracks: .init())
            presentation.explanation = API.Explanation(
                chosen: .init(index: 0, id: "video-720p", reason: "the highest bit rate"), others: [],
                selection: .init())
            return presentation
        }
        handlers.on(Endpoints.addDownload) { _, request in
            self.requests.append(request)
            return API.Download(id: "d1", asset: "sintel")
        }
        handlers.on(Endpoints.downloads) { _ throws(APIError) in
            API.DownloadList(downloads: [try self.download("d1")])
        }
        handlers.on(Endpoints.download) { call throws(APIError) in try self.download(call.item) }
        for change in API.DownloadChange.allCases {
            handlers.on(Endpoints.changeDownload(change)) { call, request throws(APIError) in
                var download = try self.download(call.item)
                self.changes.append("\(change.rawValue) \(request.url ?? "-")")
                download.state = change == .pause ? .paused : change == .cancel ? .cancelled : .queued
                return download
            }
        }
    }
}

extension LibraryService {
    /// A service over the rooms of a house with downloads.
    convenience init(of house: TestHouse) {
        self.init(
            library: house.library, summaries: Summaries(house.library.store), substitutions: house.substitutions,
            retention: house.retention, exchange: house.exchange, downloader: house.downloader)
    }
}
