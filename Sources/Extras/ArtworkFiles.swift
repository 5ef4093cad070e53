public import Assets
public import EventLoop
import Fetching
public import HTTPMessage
import Origin
import Store

/// Images that represent assets in lists: one file in the bundle, `artwork.jpg`, `.png` or `.webp`.
@LoopActor public struct ArtworkFiles {
    let library: Library

    /// Fetches an image with the asset's rights: no other private address, and the user's header fields only to the
    /// asset's origin. Throws `notArtwork` if the response is no accepted image.
    public func fetch(_ url: WebURL, for asset: Asset) async throws(LibraryError) -> Artwork {
        try library.checkOnline("\(url.redacted) cannot be had, since Weir is offline")
        var request = OriginRequest(url)
        asset.access.grant(to: &request)
        request.limit = Int64(Artwork.limit)
        let bytes: [UInt8]
        do {
            (_, bytes) = try await library.client.fetch(request)
        } catch  where error.code == .tooLarge {
            throw LibraryError(
                .notArtwork, "\(url.redacted) is too long: artwork is \(Artwork.accepted)", underlying: error)
        } catch {
            throw LibraryError(error)
        }
        guard let artwork = Artwork(bytes) else {
            throw LibraryError(.notArtwork, "\(url.redacted) gave something else: artwork is \(Artwork.accepted)")
        }
        return artwork
    }

    /// Stores an image with an asset, and replaces the previous one.
    public func keep(_ artwork: Artwork, of asset: Asset) throws(LibraryError) {
        try library.checkWritable("the artwork of \(asset.name) cannot be stored")
        guard !asset.bundle.isSuspended else {
            return asset.bundle.performWrite { [weak library] in try? library?.artwork.keep(artwork, of: asset) }
        }
        do {
            let folder = try asset.bundle.directory(create: true)
            try folder.write(artwork.bytes, as: artwork.kind.fileName)
            for other in Artwork.Kind.allCases where other != artwork.kind {
                try? folder.remove(other.fileName)
            }
        } catch {
            throw LibraryError(error, about: "the artwork of \(asset.name) cannot be stored")
        }
        asset.content.additions.artwork = artwork.kind
        library.events.send(.assetChanged(asset))
        library.writeBundle(of: asset)
    }

    /// Deletes the stored image of an asset, if there is one.
    public func remove(of asset: Asset) throws(LibraryError) {
        try library.checkWritable("the artwork of \(asset.name) is not removed")
        guard asset.content.additions.artwork != nil else { return }
        guard !asset.bundle.isSuspended else {
            return asset.bundle.performWrite { [weak library] in try? library?.artwork.remove(of: asset) }
        }
        do {
            let folder = try asset.bundle.directory(create: false)
            for kind in Artwork.Kind.allCases where folder.size(of: kind.fileName) != nil {
                try folder.remove(kind.fileName)
            }
        } catch {
            throw LibraryError(error, about: "the artwork of \(asset.name) is not removed")
        }
        asset.content.additions.artwork = nil
        library.events.send(.assetChanged(asset))
        library.writeBundle(of: asset)
    }

    /// Reads the stored image of an asset; nil if there is none. Does not load the asset's playlists: a page shows the images of
    /// all assets.
    public func image(of asset: Asset) -> Artwork? {
        asset.bundle.readOnce {
            guard let folder = try? asset.bundle.directory(create: false) else { return nil }
            let files = Artwork.Kind.allCases.lazy.compactMap { try? folder.read($0.fileName) }
            guard let bytes = files.first else { return nil }
            return Artwork(bytes)
        }
    }
}
