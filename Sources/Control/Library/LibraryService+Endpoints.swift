import EventLoop
import HTTPMessage
import Orders
import WeirAPI

/// The endpoints that the library and its downloads answer.
extension LibraryService {
    package func register(in handlers: inout EndpointHandlers) {
        registerAssets(in: &handlers)
        registerTracksAndFiles(in: &handlers)
        registerKeys(in: &handlers)
        registerDownloads(in: &handlers)
        verifications.register(Endpoints.verification, in: &handlers)
        publications.register(Endpoints.publication, in: &handlers)
        moves.register(Endpoints.move, in: &handlers)
        handlers.on(Endpoints.mode) { _ throws(APIError) in try await self.mode() }
        handlers.on(Endpoints.setMode) { _, mode throws(APIError) in try await self.change(to: mode) }
        handlers.on(Endpoints.limit) { _ throws(APIError) in self.limit() }
        handlers.on(Endpoints.setLimit) { _, limit throws(APIError) in try self.change(to: limit) }
        handlers.on(Endpoints.store) { _ throws(APIError) in try await self.store() }
    }

    private func registerAssets(in handlers: inout EndpointHandlers) {
        handlers.onBytes(Endpoints.assets) { call throws(APIError) in
            let query = try API.AssetQuery(call.query)
            guard call.credential.isPhone else {
                return ControlResponse(status: .ok, body: try await self.assets(query))
            }
            return ControlResponse(status: .ok, body: try API.encode(try await self.assetsForPhones(query)))
        }
        handlers.on(Endpoints.asset) { call throws(APIError) in try await self.asset(named: call.item) }
        handlers.on(Endpoints.changeAsset) { call, change throws(APIError) in
            try await self.change(change, ofAsset: call.item)
        }
        handlers.on(Endpoints.removeAsset) { call throws(APIError) in
            try await self.removeAsset(named: call.item, waits: try call.query.flag("wait") ?? false)
        }
        handlers.on(Endpoints.policy) { call throws(APIError) in
            try await self.asset(named: call.item).storage?.policy ?? StoragePolicy()
        }
        handlers.on(Endpoints.setPolicy) { call, policy throws(APIError) in
            try await self.setPolicy(policy, ofAsset: call.item)
        }
        handlers.on(Endpoints.setPosition) { call, position throws(APIError) in
            try await self.setPosition(position, ofAsset: call.item)
        }
        handlers.on(Endpoints.update) { call throws(APIError) in try await self.update(assetNamed: call.item) }
        handlers.on(Endpoints.cache) { call, request throws(APIError) in
            try await self.cache(request, ofAsset: call.item)
        }
    }

    private func registerTracksAndFiles(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.attach) { call, request throws(APIError) in
            try await self.attach(request, toAsset: call.item)
        }
        handlers.on(Endpoints.detach) { call throws(APIError) in
            try await self.detach(call.items[1], fromAsset: call.item)
        }
        handlers.onBytes(Endpoints.artwork) { call throws(APIError) in
            let artwork = try await self.artwork(ofAsset: call.item)
            return ControlResponse(status: .ok, body: artwork.bytes, mediaType: artwork.mediaType)
        }
        handlers.onBytes(Endpoints.poster) { call throws(APIError) in
            let poster = try await self.poster(ofAsset: call.item)
            return ControlResponse(status: .ok, body: poster.bytes, mediaType: poster.mediaType)
        }
        handlers.on(Endpoints.play) { call throws(APIError) in try await self.play(assetNamed: call.item) }
        handlers.on(Endpoints.setArtwork) { call, image throws(APIError) in
            try await self.setArtwork(image, ofAsset: call.item)
        }
        handlers.on(Endpoints.export) { call, request throws(APIError) in
            try await self.export(request, ofAsset: call.item)
        }
        handlers.on(Endpoints.importAsset) { _, request throws(APIError) in try await self.importAsset(request) }
    }

    private func registerKeys(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.keys) { call throws(APIError) in try await self.keys(ofAsset: call.item) }
        handlers.on(Endpoints.orderKeys) { call, order throws(APIError) in
            try await self.order(order, ofAsset: call.item)
        }
        handlers.on(Endpoints.allKeys) { _ throws(APIError) in try await self.allKeys() }
        handlers.on(Endpoints.orderAllKeys) { _, order throws(APIError) in try await self.orderAllKeys(order) }
    }

    private func registerDownloads(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.open) { _, request throws(APIError) in try await self.open(request) }
        handlers.on(Endpoints.presentation) { call throws(APIError) in
            try await self.inspect(url: try call.url())
        }
        handlers.on(Endpoints.playable) { call, request throws(APIError) in
            try await self.playable(request, isOffline: try call.query.flag("offline") ?? false)
        }
        handlers.on(Endpoints.selection) { _, request throws(APIError) in try await self.explain(request) }
        handlers.on(Endpoints.downloads) { _ throws(APIError) in
            API.DownloadList(downloads: try await self.downloads())
        }
        handlers.on(Endpoints.addDownload) { _, request throws(APIError) in try await self.download(request) }
        handlers.on(Endpoints.download) { call throws(APIError) in try await self.download(id: call.item) }
        for change in API.DownloadChange.allCases {
            handlers.on(Endpoints.changeDownload(change)) { call, request throws(APIError) in
                try await self.change(change, id: call.item, request)
            }
        }
    }
}
