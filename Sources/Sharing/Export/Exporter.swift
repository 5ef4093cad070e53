package import Assets
package import EventLoop
package import Orders
import Store

/// Writes assets to folders, archives and files that play without Weir.
@LoopActor package final class Exporter {
    package struct Export: Sendable {
        package let format: ExportFormat
        /// The size of the exported pieces, in bytes.
        package let bytes: Int64
        /// The stored renditions that are not in the export, with the reasons.
        package let leftOut: [String]
    }

    let library: Library
    private let mover: Mover
    let joinedTexts = JoinedTexts()

    /// Makes an exporter. The assets that it exports are not moved by `mover` meanwhile.
    package init(_ library: Library, _ mover: Mover) {
        self.library = library
        self.mover = mover
    }

    /// Writes the complete renditions of an asset to `path`, which must not exist yet: completely or not at all.
    ///
    /// - Parameters:
    ///   - path: absolute; its folder must exist, and be writable for this process.
    ///   - format: nil for the format that the path's extension names.
    /// - Throws: `incomplete`, `exists`, `badTarget`, `noProgram`, `store`, `library`.
    package func export(
        _ asset: Asset, to path: String, as format: ExportFormat? = nil
    ) async throws(ExchangeError) -> Export {
        let format = format ?? ExportFormat.of(path)
        guard !library.store.contains(path) else {
            throw ExchangeError(.badTarget, "\(asset.name) is not exported: \(path) is in the store itself")
        }
        do throws(LibraryError) {
            try library.checkBundle(of: asset)
            try library.volumes.checkPresence(of: asset)
        } catch {
            throw ExchangeError(error)
        }
        await mover.beginExport(of: asset)
        defer { mover.endExport(of: asset) }
        let note = library.store.noteExport(to: path)
        defer { library.store.endExport(note) }
        // Pieces that other programs have deleted are found now, and not in the middle of the export.
        await library.survey(asset)
        switch format {
        case .folder, .tar: return try await writeTree(asset, to: path, as: format)
        case .mp4, .mkv: return try await remux(asset, to: path, as: format)
        }
    }

    private func writeTree(
        _ asset: Asset, to path: String, as format: ExportFormat
    ) async throws(ExchangeError) -> Export {
        let name = asset.name
        let time = Library.now
        let contents = try await AssetExport(asset: asset).verifiedContents()
        do throws(StoreError) {
            try await DiskWork.run { () throws(StoreError) in
                switch format {
                case .folder: try contents.writeFolder(at: path)
                default: try contents.writeArchive(at: path, root: name, time: time)
                }
            }
        } catch {
            throw ExchangeError(leaving: error, "\(name) is not exported")
        }
        return Export(format: format, bytes: contents.bytes, leftOut: [])
    }

    private func remux(_ asset: Asset, to path: String, as format: ExportFormat) async throws(ExchangeError) -> Export {
        let export = try await AssetExport(asset: asset).singleFile()
        let remuxer = try Remuxer(export, format: format, title: asset.title ?? asset.name)
        try await Self.run(remuxer, in: library.store, to: path).get()
        return Export(format: format, bytes: export.contents.bytes, leftOut: export.leftOut)
    }

    private nonisolated static func run(
        _ remuxer: Remuxer, in store: BundleStore, to path: String
    ) async -> Result<Void, ExchangeError> {
        do {
            return try await DiskWork.run { () throws(StoreError) in
                try store.withWorkFolder { work throws(StoreError) in
                    Result { () throws(ExchangeError) in
                        try remuxer.run(in: work, to: path)
                    }
                }
            }
        } catch {
            return .failure(ExchangeError(leaving: error, "\(remuxer.title) is not exported"))
        }
    }
}
