import EventLoop
import Fetching
public import HTTPMessage
import Origin
import Store

/// Images that represent assets in lists: one file in the bundle, `artwork.jpg`, `.png` or `.webp`.
extension Library {
    /// Fetches an image under the rules of the asset's own resources: a private address is refused unless it is the
    /// asset's own, and the user's header fields go to the asset's origin only.
    ///
    /// - Throws: `LibraryError`: `notArtwork` if the response is no accepted image.
    public func artwork(at url: WebURL, for asset: Asset) async throws(LibraryError) -> Artwork {
        guard !isOffline else { throw LibraryError(.notStored, "\(url.redacted) cannot be had, since Weir is offline") }
        var request = OriginRequest(url)
        asset.access.grant(to: &request)
        request.limit = Int64(Artwork.limit)
        let bytes: [UInt8]
        do {
            (_, bytes) = try await playlistFetcher.client.fetch(request)
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
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "the artwork of \(asset.name) is not kept") }
        guard !asset.bundle.isSuspended else {
            return asset.bundle.performWrite { [weak self] in try? self?.keep(artwork, of: asset) }
        }
        do {
            let folder = try asset.bundle.directory(create: true)
            try folder.write(artwork.bytes, as: artwork.kind.fileName)
            for other in Artwork.Kind.allCases where other != artwork.kind { try? folder.remove(other.fileName) }
        } catch {
            throw LibraryError(error, about: "the artwork of \(asset.name) is not kept")
        }
        asset.artworkKind = artwork.kind
        events.send(.assetChanged(asset))
        writeBundle(of: asset)
    }

    /// Reads the stored image of an asset; nil if there is none.
    public func artwork(of asset: Asset) -> Artwork? {
        guard let kind = asset.artworkKind, let folder = try? asset.bundle.directory(create: false),
            let bytes = try? folder.read(kind.fileName)
        else { return nil }
        return Artwork(bytes)
    }
}

extension Asset {
    /// The format of the stored image; nil if there is none.
    public internal(set) var artworkKind: Artwork.Kind? {
        get {
            if let known = knownArtwork { return known }
            let kind = bundle.readOnce {
                let folder = try? bundle.directory(create: false)
                return Artwork.Kind.allCases.first { folder?.size(of: $0.fileName) != nil }
            }
            knownArtwork = .some(kind)
            return kind
        }
        set { knownArtwork = .some(newValue) }
    }
}
