import Downloader
import EventLoop
import Exchange
import Library

extension LibraryService {
    /// See `ControlService`.
    public func export(
        _ request: API.ExportRequest, ofAsset name: String
    ) async throws(ControlError) -> API.Export {
        let asset = try find(name)
        do throws(ExchangeError) {
            let export = try await exchange.exporter.export(
                asset, to: request.path, as: request.format.flatMap { ExportFormat(rawValue: $0.rawValue) },
                sharesFiles: request.link ?? false)
            return API.Export(
                name: asset.name, path: request.path, format: .init(rawValue: export.format.rawValue) ?? .folder,
                bytes: Int(export.bytes), leftOut: export.leftOut.isEmpty ? nil : export.leftOut)
        } catch {
            throw ControlError(error, asset: asset.name)
        }
    }

    /// See `ControlService`.
    public func importAsset(_ request: API.ImportRequest) async throws(ControlError) -> API.Asset {
        do throws(ExchangeError) {
            let asset = try await exchange.importer.importAsset(at: request.path, name: request.name)
            await downloader.keep(asset)
            return shape(asset)
        } catch {
            throw ControlError(error)
        }
    }
}
