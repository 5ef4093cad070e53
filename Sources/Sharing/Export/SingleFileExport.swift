import Assets
import EventLoop
import Extras
import Fetching
import Foundation
import HLS
import Orders
import SegmentFormat
import Store

/// The parts of an asset that go into one file: its best complete variant, and every language. Where the media changes in the
/// middle, it is also several films, one behind the other.
struct SingleFileExport: Sendable {
    struct Subtitles: Sendable {
        let folder: String
        var files: [String]
        /// The language by ISO 639-2, if known.
        let language: String?
        let name: String
        /// Words for ffmpeg's `-disposition`: `default`, `forced`.
        var disposition: [String] = []
    }

    /// Segments of a rendition between which nothing changes.
    struct Run: Sendable {
        /// In seconds from the start of the rendition.
        let start: Double
        /// For a message: `MPEG-TS`.
        let container: String
        let cut: FilmCut
    }

    /// The content of one written file.
    struct Film: Sendable {
        /// The playlist that ffmpeg opens, as a path in `contents`.
        let playlist: String
        /// The text of that playlist; nil if it is there.
        let text: [UInt8]?
        /// The playlists that it names, as far as they are not there.
        let cuts: [FilmCut]
        /// The media of each rendition in it.
        let renditions: [[Run]]
        var subtitles: [Subtitles]
        /// Chapters that the user attached, as ffmpeg's metadata file; nil for none.
        var chapters: [UInt8]?
    }

    let contents: ExportContents
    /// One, or for a film that is split, one for each part.
    var films: [Film]
    /// The stored content that cannot go into the file, with the reasons.
    var leftOut: [String]

    /// Takes out the subtitles and chapters, for a format without text.
    mutating func leaveOutText(of format: ExportFormat) {
        var names: [String] = []
        for index in films.indices {
            names += films[index].subtitles.map { "subtitles \"\($0.name)\"" }
            if films[index].chapters != nil {
                names.append("the chapters")
            }
            films[index].subtitles = []
            films[index].chapters = nil
        }
        var seen: Set<String> = []
        for name in names where seen.insert(name).inserted {
            leftOut.append("\(name): left out, because a file of \(format.rawValue) has no text")
        }
    }

    /// Converts a language tag to ISO 639-2; nil if there is no such code.
    static func threeLetters(_ tag: String?) -> String? {
        guard let language = tag?.split(separator: "-").first else { return nil }
        return Locale.LanguageCode(String(language)).identifier(.alpha3)
    }
}

extension AssetExport {
    /// The best complete variant with every language.
    ///
    /// - Parameter isSplit: true for a film of its own for each part without a change.
    func singleFile(isSplit: Bool) async throws(ExchangeError) -> SingleFileExport {
        let all = try await verifiedContents()
        let complete = asset.content.completeRenditions
        guard let multivariant = asset.multivariant, let variant = multivariant.best(of: complete) else {
            return try await loneFile(all, isSplit: isSplit)
        }
        let sound = multivariant.sound(with: variant, among: complete)
        let texts = multivariant.subtitles(with: variant, among: complete)
        let media = ([variant.renditionIndex] + sound.compactMap(\.renditionIndex)).map { asset.renditions[$0] }
        let textRenditions = texts.compactMap(\.renditionIndex).map { asset.renditions[$0] }
        let attached = attachedSubtitles
        let folders = Set(
            (media + textRenditions).map(\.name.id) + [asset.keys.folder.id] + attached.map(\.folder))
        let contents = ExportContents(folders: all.folders.filter { folders.contains($0.name) }, texts: [])

        let draft = try await draft(media, texts: textRenditions, contents)
        let subtitles = texts.compactMap(exported)
        let isIn = Set(subtitles.map(\.folder))
        let leftOut = textRenditions.map(\.name.id).filter { !isIn.contains($0) }
        var export = SingleFileExport(
            contents: contents, films: [],
            leftOut: leftOut.map { "\($0) is left out: only WebVTT in the clear goes into one file" })

        let numbers = Dictionary(media.enumerated().map { ($1.name.id, $0) }) { first, _ in first }
        func playlist(_ paths: [String?]) -> [UInt8] {
            let sounds = sound.compactMap { media -> (Media, String?)? in
                guard let index = media.renditionIndex else { return (media, nil) }
                guard let path = numbers[asset.renditions[index].name.id].flatMap({ paths[$0] }) else { return nil }
                return (media, path)
            }
            return SingleFilePlaylist(video: paths[0] ?? "", sound: sounds).bytes
        }
        guard isSplit, draft.parts.count > 1 else {
            export.films = [
                SingleFileExport.Film(
                    playlist: SingleFilePlaylist.fileName, text: playlist(media.map { "\($0.name.id)/media.m3u8" }),
                    cuts: [], renditions: draft.runs, subtitles: subtitles + attached, chapters: chapterMetadata)
            ]
            return export
        }
        for part in draft.parts {
            let cuts = part.media
            var film = SingleFileExport.Film(
                playlist: SingleFilePlaylist.fileName, text: playlist(cuts.map { $0?.path }),
                cuts: cuts.compactMap(\.self),
                renditions: part.runs, subtitles: subtitles)
            for index in film.subtitles.indices {
                film.subtitles[index].files = part.texts[film.subtitles[index].folder] ?? []
            }
            film.subtitles.removeAll(where: \.files.isEmpty)
            export.films.append(film)
        }
        export.leftOut += leftOutOfParts
        return export
    }

    /// The export of a lone media playlist.
    private func loneFile(_ all: ExportContents, isSplit: Bool) async throws(ExchangeError) -> SingleFileExport {
        guard let lone = asset.content.lone else {
            let film = SingleFileExport.Film(
                playlist: "master.m3u8", text: nil, cuts: [], renditions: [], subtitles: attachedSubtitles,
                chapters: chapterMetadata)
            return SingleFileExport(contents: all, films: [film], leftOut: [])
        }
        let draft = try await draft([lone], texts: [], all)
        guard isSplit, draft.parts.count > 1 else {
            let film = SingleFileExport.Film(
                playlist: "\(lone.name.id)/media.m3u8", text: nil, cuts: [], renditions: draft.runs,
                subtitles: attachedSubtitles, chapters: chapterMetadata)
            return SingleFileExport(contents: all, films: [film], leftOut: [])
        }
        let films = draft.parts.map { part in
            SingleFileExport.Film(
                playlist: part.media[0]?.path ?? "", text: nil, cuts: part.media.compactMap(\.self),
                renditions: part.runs, subtitles: [])
        }
        return SingleFileExport(contents: all, films: films, leftOut: leftOutOfParts)
    }

    /// Subtitles and chapters whose times are those of the whole film.
    private var leftOutOfParts: [String] {
        var leftOut = attachedSubtitles.map { "\($0.name) is left out: its times are those of the film in one" }
        if chapterMetadata != nil {
            leftOut.append("the chapters are left out: their times are those of the film in one")
        }
        return leftOut
    }

    // MARK: Changes

    /// Renditions, and the segments at which they change.
    private struct Draft {
        struct Part {
            /// Of each rendition; nil if it has nothing in this part.
            var media: [FilmCut?] = []
            var runs: [[SingleFileExport.Run]] = []
            /// The files of each subtitle rendition, by its folder.
            let texts: [String: [String]]
        }

        var runs: [[SingleFileExport.Run]] = []
        var parts: [Part] = []
    }

    private func draft(
        _ media: [Rendition], texts: [Rendition], _ contents: ExportContents
    ) async throws(ExchangeError) -> Draft {
        var changes: [MediaChanges] = []
        var cuts: [(Range<Int>) -> SingleFileExport.Run] = []
        for rendition in media {
            guard let source = rendition.source else { continue }
            let transport = await transportStreams(of: rendition, in: contents)
            let segments = Self.segments(of: rendition, source, transport: transport)
            let found = MediaChanges(segments)
            let names = BundlePlaylists(asset).names(in: source, of: rendition)
            changes.append(found)
            cuts.append { range in
                let first = range.first { !segments[$0].isGap } ?? range.lowerBound
                let isWithoutSection = segments[first].section == nil && source.playlist.segments[first].map != nil
                let cut = FilmCut(
                    folder: rendition.name.id, names: names, playlist: source.playlist, segments: range,
                    isWithoutSection: isWithoutSection)
                return SingleFileExport.Run(
                    start: found.times[range.lowerBound], container: segments[first].container, cut: cut)
            }
        }
        var draft = Draft()
        for (changes, cut) in zip(changes, cuts) {
            draft.runs.append(changes.runs.map(cut))
        }

        let textSegments = texts.map(Self.textSegments)
        var all = changes
        for segments in textSegments {
            all.append(MediaChanges(segments.map(\.segment)))
        }
        for ranges in MediaChanges.parts(of: all) {
            var runs: [SingleFileExport.Run?] = []
            for (range, cut) in zip(ranges, cuts) {
                guard !range.isEmpty else {
                    runs.append(nil)
                    continue
                }
                runs.append(cut(range))
            }
            guard let first = runs.first, first != nil else { continue }
            var files: [String: [String]] = [:]
            for (index, rendition) in texts.enumerated() {
                let range = ranges[changes.count + index]
                files[rendition.name.id] = textSegments[index][range].filter { !$0.segment.isGap }.map(\.file)
            }
            var part = Draft.Part(texts: files)
            for run in runs {
                part.media.append(run?.cut)
                if let run {
                    part.runs.append([run])
                }
            }
            draft.parts.append(part)
        }
        return draft
    }

    private static func segments(
        of rendition: Rendition, _ source: Rendition.Source, transport: Set<String>
    ) -> [MediaChanges.Segment] {
        let gaps = rendition.givenUpIndices
        return source.playlist.segments.map { segment in
            let file = rendition.file(of: segment)
            var section = segment.map?.index
            var ending = rendition.name(of: segment).fileExtension
            if transport.contains(file) {
                section = nil
                ending = "ts"
            } else if section != nil {
                // Fragments have several endings.
                ending = "mp4"
            }
            return MediaChanges.Segment(
                section: section, ending: ending, isDiscontinuity: segment.isDiscontinuity,
                isGap: segment.isGap || gaps.contains(segment.index), duration: segment.duration.seconds)
        }
    }

    /// The segments of subtitles, whose decoder never changes, with their files.
    private static func textSegments(of rendition: Rendition) -> [(segment: MediaChanges.Segment, file: String)] {
        guard let source = rendition.source else { return [] }
        return source.playlist.segments.map { segment in
            let isGap = segment.isGap || rendition.isWithoutCues(segment)
            let one = MediaChanges.Segment(ending: "vtt", isGap: isGap, duration: segment.duration.seconds)
            return (one, rendition.file(of: segment))
        }
    }

    /// The files of a rendition with initialization sections that are transport stream all the same.
    private func transportStreams(of rendition: Rendition, in contents: ExportContents) async -> Set<String> {
        guard let playlist = rendition.source?.playlist, !playlist.maps.isEmpty,
            let folder = contents.folders.first(where: { $0.name == rendition.name.id })
        else { return [] }
        let found = try? await DiskWork.run { () throws(StoreError) in
            folder.files.map(\.name).filter { Self.isTransportStream($0, in: folder.pieces.directory) }
        }
        return Set(found ?? [])
    }

    private nonisolated static func isTransportStream(_ file: String, in folder: Directory) -> Bool {
        guard let piece = folder.openIfPresent(file) else { return false }
        defer { close(piece) }
        var start = [UInt8](repeating: 0, count: MediaRecognition.firstLook)
        let count = pread(piece, &start, start.count, 0)
        return count > 0 && MediaRecognition.isTransportStream(start[..<count])
    }

    // MARK: Subtitles and chapters

    /// The complete subtitles that the user attached.
    private var attachedSubtitles: [SingleFileExport.Subtitles] {
        let additions = asset.content.additions
        return additions.attachments.filter { $0.kind == .subtitles }.compactMap { attachment in
            guard let rendition = additions.renditions[attachment.id], rendition.isComplete else { return nil }
            var subtitles = SingleFileExport.Subtitles(
                folder: attachment.id, files: rendition.mediaFiles,
                language: SingleFileExport.threeLetters(attachment.language), name: attachment.name)
            if attachment.isDefault ?? false {
                subtitles.disposition.append("default")
            }
            if attachment.isForced ?? false {
                subtitles.disposition.append("forced")
            }
            return subtitles
        }
    }

    /// The chapters that the user attached last, in ffmpeg's metadata format.
    private var chapterMetadata: [UInt8]? {
        ChapterList(attachedTo: asset).map { list in
            let chapters = list.spans(length: asset.duration).map { span in
                let title = Self.escaped(span.title)
                return """
                    [CHAPTER]
                    TIMEBASE=1/1000
                    START=\(span.start.milliseconds)
                    END=\((span.end ?? span.start).milliseconds)
                    title=\(title)

                    """
            }
            return Array((";FFMETADATA1\n" + chapters.joined()).utf8)
        }
    }

    /// A value as ffmpeg's metadata format has it.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            if "=;#\\\n".contains(character) {
                text.append("\\")
            }
            text.append(character)
        }
        return text
    }

    private func exported(_ media: Media) -> SingleFileExport.Subtitles? {
        guard let index = media.renditionIndex, let playlist = asset.renditions[index].source?.playlist,
            playlist.keys.allSatisfy({ $0.method == .none }), playlist.maps.isEmpty
        else { return nil }
        let rendition = asset.renditions[index]
        return SingleFileExport.Subtitles(
            folder: rendition.name.id, files: rendition.mediaFiles,
            language: SingleFileExport.threeLetters(media.language), name: media.name)
    }
}

extension MultivariantPlaylist {
    /// The complete variant with the highest bit rate; one with video, if there is any.
    fileprivate func best(of whole: Set<Int>) -> Variant? {
        let variants = completeVariants(renditions: whole)
        let withVideo = variants.filter { !$0.isAudioOnly }
        let candidates = withVideo.isEmpty ? variants : withVideo
        return candidates.max { $0.bandwidth < $1.bandwidth }
    }

    /// The audio renditions of a variant: its group, and those that only other groups have.
    fileprivate func sound(with variant: Variant, among whole: Set<Int>) -> [Media] {
        guard let group = variant.group(.audio) else { return [] }
        return members(.audio, first: group, among: whole)
    }

    fileprivate func subtitles(with variant: Variant, among whole: Set<Int>) -> [Media] {
        members(.subtitles, first: variant.group(.subtitles) ?? "", among: whole).filter { $0.renditionIndex != nil }
    }

    private func members(_ type: Media.Kind, first group: String, among whole: Set<Int>) -> [Media] {
        let stored = media.filter { media in
            guard media.type == type else { return false }
            // A rendition without a URI is in the variant's own media.
            return media.renditionIndex.map(whole.contains) ?? (media.groupID == group)
        }
        var seen: Set<[String]> = []
        let ordered = stored.filter { $0.groupID == group } + stored.filter { $0.groupID != group }
        return ordered.filter { media in
            let language = media.language ?? ""
            let characteristics = media.characteristics ?? ""
            return seen.insert([language, media.name, characteristics]).inserted
        }
    }
}

/// A multivariant playlist for ffmpeg: one variant, and all audio as its only group.
struct SingleFilePlaylist {
    static let fileName = "film.m3u8"
    let bytes: [UInt8]

    /// - Parameters:
    ///   - video: the path of the variant's playlist.
    ///   - sound: the audio with the paths of their playlists; nil for one that is in the variant.
    init(video: String, sound: [(media: Media, path: String?)]) {
        var lines = ["#EXTM3U"]
        for (number, (media, path)) in sound.enumerated() {
            var line = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"sound\",NAME=\"\(number)\""
            if let language = SingleFileExport.threeLetters(media.language) {
                line += ",LANGUAGE=\"\(language)\""
            }
            if media.isDefault {
                line += ",DEFAULT=YES,AUTOSELECT=YES"
            }
            if let path {
                line += ",URI=\"\(path)\""
            }
            lines.append(line)
        }
        if sound.isEmpty {
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1")
        } else {
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"sound\"")
        }
        lines.append(video)
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}
