public import API
import Downloader
import EventLoop
import Library

extension LibraryService {
    /// See `ControlService`.
    public func export(
        _ request: API.ExportRequest, ofAsset name: String
    ) async throws(APIError) -> API.Export {
        let asset = try find(name)
        do throws(LibraryError) {
            let export = try await library.export(
                asset, to: request.path, as: request.format.flatMap { ExportFormat(rawValue: $0.rawValue) },
                sharesFiles: request.link ?? false)
            return API.Export(
                name: asset.name, path: request.path, format: .init(rawValue: export.format.rawValue) ?? .folder,
                bytes: Int(export.bytes), leftOut: export.leftOut.isEmpty ? nil : export.leftOut)
        } catch {
            throw APIError(error, asset: asset.name)
        }
    }

    /// See `ControlService`.
    public func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        do throws(LibraryError) {
            let asset = try await library.importAsset(at: request.path, name: request.name)
            await downloader.keep(asset)
            return shape(asset)
        } catch {
            throw APIError(error)
        }
    }
}
