/// The form in which an asset is exported.
package enum ExportFormat: String, Codable, CaseIterable, Sendable {
    /// A folder that plays by itself, also from a static web server.
    case folder
    /// The folder as an archive.
    case tar
    /// One MPEG-4 file with the best video and every language, made by ffmpeg.
    case mp4
    /// One Matroska file with the same content as `mp4`.
    case mkv
    /// One MPEG transport stream with the same content, without text.
    case ts
    /// The subtitles alone, as SubRip: a file for each language.
    case srt

    /// The format that the ending of a path means.
    package static func of(_ path: String) -> ExportFormat {
        switch ending(of: path) {
        case "tar": .tar
        case "mp4", "m4v", "m4a", "mov": .mp4
        case "mkv", "mka": .mkv
        case "ts": .ts
        case "srt": .srt
        default: .folder
        }
    }

    /// True if the ending of a path means a file with sound alone.
    package static func isSoundOnly(_ path: String) -> Bool { ["mka", "m4a"].contains(ending(of: path)) }

    /// True for one file, which ffmpeg makes.
    package var isFile: Bool { self != .folder && self != .tar && self != .srt }
    /// True if it has subtitles and chapters.
    package var holdsText: Bool { self != .ts }

    /// The path of one part of a film that is written to several files: `film-2.mkv`. That of the only part is unchanged.
    ///
    /// - Parameter part: its index, from 0.
    package static func path(_ path: String, ofPart part: Int, among count: Int) -> String {
        guard count > 1 else { return path }
        let number = String(part + 1)
        let zeros = String(repeating: "0", count: String(count).utf8.count - number.utf8.count)
        guard let ending = ending(of: path) else { return "\(path)-\(zeros)\(number)" }
        return "\(path.dropLast(ending.utf8.count + 1))-\(zeros)\(number).\(path.suffix(ending.utf8.count))"
    }

    /// In lower case; nil without one.
    private static func ending(of path: String) -> String? {
        let last = path.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return nil }
        return last[last.index(after: dot)...].lowercased()
    }
}
