import Orders
import SafeText
import Store

/// Makes one file of an asset with ffmpeg, without re-encoding, from a work folder with only the export's pieces.
struct Remuxer: Sendable {
    private let export: SingleFileExport
    private let format: ExportFormat
    /// The title in the file's metadata, and the asset's name in messages.
    let title: String
    private let ffmpeg: String
    private let ffprobe: String

    /// - Throws: `noProgram` if ffmpeg or ffprobe is not installed.
    init(_ export: SingleFileExport, format: ExportFormat, title: String) throws(ExchangeError) {
        guard let ffmpeg = ChildProgram.find("ffmpeg"), let ffprobe = ChildProgram.find("ffprobe") else {
            throw ExchangeError(
                .noProgram, "ffmpeg and ffprobe, which make a file of \(format.rawValue), are not in the daemon's PATH")
        }
        self.export = export
        self.format = format
        self.title = title
        self.ffmpeg = ffmpeg
        self.ffprobe = ffprobe
    }

    /// Writes the file to `path`, completely or not at all. Blocks. `work` is an empty folder on the store's disk.
    func run(in work: Directory, to path: String) throws(ExchangeError) {
        do throws(StoreError) {
            let target = try ExportTarget(path: path, kind: .file)
            try target.fill { () throws(StoreError) in
                try export.contents.withLinks(in: work) { () throws(StoreError) in
                    try writeSubtitles(to: work)
                    let outcome = try ChildProgram.run(ffmpeg, arguments(work, to: target.temporaryPath), in: work)
                    guard outcome.hasSucceeded else {
                        let reason = outcome.errors.last ?? "it gave no reason"
                        throw StoreError(.program, path: ffmpeg, detail: reason)
                    }
                }
            }
        } catch {
            throw ExchangeError(leaving: error, "\(title) is not exported")
        }
    }

    // MARK: Arguments

    /// The work folder has keys and pieces with any file extension, and no references to elsewhere.
    private static let input = ["-protocol_whitelist", "file,crypto,data", "-allowed_extensions", "ALL"]

    private func arguments(_ work: Directory, to path: String) -> [String] {
        let subtitles = export.subtitles.indices
        var words = ["-nostdin", "-v", "error", "-y"] + Self.input + ["-i", "file:\(work.path)/\(export.playlist)"]
        for number in subtitles {
            words += ["-i", "file:\(work.path)/\(Self.subtitles(number))"]
        }
        if export.chapters != nil {
            words += ["-f", "ffmetadata", "-i", "file:\(work.path)/\(Self.chapters)"]
            words += ["-map_chapters", "\(subtitles.count + 1)"]
        }
        words += ["-map", "0:v?", "-map", "0:a?"]
        for number in subtitles {
            words += ["-map", "\(number + 1):s"]
        }
        // The container decides how text is stored.
        let subtitleCodec = format == .mp4 ? "mov_text" : "srt"
        words += ["-c", "copy", "-c:s", subtitleCodec, "-metadata", "title=\(title)"]
        for (number, text) in export.subtitles.enumerated() {
            words += ["-metadata:s:s:\(number)", "title=\(text.name)"]
            if let language = text.language {
                words += ["-metadata:s:s:\(number)", "language=\(language)"]
            }
            if !text.disposition.isEmpty {
                words += ["-disposition:s:\(number)", text.disposition.joined(separator: "+")]
            }
        }
        guard format == .mp4 else { return words + ["-f", "matroska", "file:\(path)"] }
        if export.isHEVC {
            words += ["-tag:v", "hvc1"]
        }
        return words + ["-movflags", "+faststart", "-f", "mp4", "file:\(path)"]
    }

    // MARK: Subtitles and chapters

    private static func subtitles(_ number: Int) -> String { "subtitles-\(number).vtt" }

    private static let chapters = "chapters.txt"

    private func writeSubtitles(to work: Directory) throws(StoreError) {
        if let chapters = export.chapters {
            try work.write(chapters, as: Self.chapters)
        }
        guard !export.subtitles.isEmpty else { return }
        let start = try beginning(work)
        for (number, subtitles) in export.subtitles.enumerated() {
            let folder = try work.subdirectory(subtitles.folder)
            var joined = JoinedSubtitles(start: start.value)
            for file in subtitles.files {
                joined.add(try folder.read(file) ?? [])
            }
            try work.write(joined.text, as: Self.subtitles(number))
        }
    }

    /// On the media's own timeline; 0 if ffprobe does not report it.
    private func beginning(_ work: Directory) throws(StoreError) -> Seconds {
        let outcome = try ChildProgram.run(
            ffprobe,
            ["-v", "error"] + Self.input
                + ["-show_entries", "format=start_time", "-of", "csv=p=0", "file:\(work.path)/\(export.playlist)"],
            in: work)
        return Seconds(decimal: outcome.output.prefix { $0 != "\n" }) ?? 0
    }
}
