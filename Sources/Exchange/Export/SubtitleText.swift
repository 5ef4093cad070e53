import EventLoop
import Fetching
package import Library
import Playlist
import Store

/// Makes one WebVTT file of a subtitle track, for players that read no WebVTT renditions.
extension Exporter {
    /// The track of an asset with this id or language, with times relative to the start of the media. Missing segments are
    /// fetched.
    ///
    /// - Parameter track: the id of a rendition, or a language; of several tracks of a language, the default one.
    /// - Throws: `incomplete` if there is none, or it is live, encrypted or not WebVTT; `library`.
    package func subtitles(_ track: String, of asset: Asset) async throws(ExchangeError) -> [UInt8] {
        guard let rendition = asset.subtitles(track) else {
            throw ExchangeError(.incomplete, "\(asset.name) has no subtitles \"\(track)\"")
        }
        do throws(LibraryError) {
            let source = try await library.playlists.source(of: rendition, in: asset)
            let playlist = source.playlist
            guard source.isDurable else {
                throw LibraryError(.notStored, "\(asset.name) is live: its subtitles are no file yet")
            }
            guard playlist.keys.allSatisfy({ $0.method == .none }), playlist.maps.isEmpty else {
                throw LibraryError(.notStored, "\(track) of \(asset.name) is encrypted, or is no WebVTT")
            }
            try await fetchSegments(of: rendition, in: asset)
        } catch {
            throw ExchangeError(error)
        }
        let texts = rendition.mediaFiles.compactMap { rendition.folder.read($0) }
        guard !texts.isEmpty else { throw ExchangeError(.incomplete, "nothing of \(track) of \(asset.name) is stored") }
        // Without media, the subtitles begin with it.
        let start = asset.mediaStart.map { Double($0.ticks) / 90_000 } ?? JoinedSubtitles.offset(of: texts[0])
        var joined = JoinedSubtitles(start: start)
        for text in texts { joined.add(text) }
        return joined.text
    }

    private func fetchSegments(of rendition: Rendition, in asset: Asset) async throws(LibraryError) {
        guard let source = rendition.source else { return }
        var missing: [Resource] = []
        for segment in source.playlist.segments {
            guard let resource = rendition.resource(of: segment) else { continue }
            if !rendition.folder.contains(resource.name.description) { missing.append(resource) }
        }
        for start in stride(from: 0, to: missing.count, by: 8) {
            var fetches: [Fetch] = []
            defer { for fetch in fetches { fetch.release() } }
            for resource in missing[start..<min(start + 8, missing.count)] {
                fetches.append(try library.fetch(resource, in: rendition.folder, of: asset, urgency: .background))
            }
            for fetch in fetches {
                let result = await withCheckedContinuation { continuation in
                    fetch.whenEnded { continuation.resume(returning: $0) }
                }
                if case .failure(let error) = result { throw LibraryError(error) }
            }
        }
    }
}

extension Asset {
    /// The subtitle rendition with an id or a language.
    fileprivate func subtitles(_ track: String) -> Rendition? {
        let own = (multivariant?.media ?? []).filter { $0.type == .subtitles }.compactMap { media in
            media.renditionIndex.map {
                (rendition: renditions[$0], language: media.language, isDefault: media.isDefault)
            }
        }
        let attached = additions.attachments.filter { $0.kind == .subtitles }.compactMap { attachment in
            additions.renditions[attachment.id].map {
                (rendition: $0, language: attachment.language, isDefault: attachment.isDefault ?? false)
            }
        }
        let all = own + attached
        if let named = all.first(where: { $0.rendition.name.id == track }) { return named.rendition }
        let fitting = all.filter { $0.language?.lowercased() == track.lowercased() }
        return (fitting.first(where: \.isDefault) ?? fitting.first)?.rendition
    }
}
