import EventLoop
import Fetching
import HLS
import HTTPMessage

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
        self.asset = asset
        self.url = url
        self.access = access
        self.playlistFetcher = playlistFetcher
        let answer = try await playlistFetcher.playlist(at: url, access: access, .patient)
        switch (answer.playlist, asset.multivariant) {
        case (.multivariant(let playlist), let known?):
            entry = Entry(playlist: playlist, base: answer.base, isFit: asset.fits(try await asset.plan(playlist)))
            try await compare(playlist, base: answer.base, with: known)
        case (.media(let media), nil):
            guard let lone = asset.content.lone else { return }
            let source = Rendition.Source(playlist: media, base: answer.base, born: answer.born)
            let isSame = if lone.source == nil { true } else { await matches(source, lone) }
            guard isSame else { throw other(difference(source, lone)) }
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
        let indices = folded.renditionIndices(in: known)
        guard indices.contains(where: { $0 != nil }) else { throw other("none of the variants that were there") }
        let names = RenditionNaming(playlist).names
        let isBare = asset.renditions.allSatisfy { $0.folder.bytes == 0 }
        for rendition in asset.renditions {
            // Without stored pieces, the known playlists are compared instead.
            let isNeeded = isBare ? rendition.source != nil : rendition.folder.bytes > 0
            let index = indices.firstIndex(of: rendition.index)
            var isNamedSo = false
            if let index {
                isNamedSo = names[mirrors[index][0]] == rendition.name
            }
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
                guard await matches(source, rendition) else { throw other(difference(source, rendition)) }
                sources.append((rendition, source))
                return
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? LibraryError(.notPlaylist, "\(rendition.name.id) has no usable URL at \(url.redacted)")
    }

    /// True if a playlist from another URL belongs to a rendition: an ended one must be equal.
    private func matches(_ source: Rendition.Source, _ rendition: Rendition) async -> Bool {
        let hasEnded = rendition.hasEnded
        if hasEnded {
            return await rendition.hasSameContent(as: source, owner: access)
        }
        return await rendition.mayContinue(with: source, owner: access)
    }

    private func other(_ difference: String) -> LibraryError {
        LibraryError(.otherContent, "\(url.redacted) leads to other content than \(asset.name): it has \(difference)")
    }

    private func difference(_ source: Rendition.Source, _ rendition: Rendition) -> String {
        let name = rendition.name.id
        guard let known = rendition.source?.playlist else { return "another \(name)" }
        let new = source.playlist
        if new.isLive != known.isLive {
            return "a \(name) that \(new.isLive ? "goes on" : "has ended")"
        }
        if new.segments.count != known.segments.count || new.duration.distance(from: known.duration) >= 0.1 {
            return "a \(name) of \(Self.extent(new)), not of \(Self.extent(known))"
        }
        if case .changed(let number?) = new.relation(to: known) {
            return "a \(name) whose segment \(number) is another one"
        }
        return "a \(name) with other keys, sections or kinds of segments"
    }

    private static func extent(_ playlist: MediaPlaylist) -> String {
        let (seconds, tenths) = playlist.duration.tenths.quotientAndRemainder(dividingBy: 10)
        return "\(playlist.segments.count) segments in \(seconds).\(tenths) s"
    }
}
