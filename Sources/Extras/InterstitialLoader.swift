public import Assets
public import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin

/// Opens presentations that are played in between, and fetches the lists of them.
@LoopActor public struct InterstitialLoader {
    let library: Library

    /// Returns the presentation that an interstitial of `asset` names, with its entry loaded: an asset of the library,
    /// or an unlisted one. It has the rights of `asset`: no other private address, and the same header fields.
    /// - Parameter query: the parameters that the player adds to the URL, without its own delivery directives.
    /// - Throws: `missing` for a name that no recent playlist of the asset contains.
    public func presentation(
        _ name: Interstitials.Name, of asset: Asset, query: String?
    ) async throws(LibraryError) -> Asset {
        let url = try url(of: name, in: asset)
        if let known = library.asset(at: url) {
            return known
        }
        return try await library.openUnlisted(url.adding(parametersOf: query), asset.access)
    }

    /// Fetches the list that an interstitial of `asset` names, and replaces the URIs of its presentations by those of
    /// `naming`. Lists are made for one player at one time: only a download keeps one, see `InterstitialFiles`.
    public func list(
        _ name: Interstitials.Name, of asset: Asset, query: String?, naming: (Interstitials.Name) -> String
    ) async throws(LibraryError) -> [UInt8] {
        let url = try url(of: name, in: asset).adding(parametersOf: query)
        let (list, base) = try await library.playlistFetcher.assetList(at: url, access: asset.access)
        do {
            return try list.rendered { index in
                guard let url = try? base.resolving(list.uris[index]) else { return nil }
                return naming(asset.content.interstitials.name(url, .presentation))
            }
        } catch {
            throw LibraryError(error, from: base)
        }
    }

    /// The URL of an interstitial. After a restart it is known only if the playlist that names it is stored.
    private func url(of name: Interstitials.Name, in asset: Asset) throws(LibraryError) -> WebURL {
        try library.checkOnline("this interstitial of \(asset.name) is not in the store, and Weir is offline")
        if let url = asset.content.interstitials.url(name) {
            return url
        }
        for source in asset.renditions.compactMap(\.source) {
            for range in source.playlist.dateRanges {
                let uri = name.kind == .list ? range.assetList : range.assetURI
                guard let uri, let url = try? source.base.resolving(uri) else { continue }
                if asset.content.interstitials.name(url, name.kind) == name {
                    return url
                }
            }
        }
        throw LibraryError(.missing, "\(asset.name) has no such interstitial")
    }
}

extension PlaylistFetcher {
    private static let listLimit: Int64 = 1 << 20

    /// Fetches the list of an interstitial's assets at `url`. Returns it with its URL after redirects.
    func assetList(
        at url: WebURL, access: OriginAccess
    ) async throws(LibraryError) -> (AssetList, base: WebURL) {
        var request = OriginRequest(url)
        access.grant(to: &request)
        request.limit = Self.listLimit
        request.deadline = GiveUpRule.deadline(with: .programme)
        let (head, body) = try await fetch(request, wanted: "a list of assets")
        do {
            return (try AssetList(body), head.url)
        } catch {
            throw LibraryError(.notPlaylist, Self.sentence(about: body, of: head, error), underlying: error)
        }
    }

    private static func sentence(about body: [UInt8], of head: OriginHead, _ error: PlaylistError) -> String {
        var imposter = MediaSignature.imposter(in: body)
        if body.isEmpty {
            imposter = "an empty body"
        }
        guard var found = imposter, found != "JSON" else {
            return "\(head.url.redacted) is no list of assets that can be used: \(error)"
        }
        if let type = head.mediaType {
            found += " (\(type.essence))"
        }
        return "\(head.url.redacted) gave \(found) where a list of assets should be"
    }
}

extension WebURL {
    /// Adds HLS's own parameters of a player's query to the URL (rfc8216bis appendix D: `_HLS_primary_id`,
    /// `_HLS_start_offset`). Other parameters are not for the origin.
    func adding(parametersOf query: String?) -> WebURL {
        adding((query ?? "").split(separator: "&").filter { $0.hasPrefix("_HLS_") })
    }
}
