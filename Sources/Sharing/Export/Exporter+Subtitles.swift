package import Assets
import EventLoop
import Extras
import Fetching
import HLS
import Orders
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
        let nothing = ExchangeError(.incomplete, "nothing of \(track) of \(asset.name) is stored")
        guard let folder = try? rendition.folder.pieces().directory else { throw nothing }
        // Without media, the subtitles begin with it.
        let start = MediaStart(of: asset).map { Double($0.ticks) / 90_000 }
        let work = SubtitleJoining(rendition.mediaFiles, from: folder, start: start)
        guard let text = await FileLane.shared.run(inSlices: work, { $0.step() }) else {
            throw ExchangeError(.incomplete, "\(track) of \(asset.name) was not joined: it was given up")
        }
        guard let text else { throw nothing }
        return text
    }

    private func fetchSegments(of rendition: Rendition, in asset: Asset) async throws(LibraryError) {
        guard let source = rendition.source else { return }
        var missing: [Resource] = []
        for segment in source.playlist.segments {
            guard !rendition.isWithoutCues(segment), let resource = rendition.resource(of: segment) else { continue }
            if !rendition.folder.contains(resource.name.description) {
                missing.append(resource)
            }
        }
        var failure: LibraryError?
        for start in stride(from: 0, to: missing.count, by: 8) {
            var fetches: [Fetch] = []
            defer { for fetch in fetches { fetch.release() } }
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
        let own = (asset.multivariant?.media ?? []).filter { $0.type == .subtitles }.compactMap { media in
            media.renditionIndex.map {
                (rendition: asset.renditions[$0], language: media.language, isDefault: media.isDefault)
            }
        }
        let additions = asset.content.additions
        let attached = additions.attachments.filter { $0.kind == .subtitles }.compactMap { attachment in
            additions.renditions[attachment.id].map {
                (rendition: $0, language: attachment.language, isDefault: attachment.isDefault ?? false)
            }
        }
        let all = own + attached
        if let named = all.first(where: { $0.rendition.name.id == track }) {
            return named.rendition
        }
        let fitting = all.filter { $0.language?.lowercased() == track.lowercased() }
        return (fitting.first(where: \.isDefault) ?? fitting.first)?.rendition
    }
}

/// Joins the files of a subtitle track, step by step.
private struct SubtitleJoining: Sendable {
    private static let step = 64
    private let files: [String]
    private let folder: Directory
    private let start: Double?
    private var next = 0
    private var joined: JoinedSubtitles?

    /// - Parameter start: the start of the media on its own timeline, in seconds; nil for that of the first text.
    init(_ files: [String], from folder: Directory, start: Double?) {
        self.files = files
        self.folder = folder
        self.start = start
    }

    /// Takes a step. Returns the whole text behind the last one, or nil in place of it if no file is there.
    mutating func step() -> [UInt8]?? {
        if joined?.addNext(Self.step) ?? false {
            return nil
        }
        guard next < files.count else { return .some(joined?.text) }
        defer { next += 1 }
        guard let bytes = (try? folder.read(files[next])) ?? nil else { return nil }
        var joined = joined ?? JoinedSubtitles(start: start ?? JoinedSubtitles.offset(of: bytes))
        self.joined = nil
        joined.begin(bytes)
        self.joined = joined
        return nil
    }
}
