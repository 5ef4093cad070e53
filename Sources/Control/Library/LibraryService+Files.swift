import Assets
import Downloads
import EventLoop
import Extras
import HTTPMessage
import Orders
import Sharing
package import WeirAPI

/// Images for assets.
extension LibraryService {
    package func artwork(ofAsset name: String) async throws(APIError) -> API.Artwork {
        let asset = try find(name)
        if let artwork = library.artwork.image(of: asset) {
            return API.Artwork(mediaType: artwork.kind.mediaType, bytes: artwork.bytes)
        }
        throw APIError(.noArtwork, "\(asset.name) has no artwork")
    }

    /// Its artwork, or else a picture of the stored part of its film.
    func poster(ofAsset name: String) async throws(APIError) -> API.Artwork {
        let asset = try find(name)
        if let artwork = library.artwork.image(of: asset) {
            return API.Artwork(mediaType: artwork.kind.mediaType, bytes: artwork.bytes)
        }
        guard let poster = await exchange.posters.poster(of: asset) else {
            throw APIError(.noArtwork, "no picture can be made of what is stored of \(asset.name)")
        }
        return API.Artwork(mediaType: poster.kind.mediaType, bytes: poster.bytes)
    }

    package func setArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset {
        let asset = try find(name)
        guard let artwork = Artwork(bytes) else {
            throw APIError(.notArtwork, "the file for \(asset.name) is not \(Artwork.accepted)")
        }
        try store(artwork, of: asset)
        return await shape(asset)
    }

    /// Fetches the image at the request's URL; nil if the request has none.
    func artwork(_ request: API.DownloadRequest, for asset: Asset) async throws(APIError) -> Artwork? {
        guard let text = request.artwork else { return nil }
        let url = try Self.url(text)
        do throws(LibraryError) {
            return try await library.artwork.fetch(url, for: asset)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    func store(_ artwork: Artwork, of asset: Asset) throws(APIError) {
        do throws(LibraryError) {
            try library.artwork.keep(artwork, of: asset)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    package func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export {
        let asset = try find(name)
        let isSplit = request.split ?? false
        let format = request.format ?? ExportFormat.of(request.path)
        guard !isSplit || format.isFile else {
            throw APIError(.badRequest, "only one file is split: a \(format.rawValue) holds the whole film")
        }
        do throws(ExchangeError) {
            let export = try await exchange.exporter.export(
                asset, to: request.path, as: request.format, isSplit: isSplit)
            var shape = API.Export(
                name: asset.name, path: request.path, format: export.format, bytes: Int(export.bytes))
            shape.shortfalls = export.losses.map { Shortfall(.container, $0) }.nonEmpty
            if export.paths.count > 1 {
                shape.paths = export.paths
            }
            if export.isSplittable {
                shape.isSplittable = true
            }
            return shape
        } catch {
            guard format == .srt, error.code == .incomplete else { throw APIError(error, asset: asset.name) }
            throw APIError(
                .incomplete, error.message, next: "weir get \(asset.name) --subs all, which fetches its subtitles",
                underlying: error)
        }
    }

    package func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        do throws(ExchangeError) {
            let asset = try await exchange.importer.importAsset(at: request.path, name: request.name)
            // Also when the client has left meanwhile.
            await Task { @LoopActor in await downloader.keep(asset) }.value
            return await shape(asset)
        } catch {
            throw APIError(error)
        }
    }
}
