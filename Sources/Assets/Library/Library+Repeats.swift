import EventLoop
import Fetching
import HLS
import HTTPMessage

/// Resources that an asset lists more than once: in one playlist, or in those of several renditions. The same URL and the same range are
/// the same bytes. Each listing has a name of its own, because players show by it where they are; the bytes are fetched and stored once.
///
/// A segment is stored as the origin sends it, encrypted or not. So two listings with different keys have the same bytes too: each
/// listing's key, initialization vector and section are in the playlist.
extension Library {
    /// The bytes of a resource under another name of its asset; nil if they are neither stored nor on their way.
    func repeated(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> SharedBytes? {
        guard let own = asset.rendition(folder.id), let content = asset.loadedContent else { return nil }
        switch resource.name.role {
        case .segment(let number): return repeatedSegment(number, resource, of: own, in: content)
        case .initialization: return repeatedSection(resource, of: own, in: content)
        case .key, .passing, .data: return nil
        }
    }

    private func repeatedSegment(
        _ number: Int, _ resource: Resource, of own: Rendition, in content: AssetContent
    ) -> SharedBytes? {
        guard let source = own.source, let segment = source.segment(number) else { return nil }
        for index in own.locations?.others(like: segment.index) ?? [] {
            if let bytes = bytes(of: resource, as: source.playlist.segments[index], of: own) {
                return bytes
            }
        }
        var computable = Self.mostComputed
        for other in content.renditions where other !== own {
            if !other.hasLocations {
                // The playlists of many variants are read in several turns of the loop.
                guard computable > 0 else { continue }
                computable -= 1
            }
            guard let locations = other.locations, let segments = other.source?.playlist.segments else { continue }
            for index in locations.candidates(like: segment) {
                if let bytes = bytes(of: resource, as: segments[index], of: other) {
                    return bytes
                }
            }
        }
        return nil
    }

    private func bytes(of resource: Resource, as segment: Segment, of rendition: Rendition) -> SharedBytes? {
        guard let other = rendition.resource(of: segment), other.isSame(as: resource) else { return nil }
        return loader.bytes(of: other, in: rendition.folder)
    }

    private func repeatedSection(_ resource: Resource, of own: Rendition, in content: AssetContent) -> SharedBytes? {
        for other in content.renditions where other !== own {
            guard other.locations != nil, let maps = other.source?.playlist.maps else { continue }
            for map in maps.prefix(Self.mostSections) where map.byteRange?.bytes == resource.range {
                guard let found = other.resource(of: map), found.isSame(as: resource) else { continue }
                if let bytes = loader.bytes(of: found, in: other.folder) {
                    return bytes
                }
            }
        }
        return nil
    }

    private static let mostComputed = 2
    /// Most sections of a playlist that are compared.
    private static let mostSections = 16
}

extension Resource {
    /// True for the same bytes of the same URL, whatever the name.
    fileprivate func isSame(as other: Resource) -> Bool { url == other.url && range == other.range }
}
