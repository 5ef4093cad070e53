import EventLoop
import Fetching
import HTTPMessage
import Playlist

/// A new URL of an asset, checked to lead to the same content. The asset itself is not changed yet.
@LoopActor struct Destination {
    struct Entry {
        let playlist: MultivariantPlaylist
        let base: WebURL
        /// True if the playlist can replace the known one; otherwise only its URLs are used.
        let isFit: Bool
    }

    let url: WebURL
    /// The rights of requests to the URL: header fields and private addresses.
    let access: OriginAccess
    private(set) var entry: Entry?
    /// The media playlists that match known ones.
    private(set) var sources: [(rendition: Rendition, source: Rendition.Source)] = []
    /// Renditions without stored pieces whose playlist is absent or different at the new URL.
    private(set) var lost: [Rendition] = []
    private let asset: Asset
    private let playlistFetcher: PlaylistFetcher

    /// Fetches the entry, and the playlist of each known rendition. Throws `otherContent` with the difference.
    init(
        of asset: Asset, at url: WebURL, _ access: OriginAccess, by playlistFetcher: PlaylistFetcher
    ) async throws(LibraryError) {
        (self.asset, self.url, self.access, self.playlistFetcher) = (asset, url, access, playlistFetcher)
        let answer = try await playlistFetcher.playlist(at: url, access: access, .patient)
        switch (answer.playlist, asset.multivariant) {
        case (.multivariant(let playlist), let known?):
            entry = Entry(playlist: playlist, base: answer.base, isFit: asset.fits(playlist))
            try await compare(playlist, base: answer.base, with: known)
        case (.media(let media), nil):
            guard let lone = asset.lone else { return }
            let source = Rendition.Source(playlist: media, base: answer.base, born: answer.born)
            guard lone.source == nil || Self.matches(source, lone) else { throw other(difference(source, lone)) }
            sources = [(lone, source)]
        case (.multivariant, nil): throw other("a multivariant playlist where one media playlist was")
        case (.media, .some): throw other("one media playlist where a multivariant playlist was")
        }
    }

    private mutating func compare(
        _ playlist: MultivariantPlaylist, base: WebURL, with known: MultivariantPlaylist
    ) async throws(LibraryError) {
        let mirrors = playlist.mirrors
        let folded = playlist.folded(mirrors)
        let places = folded.places(in: known)
        guard places.contains(where: { $0 != nil }) else { throw other("none of the variants that were there") }
        let names = RenditionNaming(playlist).names
        let isBare = asset.renditions.allSatisfy { $0.folder.bytes == 0 }
        for rendition in asset.renditions {
            // Without stored pieces, the known playlists are compared instead.
            let isNeeded = isBare ? rendition.source != nil : rendition.folder.bytes > 0
            let index = places.firstIndex(of: rendition.place)
            let isNamedSo = index.map { names[mirrors[$0][0]] == rendition.name } ?? false
            guard let index, isNamedSo || isNeeded else {
                guard !isNeeded else { throw other("no rendition like \(rendition.name.id)") }
                lost.append(rendition)
                continue
            }
            let urls = folded.uris(ofRendition: index).compactMap { try? base.resolving($0) }
            do throws(LibraryError) {
                try await compare(rendition, at: urls, imports: folded.variables)
            } catch {
                guard !isNeeded else { throw error }
                lost.append(rendition)
            }
        }
    }

    private mutating func compare(
        _ rendition: Rendition, at urls: [WebURL], imports: [String: String]
    ) async throws(LibraryError) {
        guard rendition.source != nil else { return }
        var failure: LibraryError?
        for url in urls {
            do throws(LibraryError) {
                let answer = try await playlistFetcher.playlist(at: url, access: access, imports: imports, .patient)
                guard case .media(let media) = answer.playlist else {
                    throw LibraryError(.notPlaylist, "\(url.redacted) is no media playlist")
                }
                let source = Rendition.Source(playlist: media, base: answer.base, imports: imports, born: answer.born)
                guard Self.matches(source, rendition) else { throw other(difference(source, rendition)) }
                sources.append((rendition, source))
                return
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? LibraryError(.notPlaylist, "\(rendition.name.id) has no usable URL at \(url.redacted)")
    }

    /// True if a playlist from another URL belongs to a rendition: an ended one must be equal.
    private static func matches(_ source: Rendition.Source, _ rendition: Rendition) -> Bool {
        let hasEnded = rendition.source?.isDurable ?? false
        return hasEnded ? rendition.hasSameContent(as: source) : rendition.mayContinue(with: source)
    }

    private func other(_ difference: String) -> LibraryError {
        LibraryError(.otherContent, "\(url.redacted) does not lead to what \(asset.name) is: it has \(difference)")
    }

    private func difference(_ source: Rendition.Source, _ rendition: Rendition) -> String {
        let name = rendition.name.id
        guard let known = rendition.source?.playlist else { return "another \(name)" }
        let new = source.playlist
        if new.isLive != known.isLive { return "a \(name) that \(new.isLive ? "goes on" : "has ended")" }
        if new.segments.count != known.segments.count || abs(new.duration - known.duration) >= 0.1 {
            return "a \(name) of \(Self.extent(new)), not of \(Self.extent(known))"
        }
        if case .changed(let number?) = new.relation(to: known) {
            return "a \(name) whose segment \(number) is another one"
        }
        return "a \(name) with other keys, sections or kinds of segments"
    }

    private static func extent(_ playlist: MediaPlaylist) -> String {
        let (seconds, tenths) = Int((playlist.duration * 10).rounded()).quotientAndRemainder(dividingBy: 10)
        return "\(playlist.segments.count) segments in \(seconds).\(tenths) s"
    }
}

/// A URL without the query parameters that sign it, and with a mark in place of parts of its path that look like tokens: two
/// URLs that are equal in this form may have the same content.
struct TokenlessURL: Hashable {
    private let origin: WebURL.Origin
    private let path: [Substring]
    private let parameters: [String]

    init(_ url: WebURL) {
        origin = url.origin
        path = url.path.split(separator: "/", omittingEmptySubsequences: false).map(Self.withoutToken)
        parameters = (url.query ?? "").split(separator: "&").map(String.init).filter { !Self.isToken($0) }.sorted()
    }

    private static func isToken(_ parameter: String) -> Bool {
        let name = parameter.prefix { $0 != "=" }.lowercased()
        return names.contains(name) || prefixes.contains(where: name.hasPrefix) || parts.contains(where: name.contains)
    }

    /// Many ids of films look like tokens too: the content decides.
    private static func withoutToken(_ part: Substring) -> Substring {
        if part.utf8.count >= 20, !part.contains(".") || part.hasPrefix("ey"), isOpaque(part) { return "*" }
        // A time of expiry: seconds since 1970.
        if part.utf8.count == 10, part.hasPrefix("1"), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return "*"
        }
        guard part.contains("=") else { return part }
        let words = part.split { $0 == ";" || $0 == "~" || $0 == "," || $0 == "&" }
        let kept = words.filter { !($0.contains("=") && isToken(String($0))) }
        return kept.count == words.count ? part : Substring(kept.joined(separator: ";"))
    }

    /// True for letters and digits mixed as in hexadecimal digits, Base64, and JSON Web Tokens with their dots.
    private static func isOpaque(_ part: Substring) -> Bool {
        var (letters, digits) = (0, 0)
        for byte in part.utf8 {
            switch byte {
            case 0x30...0x39: digits += 1
            case 0x41...0x5A, 0x61...0x7A: letters += 1
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "+"): break
            default: return false
            }
        }
        return digits > 2 && letters > 2
    }

    /// From CloudFront, Akamai, Fastly, Google, nginx's secure_link and others.
    private static let names: Set<String> = [
        "policy", "key-pair-id", "hdnts", "hdnea", "hdntl", "hash", "md5", "st", "e", "exp", "ttl", "nonce", "ts",
        "sid", "sig",
        "jwt", "verify", "validfrom", "validto", "urlprefix", "keyname", "acl",
    ]
    private static let prefixes = ["x-amz-", "x-goog-"]
    private static let parts = ["token", "signature", "auth", "hmac", "expire", "session", "nonce"]
}
