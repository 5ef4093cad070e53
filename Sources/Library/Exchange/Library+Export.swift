import EventLoop
import Store

/// What leaves the store: folders, archives and files that play with no Weir.
extension Library {
    /// What an export has made.
    public struct Export: Sendable {
        /// How.
        public let format: ExportFormat
        /// The bytes of the pieces that went into it.
        public let bytes: Int64
        /// What is stored of the asset and could not go into it, with the reason.
        public let leftOut: [String]
    }

    /// Writes what is whole of an asset to `path`, which nothing may be at yet, and which it is at all at once or not at
    /// all.
    ///
    /// - Parameters:
    ///   - path: absolute; its folder must be there, and be writable for this process.
    ///   - format: nil for what the ending of the path says.
    ///   - sharesFiles: whether the pieces of a folder are the store's own files under a second name, where one disk has
    ///     both: quick, and of no size, but who changes one of them changes the store's.
    /// - Throws: `notWhole`, `exists`, `badTarget` for a place that takes nothing, `noProgram` without ffmpeg where that
    ///   is needed, `store`.
    public func export(
        _ asset: Asset, to path: String, as format: ExportFormat? = nil, sharesFiles: Bool = false
    ) async throws(LibraryError) -> Export {
        let format = format ?? ExportFormat.of(path)
        guard !store.contains(path) else {
            throw LibraryError(.badTarget, "\(asset.name) is not exported: \(path) is in the store itself")
        }
        try checkBundle(of: asset)
        try checkPresence(of: asset)
        await moved(asset)
        asset.exports += 1
        defer { asset.exports -= 1 }
        // What others have deleted is not to be found in the midst of it.
        await survey(asset)
        let name = asset.name
        let contents: ExportContents
        var leftOut: [String] = []
        switch format {
        case .folder, .tar:
            contents = try asset.exportContents()
            let time = Self.now
            try await Self.exporting(name) { () throws(StoreError) in
                switch format {
                case .folder: try contents.writeFolder(at: path, sharesFiles: sharesFiles)
                default: try contents.writeArchive(at: path, root: name, time: time)
                }
            }
        case .mp4, .mkv:
            let film = try asset.film()
            (contents, leftOut) = (film.contents, film.leftOut)
            let remuxer = try Remuxer(film, format: format, title: asset.title ?? name)
            let store = store
            let result = await Self.remux(by: remuxer, in: store, to: path)
            if case .failure(let error) = result { throw error }
        }
        return Export(format: format, bytes: contents.bytes, leftOut: leftOut)
    }

    private nonisolated static func exporting(
        _ name: String, _ body: @escaping @Sendable () throws(StoreError) -> Void
    ) async throws(LibraryError) {
        do {
            try await DiskWork.run(body)
        } catch {
            throw LibraryError(export: error, of: name)
        }
    }

    private nonisolated static func remux(
        by remuxer: Remuxer, in store: Store, to path: String
    ) async -> Result<Void, LibraryError> {
        do {
            return try await DiskWork.run { () throws(StoreError) in
                var result = Result<Void, LibraryError>.success(())
                try store.withWorkFolder { work throws(StoreError) in
                    do throws(LibraryError) { try remuxer.run(in: work, to: path) } catch { result = .failure(error) }
                }
                return result
            }
        } catch {
            return .failure(LibraryError(export: error, of: remuxer.title))
        }
    }
}

/// What an export makes.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A folder that plays by itself, from any server of files too.
    case folder
    /// That folder in an archive.
    case tar
    /// One file with the best picture and every language: MPEG-4.
    case mp4
    /// The same: Matroska.
    case mkv

    /// What the ending of a path says; a folder without one.
    static func of(_ path: String) -> ExportFormat {
        let last = path.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return .folder }
        switch last[last.index(after: dot)...].lowercased() {
        case "tar": return .tar
        case "mp4", "m4v", "m4a", "mov": return .mp4
        case "mkv", "mka": return .mkv
        default: return .folder
        }
    }
}

extension LibraryError {
    /// Why an export did not come about.
    init(export error: StoreError, of name: String) { self.init(leaving: error, "\(name) is not exported") }

    /// Why something did not leave the store. Where its place is to blame, and not the store, the code says so.
    init(leaving error: StoreError, _ what: String) {
        let code: Code? =
            switch error.code {
            case .exists, .busy: .exists
            case .notWritable, .badName: .badTarget
            // The piece is gone, or the folder that the place is in.
            case .missing: error.detail == nil ? .badTarget : .notWhole
            case .wrongLength: .notWhole
            default: nil
            }
        guard let code else { self = LibraryError(error, about: what); return }
        self.init(code, "\(what): \(error)", underlying: error)
    }
}
