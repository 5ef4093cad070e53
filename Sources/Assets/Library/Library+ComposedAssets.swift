import Fetching
import HLS
public import HTTPMessage
public import Origin
import SegmentFormat

/// Presentations of a video playlist and an audio playlist that a program has found on a page: their master is made here,
/// and their URL is the one that was given first.
extension Library {
    /// Opens two media playlists as one presentation. A video URL that leads to a multivariant playlist stays as it is.
    /// The two may be given in the wrong order: the media shows which one has video.
    /// - Parameters:
    ///   - fields: see `setFields`; nil to keep those of a known asset.
    ///   - cookies: see `open`; so for `route`.
    public func open(
        video: WebURL, audio: WebURL, fields: UserFields?, cookies: [StoredCookie], route: OriginRoute? = nil
    ) async throws(LibraryError) -> Asset {
        let asset = try await open(video, fields: fields, cookies: cookies, route: route)
        let lone = asset.content.lone
        if let lone {
            guard lone.folder.bytes == 0 else { return asset }
        } else {
            guard asset.isComposed else { return asset }
        }
        let known = Set(asset.renditions.flatMap { asset.urls(of: $0) })
        if asset.isComposed, known == [video, audio] {
            return asset
        }

        let isInOrder: Bool
        if asset.isComposed {
            isInOrder = asset.urls(of: asset.renditions[0]) == [video]
        } else {
            isInOrder = await hasVideo(asset)
        }
        let (video, audio) = isInOrder ? (video, audio) : (audio, video)
        // The attribute is required, and nothing is known of the rate: zero is that of a variant without one.
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,URI="\(audio.text)"
            #EXT-X-STREAM-INF:BANDWIDTH=0,AUDIO="audio"
            \(video.text)

            """
        guard case .multivariant(let playlist)? = try? Playlist.parse(Array(text.utf8)) else { return asset }
        if let lone = asset.content.lone {
            loader.forget([lone.folder])
        }
        asset.adopt(playlist, base: video)
        if asset.isPersistent {
            await records.saveEntry(of: asset, without: [])
        }
        return asset
    }

    /// False if the media of an asset's only playlist shows that it has no video. Media playlists do not declare their tracks.
    private func hasVideo(_ asset: Asset) async -> Bool {
        guard let rendition = asset.content.lone, let source = rendition.latest ?? rendition.source,
            let segment = source.playlist.segments.first(where: { !$0.isGap }),
            let resource = segment.map.map({ rendition.resource(of: $0, in: source) })
                ?? rendition.resource(of: segment, in: source)
        else { return true }
        var request = playlistFetcher.request(resource.url, asset.access)
        request.range = resource.range
        request.acceptsCompression = false
        request.limit = .max
        let bytes = try? await client.fetchBeginning(of: request, count: CodecComparison.length)
        guard let bytes else { return true }
        return CodecComparison.streams(in: bytes) != .withoutVideo
    }
}

extension Asset {
    /// True if its master was made of playlists: then its URL leads to a media playlist.
    var isComposed: Bool {
        multivariant?.variants.count == 1 && renditions.contains { urls(of: $0) == [origin] }
    }
}
