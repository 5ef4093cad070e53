package import Assets
package import EventLoop
import HLS
import HTTPMessage
import Store
import Synchronization

/// Makes assets of folders on disk.
@LoopActor package final class Importer {
    private let library: Library

    package init(_ library: Library) { self.library = library }

    /// Imports a folder: plain HLS, the bundle of another Weir, or Apple's `.movpkg`. All of it is copied, nothing is
    /// fetched, and the folder stays unchanged. Only a `.movpkg` gives the asset an origin.
    ///
    /// - Parameters:
    ///   - path: the folder, or its entry playlist; absolute.
    ///   - name: the asset's name; nil for the name in `asset.json`, or one made of the path.
    /// - Throws: `badImport` if the folder is not a complete presentation, or refers to files outside; `urlTaken`,
    ///   `store`, and `library` with `nameTaken`. Nothing has changed then.
    package func importAsset(at path: String, name: String? = nil) async throws(ExchangeError) -> Asset {
        if let reason = library.readOnlyReason {
            throw ExchangeError(reason, about: "\(path) is not imported")
        }
        let source = try await ImportSource.read(path)
        if let name {
            do throws(LibraryError) { try library.checkFree(name) } catch { throw ExchangeError(error) }
        }
        let name = name ?? unusedName(source)
        library.reserved.insert(name)
        defer { library.reserved.remove(name) }
        let plan = try await plan(source, name: name)
        let asset = try await copy(plan, artwork: source.artwork)
        if source.identity?.interstitials == nil {
            library.recordImport(asset, listing: Set(plan.listed.map(\.index)))
        } else {
            // Playlists name interstitials only once the asset has them.
            library.publish(asset)
        }
        asset.close()
        if !asset.isPlayableOffline {
            library.report("\(asset.name): imported, but nothing of it plays without an origin")
        }
        return asset
    }

    private func unusedName(_ source: ImportSource) -> String {
        var wish = AssetNaming.name(forPath: source.label)
        if let name = source.identity?.name, AssetNaming.isName(name) {
            wish = name
        }
        return AssetNaming.unique(wish, isTaken: library.isTaken)
    }

    func plan(_ source: ImportSource, name: String, id: String? = nil) async throws(ExchangeError) -> ImportPlan {
        // Never that of the bundle: an asset with that id may have been removed here, and be on a disk that is away.
        let id = id ?? AssetNaming.id(forName: name, isTaken: library.isTakenID)
        let known = source.package?.origin
        let origin = if let known { known } else { try Self.unreachableOrigin(id) }
        if let occupant = await library.occupant(of: origin) {
            throw ExchangeError(.urlTaken, "\(origin.redacted) is the URL of another asset, \(occupant.name)")
        }
        let asset = Asset(
            id: id, name: name, title: source.identity?.title, origin: origin,
            created: source.identity?.created ?? Library.now, store: library.store, isPreview: true)
        let plan = ImportPlan(asset, from: source.folder)
        if let package = source.package {
            try await plan.read(package)
        } else {
            try await plan.readFolder()
        }
        if let identity = source.identity {
            plan.adopt(identity)
            try await plan.readAdditions(of: identity)
        }
        return plan
    }

    private static func unreachableOrigin(_ id: String) throws(ExchangeError) -> WebURL {
        do {
            return try WebURL.placeholder(for: id)
        } catch {
            throw ExchangeError(.badImport, "\(id) cannot be in a URL: \(error)", underlying: error)
        }
    }

    // MARK: Copying

    /// Copies the pieces, then registers the asset: the bundle first, then the catalogue.
    private func copy(_ plan: ImportPlan, artwork: Artwork?) async throws(ExchangeError) -> Asset {
        let asset = plan.asset
        let id = asset.id
        let folder = plan.folder
        let store = library.store
        let files = ImportedFiles(pieces: plan.takePieces(), texts: try await allTexts(of: plan))
        let copying = await LaneTurn.with { turn in
            do throws(StoreError) {
                try await DiskWork.run { () throws(StoreError) in
                    let bundle = try store.stage(id)
                    let (pieces, texts) = files.take()
                    do throws(StoreError) {
                        for text in texts {
                            try bundle.add(text.bytes, as: text.file, to: text.folder)
                        }
                        if let artwork {
                            try bundle.add(artwork.bytes, as: artwork.kind.fileName)
                        }
                        var sources = ImportFiles(folder)
                        for batch in pieces {
                            for piece in batch {
                                guard turn.mayGoOn else { throw StoreError(.busy, path: id, detail: "it was given up") }
                                try store.checkRoom()
                                try sources.add(piece, to: bundle)
                            }
                        }
                        try bundle.commit()
                    } catch {
                        bundle.discard()
                        throw error
                    }
                }
                return StoreError?.none
            } catch {
                return error
            }
        }
        if let copying {
            throw ExchangeError(import: copying, of: asset.name)
        }
        // From here on it is an import, whoever still waits for it.
        let registration = Task { @LoopActor in
            await Self.result { () throws(ExchangeError) in try await register(plan) }
        }
        do throws(ExchangeError) {
            return try await registration.value.get()
        } catch {
            try? store.removeBundle(asset.id)
            throw error
        }
    }

    private static func result(
        _ body: () async throws(ExchangeError) -> Asset
    ) async -> Result<Asset, ExchangeError> {
        do throws(ExchangeError) { return .success(try await body()) } catch { return .failure(error) }
    }

    private func allTexts(of plan: ImportPlan) async throws(ExchangeError) -> [ImportedFiles.Text] {
        let further = plan.texts.map { ImportedFiles.Text(folder: $0.folder, file: $0.file, bytes: $0.bytes) }
        return try await texts(of: plan) + further
    }

    /// With these the bundle can be adopted if the process ends before the catalogue has the asset.
    private func texts(of plan: ImportPlan) async throws(ExchangeError) -> [ImportedFiles.Text] {
        let asset = plan.asset
        let playlists = BundlePlaylists(asset)
        let added = asset.content.additions.sorted.filter { $0.source != nil }
        do {
            var texts: [ImportedFiles.Text] = []
            for rendition in plan.listed + added {
                guard let source = rendition.source else { continue }
                let names = playlists.names(in: source, of: rendition)
                let text = await FileLane.shared.run { _ in
                    Result { () throws(PlaylistError) in try names.text(of: source.playlist, as: .bundle) }
                }
                guard let text else { throw plan.givenUp }
                texts.append(.init(folder: rendition.name.id, file: "media.m3u8", bytes: try text.get()))
            }
            if let master = try playlists.master(of: Set(plan.listed.map(\.index))) {
                texts.append(.init(folder: nil, file: "master.m3u8", bytes: master.text))
            }
            texts.append(.init(folder: nil, file: BundleIdentity.fileName, bytes: try playlists.identity()))
            return texts
        } catch let error as ExchangeError {
            throw error
        } catch {
            throw ExchangeError(.badImport, "\(asset.name) is not imported: \(error)", underlying: error)
        }
    }

    /// Adds an asset whose bundle is complete to the catalogue, then to the library.
    func register(_ plan: ImportPlan) async throws(ExchangeError) -> Asset {
        let name = plan.asset.name
        do throws(StoreError) {
            if let asset = try await library.records.insert(plan.asset) {
                // Its playlists are parsed again, as after a restart, but not on the loop.
                await library.wake(asset)
                await openFolders(of: asset)
                return asset
            }
        } catch {
            throw ExchangeError(error, about: "\(name) is not imported")
        }
        throw ExchangeError(.badImport, "\(name) cannot be read back")
    }

    /// Reads the names of all pieces, which would be one long turn of the loop later.
    private func openFolders(of asset: Asset) async {
        var slice = LoopSlice()
        for rendition in asset.renditions {
            await rendition.readCompleteness()
            await slice.giveWay()
        }
    }
}

/// The pieces and texts of an import on their way to the thread that copies them, which also frees them: a million take long.
private final class ImportedFiles: Sendable {
    struct Text: Sendable {
        /// In the bundle; nil for the bundle itself.
        let folder: String?
        let file: String
        let bytes: [UInt8]
    }

    private let contents: Mutex<(pieces: [[ImportPlan.Piece]], texts: [Text])>

    init(pieces: [[ImportPlan.Piece]], texts: [Text]) { contents = Mutex((pieces, texts)) }

    func take() -> (pieces: [[ImportPlan.Piece]], texts: [Text]) {
        contents.withLock { contents in
            defer { contents = ([], []) }
            return contents
        }
    }
}
