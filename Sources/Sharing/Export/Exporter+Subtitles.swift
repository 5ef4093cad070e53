package import Assets
import EventLoop
import Extras
import Fetching
import HLS
import Orders
import SafeText
import Store

/// Makes one WebVTT file of a subtitle track, for players that read no WebVTT renditions.
extension Exporter {
    /// The track of an asset with this id or language, with times relative to the start of the media. Missing segments are
    /// fetched; those that the origin does not have are left out, unless it has none.
    ///
    /// - Parameter track: the id of a rendition, or a language; of several tracks of a language, the default one.
    /// - Throws: `incomplete` if there is none, or it is live, encrypted or not WebVTT; `library`.
    package func subtitles(_ track: String, of asset: Asset) async throws(ExchangeError) -> [UInt8] {
        guard let rendition = subtitleRendition(track, of: asset) else {
            throw ExchangeError(.incomplete, "\(asset.name) has no subtitles \"\(track)\"")
        }
        // In seconds. Without media, the subtitles begin with it.
        let mediaStart = await MediaStart(storedOf: asset)
        let start = mediaStart.map { Double($0.ticks) / 90_000 }
        do throws(LibraryError) {
            let source = try await library.playlists.source(of: rendition, in: asset)
            let playlist = source.playlist
            guard source.isDurable else {
                throw LibraryError(.notStored, "\(asset.name) is live: its subtitles are no file yet")
            }
            guard playlist.keys.allSatisfy({ $0.method == .none }), playlist.maps.isEmpty else {
                throw LibraryError(.notStored, "\(track) of \(asset.name) is encrypted, or is no WebVTT")
            }
            // A damaged segment is a hole then, and fetched again.
            if !joinedTexts.isKnown(of: rendition, start: start) {
                _ = await rendition.folder.verifiedIdentities(of: rendition.mediaFiles)
            }
            try await fetchSegments(of: rendition, in: asset)
        } catch {
            throw ExchangeError(error)
        }
        guard rendition.folder.bytes <= JoinedTexts.limit else {
            let most = Quantity.bytes(Int(JoinedTexts.limit))
            throw ExchangeError(
                .incomplete, "\(track) of \(asset.name) has more than \(most), and is not joined to one file")
        }
        guard let text = await joinedTexts.text(of: rendition, start: start) else {
            throw ExchangeError(.incomplete, "nothing of \(track) of \(asset.name) is stored")
        }
        return text
    }

    /// Writes the stored subtitles of an asset as SubRip: to `path`, or with several languages to a file for each, such as
    /// `film.en.srt`.
    func writeSubtitles(of asset: Asset, to path: String) async throws(ExchangeError) -> Export {
        var tracks: [(word: String, text: SubRip)] = []
        var losses: [String] = []
        var bytes: Int64 = 0
        for (rendition, language) in storedSubtitles(of: asset) {
            do throws(ExchangeError) {
                let text = SubRip(webVTT: try await subtitles(rendition.name.id, of: asset))
                var word = language ?? rendition.name.id
                if tracks.contains(where: { $0.word == word }) {
                    word = rendition.name.id
                }
                bytes += rendition.folder.bytes
                tracks.append((word, text))
            } catch {
                losses.append("\(rendition.name.id) is left out: \(error)")
            }
        }
        guard !tracks.isEmpty else {
            let reason = losses.first ?? "no subtitles of it are stored"
            throw ExchangeError(.incomplete, "\(asset.name) is not exported: \(reason)")
        }

        let stem = path.hasSuffix(".srt") ? String(path.dropLast(".srt".count)) : path
        var paths: [String] = []
        for track in tracks {
            let file = tracks.count == 1 ? path : "\(stem).\(track.word).srt"
            let text = track.text.text
            do throws(StoreError) {
                try await DiskWork.run { () throws(StoreError) in try ExportTarget.write(text, at: file) }
            } catch {
                throw ExchangeError(leaving: error, "\(asset.name) is not exported")
            }
            paths.append(file)
        }
        return Export(format: .srt, bytes: bytes, paths: paths, losses: losses)
    }

    /// The complete subtitle renditions and the attached ones, with their languages.
    private func storedSubtitles(of asset: Asset) -> [(rendition: Rendition, language: String?)] {
        var stored: [(rendition: Rendition, language: String?)] = []
        for media in asset.multivariant?.media ?? [] where media.type == .subtitles {
            guard let index = media.renditionIndex else { continue }
            stored.append((asset.renditions[index], media.language))
        }
        let additions = asset.content.additions
        for attachment in additions.attachments where attachment.kind == .subtitles {
            guard let rendition = additions.renditions[attachment.id] else { continue }
            stored.append((rendition, attachment.language))
        }
        var known: Set<String> = []
        return stored.filter { $0.rendition.isComplete && known.insert($0.rendition.name.id).inserted }
    }

    private func fetchSegments(of rendition: Rendition, in asset: Asset) async throws(LibraryError) {
        guard let source = rendition.source else { return }
        var missing: [Resource] = []
        var slice = LoopSlice()
        for segment in source.playlist.segments where !rendition.folder.contains(rendition.file(of: segment)) {
            if !rendition.isWithoutCues(segment), let resource = rendition.resource(of: segment) {
                missing.append(resource)
            }
            await slice.giveWay()
        }
        var failure: LibraryError?
        for start in stride(from: 0, to: missing.count, by: 8) {
            var fetches: [Fetch] = []
            defer {
                for fetch in fetches {
                    fetch.release()
                }
            }
            let batch = missing[start..<min(start + 8, missing.count)]
            // A player may have brought one meanwhile.
            for resource in batch where !rendition.folder.contains(resource.name.description) {
                fetches.append(try library.fetch(resource, in: rendition.folder, of: asset, urgency: .background))
            }
            for fetch in fetches {
                let result = await withCheckedContinuation { continuation in
                    fetch.whenEnded { continuation.resume(returning: $0) }
                }
                guard case .failure(let error) = result else { continue }
                let found = LibraryError(error)
                // Each of the others would be waited for, too.
                if found.code == .originAbsent {
                    throw found
                }
                failure = failure ?? found
            }
        }
        if let failure, rendition.folder.hasSegments != true {
            throw failure
        }
    }

    /// The subtitle rendition with an id or a language.
    private func subtitleRendition(_ track: String, of asset: Asset) -> Rendition? {
        var all: [(rendition: Rendition, language: String?, isDefault: Bool)] = []
        for media in asset.multivariant?.media ?? [] where media.type == .subtitles {
            guard let index = media.renditionIndex else { continue }
            all.append((asset.renditions[index], media.language, media.isDefault))
        }
        let additions = asset.content.additions
        for attachment in additions.attachments where attachment.kind == .subtitles {
            guard let rendition = additions.renditions[attachment.id] else { continue }
            all.append((rendition, attachment.language, attachment.isDefault ?? false))
        }
        if let named = all.first(where: { $0.rendition.name.id == track }) {
            return named.rendition
        }
        let fitting = all.filter { $0.language?.lowercased() == track.lowercased() }
        return (fitting.first(where: \.isDefault) ?? fitting.first)?.rendition
    }
}
