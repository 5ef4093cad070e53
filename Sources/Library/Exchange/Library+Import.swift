import EventLoop
import HTTPMessage
import Store

/// What comes into the store from a folder.
extension Library {
    /// Makes an asset of a folder on disk: plain HLS, the bundle of another Weir, or Apple's `.movpkg`. All of it is
    /// copied, nothing is fetched, and the folder stays as it is. The asset is there in one step, whole.
    ///
    /// It has no origin, but for a `.movpkg`: what is there of it plays, and nothing else of it can be had.
    ///
    /// - Parameters:
    ///   - path: the folder, or its entry playlist; absolute.
    ///   - name: what to call it; nil for what the bundle says, or for a name made of the path.
    /// - Throws: `badImport` for what is no presentation, is not whole, or leads out of the folder, `nameTaken`,
    ///   `urlTaken`, `store`; nothing has changed then.
    public func importAsset(at path: String, name: String? = nil) async throws(LibraryError) -> Asset {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(path) is not imported") }
        let parcel = try Parcel(path)
        if let name { try checkFree(name) }
        let name = name ?? unusedName(parcel)
        reserved.insert(name)
        defer { reserved.remove(name) }
        let intake = try await intake(of: parcel, name: name)
        let asset = try await take(intake, artwork: parcel.artwork)
        publish(asset)
        asset.letGo()
        if !asset.isPlayableOffline { report("\(asset.name): imported, but nothing of it plays without an origin") }
        return asset
    }

    private func unusedName(_ parcel: Parcel) -> String {
        let wish = parcel.identity.map(\.name).flatMap { AssetNaming.isName($0) ? $0 : nil }
        return AssetNaming.unique(wish ?? AssetNaming.name(forPath: parcel.label), isTaken: isTaken)
    }

    /// The id that the bundle had, where that is free; else one of its own.
    private func unusedID(_ parcel: Parcel, name: String) -> String {
        if let id = parcel.identity?.id, AssetNaming.isName(id), asset(id: id) == nil,
            (try? store.bundle(id, create: false)) == nil
        {
            return id
        }
        return AssetNaming.id(forName: name) { asset(id: $0) != nil }
    }

    /// What a folder is, and what it would bring.
    ///
    /// - Parameter id: the id that it has; nil for one of its own.
    func intake(of parcel: Parcel, name: String, id: String? = nil) async throws(LibraryError) -> Intake {
        let id = id ?? unusedID(parcel, name: name)
        let told = parcel.package?.origin
        let origin = if let told { told } else { try Self.nowhere(id) }
        if let occupant = await occupant(of: origin) {
            throw LibraryError(.urlTaken, "\(origin.redacted) is the URL of another asset, \(occupant.name)")
        }
        let asset = Asset(
            id: id, name: name, title: parcel.identity?.title, origin: origin,
            created: parcel.identity?.created ?? Self.now, store: store)
        asset.isPreview = true
        let intake = Intake(asset, from: parcel.folder)
        if let package = parcel.package { try await intake.read(package) } else { try await intake.readFolder() }
        if let identity = parcel.identity { intake.adopt(identity) }
        return intake
    }

    private static func nowhere(_ id: String) throws(LibraryError) -> WebURL {
        do {
            return try WebURL.nowhere(id)
        } catch {
            throw LibraryError(.badImport, "\(id) cannot be in a URL: \(error)", underlying: error)
        }
    }

    // MARK: Taking

    /// Copies the pieces, and then lets everybody know of the asset: the bundle first, then the catalogue.
    private func take(_ intake: Intake, artwork: Artwork?) async throws(LibraryError) -> Asset {
        let asset = intake.asset
        let (id, pieces, folder, store) = (asset.id, intake.pieces, intake.folder, store)
        let texts = try texts(of: asset)
        do throws(StoreError) {
            try await DiskWork.run { () throws(StoreError) in
                let bundle = try store.stage(id)
                do throws(StoreError) {
                    for text in texts { try bundle.add(text.bytes, as: text.file, to: text.folder) }
                    if let artwork { try bundle.add(artwork.bytes, as: artwork.kind.fileName) }
                    var files = IntakeFiles(folder)
                    for piece in pieces {
                        try store.checkRoom()
                        try files.add(piece, to: bundle)
                    }
                    try bundle.commit()
                } catch {
                    bundle.discard()
                    throw error
                }
            }
        } catch {
            throw LibraryError(import: error, of: asset.name)
        }
        do throws(LibraryError) {
            return try await register(intake)
        } catch {
            try? store.removeBundle(asset.id)
            throw error
        }
    }

    /// The texts of a bundle of which all is there that has a playlist: with them it is known again if the process ends
    /// before the catalogue has it.
    private func texts(of asset: Asset) throws(LibraryError) -> [(folder: String?, file: String, bytes: [UInt8])] {
        let playlists = BundlePlaylists(asset)
        let known = asset.renditions.filter { $0.source != nil }
        do {
            var texts: [(folder: String?, file: String, bytes: [UInt8])] = []
            for rendition in known {
                guard let playlist = rendition.source?.playlist else { continue }
                texts.append((rendition.name.id, "media.m3u8", try playlists.media(playlist, of: rendition)))
            }
            if let master = try playlists.master(of: Set(known.map(\.place))) {
                texts.append((nil, "master.m3u8", master.text))
            }
            texts.append((nil, BundleIdentity.fileName, try playlists.identity()))
            return texts
        } catch {
            throw LibraryError(.badImport, "\(asset.name) is not imported: \(error)", underlying: error)
        }
    }

    /// Lets the catalogue, and then everybody, know of an asset whose bundle is in its place.
    func register(_ intake: Intake) async throws(LibraryError) -> Asset {
        let asset = intake.asset
        let records = contents(ofImported: asset)
        do throws(StoreError) {
            try await store.catalogue.save(records)
        } catch {
            throw LibraryError(error, about: "\(asset.name) is not imported")
        }
        // As it will be after a restart.
        guard let asset = restored(records).first else {
            throw LibraryError(.badImport, "\(asset.name) cannot be read back")
        }
        register(asset)
        summaries.note(asset)
        return asset
    }

    private func contents(ofImported asset: Asset) -> Catalogue.Contents {
        var playlists = asset.renditions.compactMap { rendition in
            rendition.source.map { record(of: $0, rendition.name.id, in: asset) }
        }
        if case .multivariant(let playlist, let base) = asset.entry {
            playlists.append(record(of: playlist, base: base, in: asset))
        }
        return Catalogue.Contents(
            assets: [asset.record], playlists: playlists, keys: asset.keys.unsaved(of: asset.id),
            storage: asset.life == StorageLife() ? [] : [asset.storageRecord])
    }
}

extension LibraryError {
    /// Why an import did not come about. Where the folder is to blame, and not the store, the code says so.
    init(import error: StoreError, of name: String) {
        switch error.code {
        case .missing, .wrongLength, .contentChanged, .badName:
            self.init(.badImport, "\(name) is not imported: \(error)", underlying: error)
        default: self.init(error, about: "\(name) is not imported")
        }
    }
}
