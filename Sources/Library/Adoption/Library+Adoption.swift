import EventLoop
import Fetching
import Glibc
import PlaylistCheck
import Store

/// Bundles that lie in the store although nobody knows them: the catalogue was lost with its records, an import ended
/// between the bundle and its rows, or somebody has copied them there.
extension Library {
    /// What became of what nobody knew.
    private struct Finds {
        var adopted: [Asset] = []
        var useless: [StrayBundle] = []
        var foreign: [String] = []
        var unread: [(id: String, error: StoreError)] = []
    }

    /// Makes assets of bundles that nobody knows, from what they say themselves, and tells what became of all that lies
    /// there. Nothing is deleted.
    ///
    /// What a bundle does not tell is lost: where it came from with tokens and header fields, and what downloads wanted.
    /// Of what was stored in part only what is whole comes back: the playlists of the rest are nowhere.
    public func adoptStrays() async {
        guard readOnlyReason == nil else { return }
        // At once: whatever comes into the folder later is known.
        let strays = store.bundleNames.filter { asset(id: $0) == nil }.sorted()
        var finds = Finds()
        for name in strays { await look(at: name, &finds) }
        tell(finds)
    }

    private func look(at id: String, _ finds: inout Finds) async {
        guard asset(id: id) == nil else { return }
        let path: String, text: [UInt8]
        do throws(StoreError) {
            guard Self.isID(id) else { return finds.foreign.append(id) }
            let folder = try store.bundle(id, create: false)
            guard let found = try folder.read(BundleIdentity.fileName) else { return finds.foreign.append(id) }
            (path, text) = (folder.path, found)
        } catch  where [EMFILE, ENFILE, ENOMEM, EIO].contains(error.errno) {
            return finds.unread.append((id, error))
        } catch {
            return finds.foreign.append(id)
        }
        do throws(LibraryError) {
            guard let identity = try BundleIdentity(text, at: path + "/" + BundleIdentity.fileName) else {
                return finds.foreign.append(id)
            }
            let asset = try await adopt(id, identity, at: path)
            await downloads?.keep(asset)
            publish(asset)
            asset.letGo()
            finds.adopted.append(asset)
        } catch {
            let name = AssetNaming.unique(AssetNaming.name(forPath: id), isTaken: isTaken)
            let stray = StrayBundle(id: id, name: name, reason: error.message)
            strays[name] = stray
            finds.useless.append(stray)
        }
    }

    /// As ids are made.
    private static func isID(_ text: String) -> Bool {
        (1...80).contains(text.utf8.count) && Directory.isName(text) && AssetNaming.isName(String(text.prefix(39)))
            && text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_") }
            && text == text.lowercased() && text.last != "-"
    }

    private func adopt(
        _ id: String, _ identity: BundleIdentity, at path: String
    ) async throws(LibraryError) -> Asset {
        let parcel = try Parcel(path)
        let wish = AssetNaming.isName(identity.name) ? identity.name : AssetNaming.name(forPath: id)
        let name = AssetNaming.unique(wish, isTaken: isTaken)
        reserved.insert(name)
        defer { reserved.remove(name) }
        let intake = try await intake(of: parcel, name: name, id: id)
        guard intake.isInPlace else {
            // Named by the choice that there was, of which the bundle has a part alone: it gets the names of that part.
            reserved.remove(name)
            let copy = try await importAsset(at: path, name: name)
            try? store.removeBundle(id)
            return copy
        }
        intake.asset.life.policy = identity.policy ?? StoragePolicy()
        intake.asset.life.firstPlayed = identity.firstPlayed
        return try await register(intake)
    }

    private func tell(_ finds: Finds) {
        if !finds.adopted.isEmpty {
            report(
                "\(Self.count(finds.adopted.count, "bundle")) in the store that nothing was known of: now in the list again as "
                    + "\(Self.some(finds.adopted.map(\.name))). What bundles do not tell is lost: where they came from, with "
                    + "tokens and header fields, and what downloads wanted")
        }
        for stray in finds.useless.prefix(8) {
            report("\(stray.name) cannot be used, and is left as it is: \(stray.reason)")
        }
        if let first = finds.unread.first {
            report(
                "\(Self.count(finds.unread.count, "folder")) among the bundles cannot be read now, and will be looked at when Weir "
                    + "starts again: \(first.error)")
        }
        if !finds.foreign.isEmpty {
            report(
                "in the folder for bundles lies what is none, and is left alone: \(Self.some(finds.foreign)). \"weir import\" "
                    + "takes in a folder of HLS from elsewhere")
        }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

    private static func some(_ names: [String]) -> String {
        let more = names.count > 8 ? " and \(names.count - 8) more" : ""
        return names.prefix(8).map { $0.debugDescription }.joined(separator: ", ") + more
    }

    /// Deletes a bundle that nobody can use.
    ///
    /// - Returns: the bytes of the files in it.
    public func remove(_ stray: StrayBundle) async throws(LibraryError) -> Int64 {
        do {
            let (store, id) = (store, stray.id)
            let bytes = try await DiskWork.run { () throws(StoreError) in try store.bundle(id, create: false).treeSize()
            }
            try store.removeBundle(id)
            strays[stray.name] = nil
            return bytes
        } catch {
            throw LibraryError(error, about: "\(stray.name) cannot be removed")
        }
    }

    // MARK: Formats

    /// Looks at which Weir has written an asset's bundle, before anything of it is used: one of a newer format is neither read
    /// nor written, and an older one is written anew.
    ///
    /// - Returns: whether it can be used.
    func admitBundle(of asset: Asset) -> Bool {
        let text = asset.bundle.glance { try? asset.bundle.directory(create: false).read(BundleIdentity.fileName) }
        guard let text else { return true }
        let path = "\(asset.id)/\(BundleIdentity.fileName)"
        do throws(LibraryError) {
            guard let identity = try BundleIdentity(text, at: path) else { return true }
            guard identity.format < BundleIdentity.currentFormat, readOnlyReason == nil else { return true }
            asset.whenAwake { [weak self, weak asset] in
                if let asset { self?.writeBundle(of: asset) }
            }
        } catch {
            asset.refusal = error.message
            asset.bundle.refusal = StoreError(.newer, path: path, detail: error.message)
            report("\(asset.name) is left as it is, and not played: \(error.message)")
            return false
        }
        return true
    }

    /// Throws `newerBundle` for an asset whose bundle a newer Weir has written.
    package func checkBundle(of asset: Asset) throws(LibraryError) {
        asset.wake()
        guard let refusal = asset.refusal else { return }
        throw LibraryError(.newerBundle, "\(asset.name) cannot be used: \(refusal)")
    }
}

extension Intake {
    /// Whether all pieces lie where they are to be.
    fileprivate var isInPlace: Bool {
        pieces.allSatisfy { $0.range == nil && $0.source.components == [$0.folder, $0.file] }
    }
}
