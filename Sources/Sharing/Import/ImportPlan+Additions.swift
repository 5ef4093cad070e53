import Assets
import EventLoop
import Extras
import Fetching
import HLS
import HTTPMessage
import Orders
import PlaylistCheck
import Store

/// Plans the additions of a bundle that Weir wrote: thumbnails and stored interstitials. Attached subtitles and chapters are
/// part of its multivariant playlist, and are imported with that.
extension ImportPlan {
    private static let textLimit = 1 << 20

    /// - Throws: `badImport` if a playlist of an addition is damaged, or names a file that is not in the folder.
    func readAdditions(of identity: BundleIdentity) async throws(ExchangeError) {
        let additions = ImportedAdditions(of: asset)
        for attachment in identity.attachments ?? [] where attachment.kind == .thumbnails {
            let location = PlaylistFolder.Location(components: [attachment.id, "media.m3u8"])
            guard let text = folder.contents(of: location.components, limit: Self.textLimit),
                let rendition = additions.adopt(attachment, playlist: text),
                let playlist = rendition.source?.playlist
            else { continue }
            try await addPieces(of: playlist, of: rendition, at: location)
            let times = Additions.timesFile.description
            let source = PlaylistFolder.Location(components: [attachment.id, times])
            if folder.has(source) {
                add(Piece(folder: attachment.id, file: times, source: source, range: nil, namedBy: attachment.id))
            }
        }
        if let interstitials = identity.interstitials {
            try await read(interstitials)
        }
    }

    private func read(_ stored: [BundleIdentity.Interstitial]) async throws(ExchangeError) {
        // An export has only those that are completely stored.
        let present = stored.filter { Interstitials.Name($0.file) != nil && folder.has(Self.location($0.file)) }
        for id in Set(present.flatMap(\.renditions)).sorted() {
            try await read(interstitialRendition: id)
        }
        var adopted: [BundleIdentity.Interstitial] = []
        for interstitial in present {
            guard let text = folder.contents(of: Self.location(interstitial.file).components, limit: Self.textLimit)
            else {
                continue
            }
            texts.append((Interstitials.folder, interstitial.file, text))
            adopted.append(interstitial)
        }
        ImportedAdditions(of: asset).adopt(adopted)
    }

    private func read(interstitialRendition id: String) async throws(ExchangeError) {
        let location = PlaylistFolder.Location(components: [id, "media.m3u8"])
        guard let rendition = ImportedAdditions(of: asset).adopt(interstitialRendition: id),
            let base = try? asset.origin.resolving("\(id)/media.m3u8")
        else {
            throw ExchangeError(
                .badImport, "\(BundleIdentity.fileName) names an interstitial \(id), which is no folder")
        }
        let media = try await adopt(
            try await playlist(at: location), for: rendition, base: base, imports: nil, as: folder.name(location))
        try await addPieces(of: media, of: rendition, at: location)
    }

    private static func location(_ file: String) -> PlaylistFolder.Location {
        PlaylistFolder.Location(components: [Interstitials.folder, file])
    }
}
