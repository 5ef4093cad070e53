import Store

/// Makes one file of a film by ffmpeg, which copies all media as it is.
///
/// ffmpeg reads a folder of the store's own with the film's pieces alone, so that nothing changes under it, decrypts
/// what has AES-128 keys, and writes beside the place that the file is to have.
struct Remuxer: Sendable {
    private let film: Film
    private let format: ExportFormat
    /// What people know the film by.
    let title: String
    private let ffmpeg: String
    private let ffprobe: String

    /// - Throws: `noProgram` where there is no ffmpeg.
    init(_ film: Film, format: ExportFormat, title: String) throws(LibraryError) {
        guard let ffmpeg = ChildProgram.find("ffmpeg"), let ffprobe = ChildProgram.find("ffprobe") else {
            throw LibraryError(
                .noProgram, "ffmpeg and ffprobe, which make a file of \(format.rawValue), are not in the daemon's PATH")
        }
        (self.film, self.format, self.title) = (film, format, title)
        (self.ffmpeg, self.ffprobe) = (ffmpeg, ffprobe)
    }

    /// Writes the file to `path`, whole or not at all; not on the loop's thread.
    ///
    /// - Parameter work: an empty folder on the store's disk.
    func run(in work: Directory, to path: String) throws(LibraryError) {
        do throws(StoreError) {
            let target = try ExportTarget(path: path, kind: .file)
            try target.fill { () throws(StoreError) in
                try film.contents.fill(work)
                try writeSubtitles(to: work)
                let outcome = try ChildProgram.run(ffmpeg, arguments(work, to: target.temporaryPath), saying: work)
                guard outcome.isGood else {
                    throw StoreError(.program, path: ffmpeg, detail: Self.sentence(outcome.complaint))
                }
            }
        } catch {
            throw LibraryError(export: error, of: title)
        }
    }

    private static func sentence(_ complaint: String) -> String {
        complaint.isEmpty ? "it failed without a word" : complaint
    }

    // MARK: What ffmpeg is told

    /// A folder of ours has keys and pieces of any name, and nothing that leads elsewhere.
    private static let input = ["-protocol_whitelist", "file,crypto,data", "-allowed_extensions", "ALL"]

    private func arguments(_ work: Directory, to path: String) -> [String] {
        let subtitles = film.subtitles.indices
        var words = ["-nostdin", "-v", "error", "-y"] + Self.input + ["-i", "file:\(work.path)/\(film.playlist)"]
        for number in subtitles { words += ["-i", "file:\(work.path)/\(Self.subtitles(number))"] }
        words += ["-map", "0:v?", "-map", "0:a?"]
        for number in subtitles { words += ["-map", "\(number + 1):s"] }
        words += ["-c", "copy", "-c:s", format == .mp4 ? "mov_text" : "srt", "-metadata", "title=\(title)"]
        for (number, text) in film.subtitles.enumerated() {
            words += ["-metadata:s:s:\(number)", "title=\(text.name)"]
            if let language = text.language { words += ["-metadata:s:s:\(number)", "language=\(language)"] }
        }
        guard format == .mp4 else { return words + ["-f", "matroska", "file:\(path)"] }
        if film.isHEVC { words += ["-tag:v", "hvc1"] }
        return words + ["-movflags", "+faststart", "-f", "mp4", "file:\(path)"]
    }

    // MARK: Subtitles

    private static func subtitles(_ number: Int) -> String { "subtitles-\(number).vtt" }

    /// Each language as one text, by the clock of the file, which begins when the media does.
    private func writeSubtitles(to work: Directory) throws(StoreError) {
        guard !film.subtitles.isEmpty else { return }
        let start = try beginning(work)
        for (number, subtitles) in film.subtitles.enumerated() {
            let folder = try work.subdirectory(subtitles.folder)
            var joined = JoinedSubtitles(start: start)
            for file in subtitles.files { joined.add(try folder.read(file) ?? []) }
            try work.write(joined.text, as: Self.subtitles(number))
        }
    }

    /// When the media begins, in seconds by its own clock; 0 where nothing tells.
    private func beginning(_ work: Directory) throws(StoreError) -> Double {
        let outcome = try ChildProgram.run(
            ffprobe,
            ["-v", "error"] + Self.input
                + ["-show_entries", "format=start_time", "-of", "csv=p=0", "file:\(work.path)/\(film.playlist)"],
            saying: work)
        return Double(outcome.output.prefix { $0 != "\n" }) ?? 0
    }
}
