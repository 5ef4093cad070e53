import EventLoop
import Fetching
import Foundation
import Playlist
import Store

/// What of an asset goes into one file: its best variant that is whole, and every language of sound and subtitles.
struct Film: Sendable {
    /// One stored rendition of subtitles in WebVTT.
    struct Subtitles: Sendable {
        /// Its folder.
        let folder: String
        /// Its segments, in their order.
        let files: [String]
        /// The language by ISO 639-2, if it is known.
        let language: String?
        /// What people read in a list.
        let name: String
    }

    /// What ffmpeg is given.
    let contents: ExportContents
    /// The playlist in it that ffmpeg begins with.
    let playlist: String
    /// In the playlist's order.
    let subtitles: [Subtitles]
    /// What is stored and cannot go into one file, with the reason.
    let leftOut: [String]
    /// Whether the picture is HEVC, which Apple's players know by one name only.
    let isHEVC: Bool

    /// A language by ISO 639-2, which is what files have; nil for one that has none.
    static func threeLetters(_ tag: String?) -> String? {
        guard let language = tag?.split(separator: "-").first else { return nil }
        return Locale.LanguageCode(String(language)).identifier(.alpha3)
    }
}

extension Asset {
    /// What of it goes into one file.
    func film() throws(LibraryError) -> Film {
        let all = try exportContents()
        guard let multivariant, let variant = multivariant.best(of: wholeRenditions) else {
            return Film(contents: all, playlist: "master.m3u8", subtitles: [], leftOut: [], isHEVC: false)
        }
        let sound = multivariant.sound(with: variant, among: wholeRenditions)
        let texts = multivariant.subtitles(with: variant, among: wholeRenditions)
        let places = [variant.renditionIndex] + sound.compactMap(\.renditionIndex) + texts.compactMap(\.renditionIndex)
        let folders = Set(places.map { renditions[$0].name.id } + [keys.folder.id])
        let subtitles = texts.compactMap(film)
        let playlist = FilmPlaylist(video: renditions[variant.renditionIndex].name.id, sound: sound) { [renditions] in
            renditions[$0].name.id
        }
        let contents = ExportContents(
            folders: all.folders.filter { folders.contains($0.name) },
            texts: [ExportContents.Text(FilmPlaylist.fileName, playlist.bytes)])
        let isIn = Set(subtitles.map(\.folder))
        let leftOut = texts.compactMap(\.renditionIndex).map { renditions[$0].name.id }.filter { !isIn.contains($0) }
        return Film(
            contents: contents, playlist: FilmPlaylist.fileName, subtitles: subtitles,
            leftOut: leftOut.map { "\($0): only WebVTT in the clear goes into one file" },
            isHEVC: variant.codecs.contains { $0.hasPrefix("hvc1") || $0.hasPrefix("hev1") })
    }

    /// Subtitles that can be read here; nil for what is encrypted, or no WebVTT.
    private func film(_ media: Media) -> Film.Subtitles? {
        guard let place = media.renditionIndex, let playlist = renditions[place].source?.playlist,
            playlist.keys.allSatisfy({ $0.method == .none }), playlist.maps.isEmpty
        else { return nil }
        let rendition = renditions[place]
        return Film.Subtitles(
            folder: rendition.name.id, files: rendition.mediaFiles, language: Film.threeLetters(media.language),
            name: media.name)
    }
}

extension MultivariantPlaylist {
    /// The whole variant of the highest bit rate; one with a picture, where there is any.
    fileprivate func best(of whole: Set<Int>) -> Variant? {
        let variants = completeVariants(renditions: whole)
        let seen = variants.filter { !$0.isAudioOnly }
        return (seen.isEmpty ? variants : seen).max { $0.bandwidth < $1.bandwidth }
    }

    /// The sound that belongs to a variant: its group, and what only other groups have.
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
            // Without a URI it is in the variant's own media.
            return media.renditionIndex.map(whole.contains) ?? (media.groupID == group)
        }
        var seen: Set<[String]> = []
        return (stored.filter { $0.groupID == group } + stored.filter { $0.groupID != group }).filter { media in
            seen.insert([media.language ?? "", media.name, media.characteristics ?? ""]).inserted
        }
    }
}

/// A multivariant playlist for ffmpeg: one variant, and all the sound as its one group. The languages are written as
/// files have them, and ffmpeg passes them on.
struct FilmPlaylist {
    /// What it is called.
    static let fileName = "film.m3u8"
    /// The text.
    let bytes: [UInt8]

    /// - Parameters:
    ///   - video: the folder of the variant.
    ///   - folder: that of a rendition at a place.
    init(video: String, sound: [Media], folder: (Int) -> String) {
        var lines = ["#EXTM3U"]
        for (number, media) in sound.enumerated() {
            let language = Film.threeLetters(media.language).map { ",LANGUAGE=\"\($0)\"" } ?? ""
            let uri = media.renditionIndex.map { ",URI=\"\(folder($0))/media.m3u8\"" } ?? ""
            let choice = media.isDefault ? ",DEFAULT=YES,AUTOSELECT=YES" : ""
            lines.append("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"sound\",NAME=\"\(number)\"\(language)\(choice)\(uri)")
        }
        lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1" + (sound.isEmpty ? "" : ",AUDIO=\"sound\""))
        lines.append("\(video)/media.m3u8")
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}
