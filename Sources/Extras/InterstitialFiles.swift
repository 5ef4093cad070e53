package import Assets
package import EventLoop
import Fetching
package import HLS
package import HTTPMessage
import Origin
import Store

/// Stores interstitials with the asset whose playlists name them. Each presentation becomes renditions of the asset, and a
/// multivariant playlist in the folder `interstitials` of its bundle; a list becomes a list of those.
@LoopActor package struct InterstitialFiles {
    let library: Library

    /// An interstitial that a playlist names.
    package struct Reference: Hashable, Sendable {
        package let name: Interstitials.Name
        package let url: WebURL
    }

    /// The media playlists of a presentation that are stored.
    package struct Prepared {
        package let reference: Reference
        /// The variant's own first.
        package let renditions: [Rendition]
        fileprivate let entry: Entry
    }

    fileprivate enum Entry {
        case multivariant(MultivariantPlaylist, indices: [Int])
        case media
    }

    /// The interstitials of the playlists of renditions, each once, in the order of the playlists.
    package func references(of renditions: [Rendition], in asset: Asset) -> [Reference] {
        var references: [Reference] = []
        var seen: Set<Reference> = []
        for source in renditions.compactMap(\.source) {
            for range in source.playlist.dateRanges where range.isInterstitial {
                for (uri, kind) in [(range.assetURI, Interstitials.Kind.presentation), (range.assetList, .list)] {
                    guard let url = uri.flatMap({ try? source.base.resolving($0) }) else { continue }
                    let reference = reference(url, kind, of: asset)
                    if seen.insert(reference).inserted {
                        references.append(reference)
                    }
                }
            }
        }
        return references
    }

    private func reference(_ url: WebURL, _ kind: Interstitials.Kind, of asset: Asset) -> Reference {
        Reference(name: asset.content.interstitials.name(url, kind), url: url)
    }

    /// Fetches a list, and returns it with the presentations that it names: nil for an invalid URI.
    package func list(
        _ reference: Reference, of asset: Asset
    ) async throws(LibraryError) -> (list: AssetList, presentations: [Reference?]) {
        try library.checkOnline("\(reference.url.redacted) cannot be had, since Weir is offline")
        // Servers that make a list for each player know it by this parameter (rfc8216bis appendix D.3).
        let id = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let url = reference.url.adding(["_HLS_primary_id=\(id)"])
        let (list, base) = try await library.playlistFetcher.assetList(at: url, access: asset.access)
        let presentations: [Reference?] = list.uris.map { uri in
            guard let url = try? base.resolving(uri) else { return nil }
            return self.reference(url, .presentation, of: asset)
        }
        return (list, presentations)
    }

    /// Loads the playlists of a presentation, and adds its chosen renditions to the asset. Their pieces are fetched as others.
    /// - Parameter choosing: returns indices in `MultivariantPlaylist.renditionURIs`, the variant's first.
    /// - Throws: the origin's error, `notPlaylist` for a presentation that is live, protected, or has no such rendition, `store`.
    package func prepare(
        _ reference: Reference, of asset: Asset, choosing: (MultivariantPlaylist) -> [Int]
    ) async throws(LibraryError) -> Prepared {
        try library.checkOnline("\(reference.url.redacted) cannot be had, since Weir is offline")
        let fetcher = library.playlistFetcher
        let answer = try await fetcher.playlist(at: reference.url, access: asset.access, .patient)
        let stem = Additions.interstitialPrefix + reference.name.stem + "-"
        var sources: [(id: String, source: Rendition.Source)] = []
        let entry: Entry
        switch answer.playlist {
        case .media(let media):
            entry = .media
            sources = [(stem + RenditionNaming.lone.id, Rendition.Source(playlist: media, base: answer.base))]
        case .multivariant(let playlist):
            let names = RenditionNaming(playlist).names
            let indices = choosing(playlist)
            entry = .multivariant(playlist, indices: indices)
            for index in indices {
                guard let url = try? answer.base.resolving(playlist.renditionURIs[index]) else { continue }
                let answer = try await fetcher.playlist(
                    at: url, access: asset.access, imports: playlist.variables, .patient)
                guard case .media(let media) = answer.playlist else {
                    throw LibraryError(.notPlaylist, "\(url.redacted) is no media playlist")
                }
                let source = Rendition.Source(playlist: media, base: answer.base, imports: playlist.variables)
                sources.append((stem + names[index].id, source))
            }
        }
        try Self.check(sources.map(\.source), reference)
        return Prepared(
            reference: reference, renditions: try await adopt(sources, of: reference, in: asset), entry: entry)
    }

    private static func check(_ sources: [Rendition.Source], _ reference: Reference) throws(LibraryError) {
        let what = reference.url.redacted
        guard !sources.isEmpty else { throw LibraryError(.notPlaylist, "\(what) has no variant") }
        guard sources.allSatisfy(\.isDurable) else { throw LibraryError(.notPlaylist, "\(what) is live") }
        if sources.contains(where: \.playlist.needsDRM) {
            throw LibraryError(.notPlaylist, "\(what) is protected by DRM")
        }
    }

    /// Adds renditions to the asset, in the catalogue and in its bundle. Pieces of other content are deleted.
    private func adopt(
        _ sources: [(id: String, source: Rendition.Source)], of reference: Reference, in asset: Asset
    ) async throws(LibraryError) -> [Rendition] {
        let content = asset.content
        var renditions: [Rendition] = []
        for (id, source) in sources {
            let known = content.additions.renditions[id]
            if let known, await known.hasSameContent(as: source, owner: asset.access) {
                known.move(to: source)
                renditions.append(known)
                continue
            }
            let rendition = known ?? content.makeRendition(ofInterstitial: id)
            library.loader.forget([rendition.folder])
            if !rendition.folder.sizes.isEmpty {
                rendition.folder.removePieces { _ in true }
            }
            rendition.forget()
            content.additions.renditions[id] = rendition
            for url in source.keyURLs {
                asset.keys.add(url)
            }
            rendition.adopt(source)
            rendition.isSaved = await library.records.save(source, of: id, in: asset)
            guard rendition.isSaved else { throw asset.saveError(about: "\(reference.url.redacted) cannot be stored") }
            renditions.append(rendition)
        }
        try record(reference, renditions.map(\.name.id), in: asset)
        return renditions
    }

    /// Writes the multivariant playlist of a presentation whose pieces are stored.
    package func keep(_ prepared: Prepared, of asset: Asset) throws(LibraryError) {
        let ids = prepared.renditions.map(\.name.id)
        do {
            let text: [UInt8]?
            switch prepared.entry {
            case .media: text = prepared.renditions.first?.masterText(uri: "../\(ids[0])/media.m3u8")
            case .multivariant(let playlist, let indices):
                text = try playlist.stored(.bundle, renditions: Set(indices)) { reference in
                    guard let index = reference.renditionIndex, let position = indices.firstIndex(of: index) else {
                        return nil
                    }
                    return "../\(ids[position])/media.m3u8"
                }
            }
            guard let text else {
                throw LibraryError(.notPlaylist, "no variant of \(prepared.reference.url.redacted) plays by itself")
            }
            try write(text, as: prepared.reference.name, of: asset)
        } catch let error as LibraryError {
            throw error
        } catch {
            throw LibraryError(
                .notPlaylist, "\(prepared.reference.url.redacted) cannot be stored: \(error)", underlying: error)
        }
    }

    /// Stores a list with those of its presentations that are stored.
    package func keep(
        _ list: AssetList, _ presentations: [Reference?], as reference: Reference, of asset: Asset
    ) throws(LibraryError) {
        let additions = asset.content.additions
        let names: [Interstitials.Name?] = presentations.map { presentation in
            guard let presentation, additions.hasStored(presentation.name) else { return nil }
            return presentation.name
        }
        let stored = names.compactMap(\.self).compactMap { additions.interstitial($0) }
        let ids = stored.flatMap(\.renditions)
        do {
            let text = try list.rendered(keeping: { names[$0] != nil }) { names[$0]?.description }
            try record(reference, ids, in: asset)
            try write(text, as: reference.name, of: asset)
        } catch let error as LibraryError {
            throw error
        } catch {
            throw LibraryError(
                .notPlaylist, "\(reference.url.redacted) cannot be stored: \(error)", underlying: error)
        }
    }

    /// Records that a download stores the interstitials of an asset, whether there are any or not.
    package func markKept(of asset: Asset) {
        guard !asset.content.additions.keepsInterstitials, !asset.isRemoved else { return }
        asset.content.additions.keepsInterstitials = true
    }

    private func write(_ text: [UInt8], as name: Interstitials.Name, of asset: Asset) throws(LibraryError) {
        do {
            try asset.bundle.directory(create: true).subdirectory(Interstitials.folder, create: true)
                .write(text, as: name.description)
        } catch {
            throw LibraryError(error, about: "an interstitial of \(asset.name) cannot be stored")
        }
    }

    private func record(_ reference: Reference, _ ids: [String], in asset: Asset) throws(LibraryError) {
        try asset.checkNotRemoved()
        var additions = asset.content.additions
        let new = BundleIdentity.Interstitial(file: reference.name.description, renditions: ids)
        additions.interstitials.removeAll { $0.file == new.file }
        additions.interstitials.append(new)
        additions.keepsInterstitials = true
        asset.content.additions = additions
        library.writeBundle(of: asset)
    }
}
