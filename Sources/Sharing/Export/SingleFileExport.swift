import Assets
import EventLoop
import Extras
import Fetching
import Foundation
import HLS
import Orders
import Store

/// The parts of an asset that go into one file: its best complete variant, and every language.
struct SingleFileExport: Sendable {
    struct Subtitles: Sendable {
        let folder: String
        let files: [String]
        /// The language by ISO 639-2, if known.
        let language: String?
        let name: String
        /// Words for ffmpeg's `-disposition`: `default`, `forced`.
        var disposition: [String] = []
    }

    let contents: ExportContents
    /// The name of the playlist in `contents` that ffmpeg opens.
    let playlist: String
    let subtitles: [Subtitles]
    /// Chapters that the user attached, as ffmpeg's metadata file; nil for none.
    let chapters: [UInt8]?
    /// The stored renditions that cannot go into one file, with the reasons.
    let leftOut: [String]
    /// True if the video is HEVC: Apple's players accept it only with the sample entry `hvc1`.
    let isHEVC: Bool

    /// Converts a language tag to ISO 639-2; nil if there is no such code.
    static func threeLetters(_ tag: String?) -> String? {
        guard let language = tag?.split(separator: "-").first else { return nil }
        return Locale.LanguageCode(String(language)).identifier(.alpha3)
    }
}

extension AssetExport {
    /// The best complete variant with every language.
    func singleFile() async throws(ExchangeError) -> SingleFileExport {
        let all = try await verifiedContents()
        let attached = attachedSubtitles
        let complete = asset.content.completeRenditions
        guard let multivariant = asset.multivariant, let variant = multivariant.best(of: complete) else {
            let playlist = asset.content.lone.map { "\($0.name.id)/media.m3u8" }
            return SingleFileExport(
                contents: all, playlist: playlist ?? "master.m3u8", subtitles: attached, chapters: chapterMetadata,
                leftOut: [], isHEVC: false)
        }
        let sound = multivariant.sound(with: variant, among: complete)
        let texts = multivariant.subtitles(with: variant, among: complete)
        let indices = [variant.renditionIndex] + sound.compactMap(\.renditionIndex) + texts.compactMap(\.renditionIndex)
        let folders = Set(
            indices.map { asset.renditions[$0].name.id } + [asset.keys.folder.id] + attached.map(\.folder))
        let subtitles = texts.compactMap(exported)
        let playlist = SingleFilePlaylist(video: asset.renditions[variant.renditionIndex].name.id, sound: sound) {
            [renditions = asset.renditions] in
            renditions[$0].name.id
        }
        let contents = ExportContents(
            folders: all.folders.filter { folders.contains($0.name) },
            texts: [ExportContents.Text(SingleFilePlaylist.fileName, playlist.bytes)])
        let isIn = Set(subtitles.map(\.folder))
        let ids = texts.compactMap(\.renditionIndex).map { asset.renditions[$0].name.id }
        let leftOut = ids.filter { !isIn.contains($0) }
        return SingleFileExport(
            contents: contents, playlist: SingleFilePlaylist.fileName, subtitles: subtitles + attached,
            chapters: chapterMetadata,
            leftOut: leftOut.map { "\($0) is left out: only WebVTT in the clear goes into one file" },
            isHEVC: variant.codecs.contains { $0.hasPrefix("hvc1") || $0.hasPrefix("hev1") })
    }

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

    init(video: String, sound: [Media], folder: (Int) -> String) {
        var lines = ["#EXTM3U"]
        for (number, media) in sound.enumerated() {
            var line = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"sound\",NAME=\"\(number)\""
            if let language = SingleFileExport.threeLetters(media.language) {
                line += ",LANGUAGE=\"\(language)\""
            }
            if media.isDefault {
                line += ",DEFAULT=YES,AUTOSELECT=YES"
            }
            if let index = media.renditionIndex {
                line += ",URI=\"\(folder(index))/media.m3u8\""
            }
            lines.append(line)
        }
        if sound.isEmpty {
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1")
        } else {
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"sound\"")
        }
        lines.append("\(video)/media.m3u8")
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}
