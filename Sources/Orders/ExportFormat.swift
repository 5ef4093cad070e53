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

    /// The format that the ending of a path means.
    package static func of(_ path: String) -> ExportFormat {
        let last = path.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return .folder }
        switch last[last.index(after: dot)...].lowercased() {
        case "tar": return .tar
        case "mp4", "m4v", "m4a", "mov": return .mp4
        case "mkv", "mka": return .mkv
        default: return .folder
        }
    }
}
