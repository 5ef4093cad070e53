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
        /// The written files or the folder: several for a film that is split.
        package let paths: [String]
        /// Sentences about what is stored and not in the export.
        package var losses: [String] = []
        /// True if the media changes in the middle, and a file for each part would hold more.
        package var isSplittable = false
    }

    /// The most files of a film that is split.
    private static let mostParts = 100

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
    ///   - isSplit: true for one file, to write a file for each part between two changes of the media: `film-1.mkv` and so on.
    /// - Throws: `incomplete`, `exists`, `badTarget`, `noProgram`, `store`, `library`.
    package func export(
        _ asset: Asset, to path: String, as format: ExportFormat? = nil, isSplit: Bool = false
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
        case .srt: return try await writeSubtitles(of: asset, to: path)
        case .mp4, .mkv, .ts: return try await remux(asset, to: path, as: format, isSplit: isSplit)
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
        return Export(format: format, bytes: contents.bytes, paths: [path])
    }

    private func remux(
        _ asset: Asset, to path: String, as format: ExportFormat, isSplit: Bool
    ) async throws(ExchangeError) -> Export {
        var export = try await AssetExport(asset: asset).singleFile(isSplit: isSplit)
        let count = export.films.count
        guard count <= Self.mostParts else {
            throw ExchangeError(
                .badTarget,
                "\(asset.name) is not exported: its media changes \(count - 1) times, and it is split into \(Self.mostParts) files at most"
            )
        }
        if !format.holdsText {
            export.leaveOutText(of: format)
        }
        let remuxer = try Remuxer(export, to: path, as: format, title: asset.title ?? asset.name)
        let notes = export.films.indices.map { part in
            library.store.noteExport(to: ExportFormat.path(path, ofPart: part, among: count))
        }
        defer {
            for note in notes {
                library.store.endExport(note)
            }
        }
        let result = try await Self.run(remuxer, in: library.store).get()
        return Export(
            format: format, bytes: export.contents.bytes, paths: result.paths, losses: result.losses,
            isSplittable: result.isSplittable)
    }

    private nonisolated static func run(
        _ remuxer: Remuxer, in store: BundleStore
    ) async -> Result<Remuxer.Result, ExchangeError> {
        do {
            return try await DiskWork.run { () throws(StoreError) in
                try store.withWorkFolder { work throws(StoreError) in
                    Result { () throws(ExchangeError) in
                        try remuxer.run(in: work)
                    }
                }
            }
        } catch {
            return .failure(ExchangeError(leaving: error, "\(remuxer.title) is not exported"))
        }
    }
}
