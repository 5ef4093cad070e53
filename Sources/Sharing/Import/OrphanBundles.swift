package import Assets
package import EventLoop
import Fetching
import Glibc
import Orders
import PlaylistCheck
import Store

/// A bundle in the store that no asset has and that cannot be adopted. It can only be removed.
package struct OrphanBundle: Equatable, Sendable {
    package let id: String
    /// The name in lists; no asset has it.
    package let name: String
    package let reason: String
}

/// Adopts bundles that the catalogue does not know, as after its loss or an interrupted import.
@LoopActor package final class OrphanBundles {
    private struct Finds {
        var adopted: [Asset] = []
        var useless: [OrphanBundle] = []
        var foreign: [String] = []
        var unread: [(id: String, error: StoreError)] = []
    }

    /// The bundles that cannot be adopted, by name.
    package private(set) var bundles: [String: OrphanBundle] = [:]

    private let library: Library
    private let importer: Importer

    package init(_ library: Library, _ importer: Importer) {
        self.library = library
        self.importer = importer
    }

    /// Makes assets of the store's orphan bundles, from their own `asset.json` and playlists. Nothing is deleted.
    ///
    /// Information that is not in a bundle is lost: its origin with tokens and header fields, and the selections of
    /// downloads. Only complete renditions come back.
    package func adopt() async {
        guard library.readOnlyReason == nil else { return }
        // Before the first suspension: bundles that appear later belong to assets.
        let orphans = library.store.bundleNames.filter { library.asset(id: $0) == nil }.sorted()
        var finds = Finds()
        for name in orphans {
            await adopt(bundle: name, &finds)
        }
        report(finds)
    }

    private func adopt(bundle id: String, _ finds: inout Finds) async {
        guard library.asset(id: id) == nil else { return }
        let path: String, text: [UInt8]
        do throws(StoreError) {
            guard Self.isID(id) else { return finds.foreign.append(id) }
            let folder = try library.store.bundle(id, create: false)
            guard let found = try folder.read(BundleIdentity.fileName) else { return finds.foreign.append(id) }
            path = folder.path
            text = found
        } catch  where [EMFILE, ENFILE, ENOMEM, EIO].contains(error.errno) {
            return finds.unread.append((id, error))
        } catch {
            return finds.foreign.append(id)
        }
        let identity: BundleIdentity
        do throws(StoreError) {
            guard let found = try BundleIdentity(text, at: path + "/" + BundleIdentity.fileName) else {
                return finds.foreign.append(id)
            }
            identity = found
        } catch {
            return finds.useless.append(list(id, "\(error)"))
        }
        do throws(ExchangeError) {
            let asset = try await adopt(id, identity, at: path)
            await library.downloads?.keep(asset)
            library.publish(asset)
            asset.close()
            finds.adopted.append(asset)
        } catch {
            finds.useless.append(list(id, error.message))
        }
    }

    /// The name is reserved until the bundle is removed.
    private func list(_ id: String, _ reason: String) -> OrphanBundle {
        let name = AssetNaming.unique(AssetNaming.name(forPath: id), isTaken: library.isTaken)
        let orphan = OrphanBundle(id: id, name: name, reason: reason)
        bundles[name] = orphan
        library.reserved.insert(name)
        return orphan
    }

    private static func isID(_ text: String) -> Bool {
        (1...80).contains(text.utf8.count) && Directory.isName(text) && AssetNaming.isID(String(text.prefix(39)))
            && text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_") }
            && text == text.lowercased() && text.last != "-"
    }

    private func adopt(_ id: String, _ identity: BundleIdentity, at path: String) async throws(ExchangeError) -> Asset {
        let source = try await ImportSource.read(path)
        var wish = identity.name
        if !AssetNaming.isName(wish) {
            wish = AssetNaming.name(forPath: id)
        }
        let name = AssetNaming.unique(wish, isTaken: library.isTaken)
        library.reserved.insert(name)
        defer { library.reserved.remove(name) }
        let plan = try await importer.plan(source, name: name, id: id)
        guard plan.isInPlace else {
            // The bundle has a part of the renditions, and their folders have names that all of them together led to. An
            // import gives the folders the names of that part.
            library.reserved.remove(name)
            let copy = try await importer.importAsset(at: path, name: name)
            try? await library.eraseFolders(of: id)
            return copy
        }
        plan.asset.life.policy = identity.policy ?? StoragePolicy()
        plan.asset.life.firstPlayed = identity.firstPlayed
        return try await importer.register(plan)
    }

    private func report(_ finds: Finds) {
        if !finds.adopted.isEmpty {
            library.report(
                "the store had \(Self.count(finds.adopted.count, "bundle")) that the catalogue did not list; listed again: "
                    + "\(Self.quoted(finds.adopted.map(\.name))). Lost is what bundles do not contain: their URLs with "
                    + "tokens, header fields, and the selections of downloads")
        }
        for orphan in finds.useless.prefix(8) {
            library.report("the bundle \(orphan.name) cannot be used, and is left unchanged: \(orphan.reason)")
        }
        if let first = finds.unread.first {
            library.report(
                "\(Self.count(finds.unread.count, "folder")) of bundles cannot be read now; the next start tries again: "
                    + "\(first.error)")
        }
        if !finds.foreign.isEmpty {
            library.report(
                "the folder of bundles has other files, which are left unchanged: \(Self.quoted(finds.foreign)). "
                    + "\"weir import\" imports a folder of HLS")
        }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

    private static func quoted(_ names: [String]) -> String {
        let listed = names.prefix(8).map(\.debugDescription).joined(separator: ", ")
        guard names.count > 8 else { return listed }
        return "\(listed) and \(names.count - 8) more"
    }

    /// Deletes a bundle that cannot be adopted, and returns the size of its files in bytes.
    package func remove(_ orphan: OrphanBundle) async throws(ExchangeError) -> Int64 {
        do {
            let store = library.store
            let id = orphan.id
            let bytes = try await DiskWork.run { () throws(StoreError) in try store.bundle(id, create: false).treeSize()
            }
            try await library.eraseFolders(of: id)
            bundles[orphan.name] = nil
            library.reserved.remove(orphan.name)
            return bytes
        } catch {
            throw ExchangeError(error, about: "\(orphan.name) cannot be removed")
        }
    }
}
