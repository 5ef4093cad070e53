import Fetching
public import HTTPMessage
public import Origin
import Playlist

/// Presentations of a video playlist and an audio playlist that a program has found on a page: their master is made here,
/// and their URL is that of the video.
extension Library {
    /// Opens two media playlists as one presentation. A video URL that leads to a multivariant playlist stays as it is.
    /// - Parameters:
    ///   - fields: see `setFields`; nil to keep those of a known asset.
    ///   - cookies: see `open`.
    public func open(
        video: WebURL, audio: WebURL, fields: UserFields?, cookies: [StoredCookie]
    ) async throws(LibraryError) -> Asset {
        let asset = try await open(video, fields: fields, cookies: cookies)
        guard asset.lone.map({ $0.folder.bytes == 0 }) ?? asset.isComposed else { return asset }
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,URI="\(audio.text)"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="audio"
            \(video.text)

            """
        guard case .multivariant(let playlist)? = try? Playlist.parse(Array(text.utf8)) else { return asset }
        loader.forget(asset.lone.map { [$0.folder] } ?? [])
        asset.adopt(playlist, base: video)
        if asset.isPersistent { await records.saveEntry(of: asset, without: []) }
        return asset
    }
}

extension Asset {
    /// True if its master was made of playlists: then its URL leads to a media playlist.
    var isComposed: Bool {
        guard multivariant?.variants.count == 1, let video = renditions.first else { return false }
        return urls(of: video) == [origin]
    }
}
