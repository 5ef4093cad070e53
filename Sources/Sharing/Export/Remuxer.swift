import Orders
import SafeText
import Store

/// Makes one file of each film of an export with ffmpeg, without re-encoding, from a work folder with only the export's pieces.
struct Remuxer: Sendable {
    /// The written files, and what they do not hold.
    struct Result: Sendable {
        var paths: [String] = []
        /// Sentences for a user.
        var losses: [String] = []
        /// True if the media changes, and a file for each part would hold more.
        var isSplittable = false
    }

    private let export: SingleFileExport
    private let format: ExportFormat
    /// True for a file with sound alone, by its ending.
    private let isSoundOnly: Bool
    private let path: String
    /// The title in the file's metadata, and the asset's name in messages.
    let title: String
    private let ffmpeg: String
    private let probe: MediaProbe

    /// - Throws: `noProgram` if ffmpeg or ffprobe is not installed.
    init(_ export: SingleFileExport, to path: String, as format: ExportFormat, title: String) throws(ExchangeError) {
        guard let ffmpeg = ChildProgram.find("ffmpeg"), let ffprobe = ChildProgram.find("ffprobe") else {
            throw ExchangeError(
                .noProgram, "ffmpeg and ffprobe, which make a file of \(format.rawValue), are not in the daemon's PATH")
        }
        self.export = export
        self.format = format
        self.path = path
        self.title = title
        self.ffmpeg = ffmpeg
        isSoundOnly = ExportFormat.isSoundOnly(path)
        probe = MediaProbe(program: ffprobe, input: Self.input)
    }

    /// Writes all files, completely or not at all. Blocks. `work` is an empty folder on the store's disk.
    func run(in work: Directory) throws(ExchangeError) -> Result {
        var result = Result()
        result.losses = export.leftOut
        do throws(StoreError) {
            try export.contents.withLinks(in: work) { () throws(StoreError) in
                try write(export.films.indices, in: work, &result)
            }
        } catch {
            throw ExchangeError(leaving: error, "\(title) is not exported")
        }
        return result
    }

    /// Writes the film at the first of the indices, and within it the others, so that all get their names at the end.
    private func write(_ films: Range<Int>, in work: Directory, _ result: inout Result) throws(StoreError) {
        guard let index = films.first else { return }
        let film = export.films[index]
        let path = ExportFormat.path(path, ofPart: index, among: export.films.count)
        result.paths.append(path)
        let target = try ExportTarget(path: path, kind: .file)
        try target.fill { () throws(StoreError) in
            try writeTexts(of: film, to: work)
            let stored = try renditions(of: film, in: work)
            let arguments = try arguments(for: film, stored, in: work, to: target.temporaryPath)
            let outcome = try ChildProgram.run(ffmpeg, arguments, in: work)
            guard outcome.hasSucceeded else {
                var reason = outcome.errors.last ?? "it gave no reason"
                if let change = ContainerLoss.firstChange(in: stored) {
                    reason += "; \(change), and with --split each part is a file of its own"
                }
                throw StoreError(.program, path: ffmpeg, detail: reason)
            }
            let written = try MediaProbe(program: probe.program, input: outputOptions).streams(
                of: target.temporaryPath, in: work)
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let loss = ContainerLoss(stored, in: name, written: written, isSoundOnly: isSoundOnly)
            if let message = loss.message {
                result.losses.append(message)
                result.isSplittable = result.isSplittable || loss.isByChanges
            }
            try write((index + 1)..<films.upperBound, in: work, &result)
        }
    }

    /// Reads the streams of the stored media, from change to change.
    private func renditions(
        of film: SingleFileExport.Film, in work: Directory
    ) throws(StoreError) -> [ContainerLoss.Rendition] {
        var renditions: [ContainerLoss.Rendition] = []
        for runs in film.renditions {
            var rendition: ContainerLoss.Rendition = []
            for run in runs {
                try run.cut.write(to: work)
                let streams = try probe.streams(of: "\(work.path)/\(run.cut.path)", in: work)
                rendition.append(ContainerLoss.Run(start: run.start, container: run.container, streams: streams))
            }
            renditions.append(rendition)
        }
        return renditions
    }

    // MARK: Arguments

    /// ffprobe leaves out what the edit list of an MPEG-4 file skips: the sound before the first picture, which decoders need.
    private var outputOptions: [String] {
        guard format == .mp4 else { return [] }
        return ["-ignore_editlist", "1"]
    }

    /// The work folder has keys and pieces with any file extension, and no references to elsewhere.
    private static let input = ["-protocol_whitelist", "file,crypto,data", "-allowed_extensions", "ALL"]

    private func arguments(
        for film: SingleFileExport.Film, _ stored: [ContainerLoss.Rendition], in work: Directory, to path: String
    ) throws(StoreError) -> [String] {
        var words = ["-nostdin", "-v", "error", "-y"] + Self.input + ["-i", "file:\(work.path)/\(film.playlist)"]
        let subtitles = try writeSubtitles(of: film, to: work)
        for file in subtitles {
            words += ["-i", "file:\(work.path)/\(file)"]
        }
        if film.chapters != nil {
            words += ["-f", "ffmetadata", "-i", "file:\(work.path)/\(Self.chapters)"]
            words += ["-map_chapters", "\(subtitles.count + 1)"]
        }
        if !isSoundOnly {
            words += ["-map", "0:v?"]
        }
        words += ["-map", "0:a?"]
        for number in subtitles.indices {
            words += ["-map", "\(number + 1):s"]
        }
        // The container decides how text is stored.
        let subtitleCodec = format == .mp4 ? "mov_text" : "srt"
        words += ["-c", "copy", "-c:s", subtitleCodec, "-metadata", "title=\(title)"]
        for (number, text) in film.subtitles.enumerated() where subtitles.indices.contains(number) {
            words += ["-metadata:s:s:\(number)", "title=\(text.name)"]
            if let language = text.language {
                words += ["-metadata:s:s:\(number)", "language=\(language)"]
            }
            if !text.disposition.isEmpty {
                words += ["-disposition:s:\(number)", text.disposition.joined(separator: "+")]
            }
        }
        switch format {
        case .ts: return words + ["-f", "mpegts", "file:\(path)"]
        case .mkv, .folder, .tar, .srt: return words + ["-f", "matroska", "file:\(path)"]
        case .mp4: break
        }
        // Apple's players accept HEVC only with this sample entry.
        let first = stored.first?.first?.streams.first { $0.kind == "video" }
        if first?.codec == "hevc", !isSoundOnly {
            words += ["-tag:v", "hvc1"]
        }
        // Older versions of ffmpeg call FLAC in MPEG-4 an experiment.
        return words + ["-strict", "experimental", "-movflags", "+faststart", "-f", "mp4", "file:\(path)"]
    }

    // MARK: Playlists, subtitles and chapters

    private static let chapters = "chapters.txt"

    /// The playlists that ffmpeg opens.
    private func writeTexts(of film: SingleFileExport.Film, to work: Directory) throws(StoreError) {
        for cut in film.cuts {
            try cut.write(to: work)
        }
        if let text = film.text {
            try work.write(text, as: film.playlist)
        }
        if let chapters = film.chapters {
            try work.write(chapters, as: Self.chapters)
        }
    }

    /// Returns the names of the files; none for a container without text.
    private func writeSubtitles(
        of film: SingleFileExport.Film, to work: Directory
    ) throws(StoreError) -> [String] {
        guard !film.subtitles.isEmpty, format.holdsText, !isSoundOnly else { return [] }
        let start = try beginning(of: film, work)
        var files: [String] = []
        for (number, subtitles) in film.subtitles.enumerated() {
            let folder = try work.subdirectory(subtitles.folder)
            var joined = JoinedSubtitles(start: start.value)
            for file in subtitles.files {
                joined.add(try folder.read(file) ?? [])
            }
            files.append("subtitles-\(number).vtt")
            try work.write(joined.text, as: files[number])
        }
        return files
    }

    /// On the media's own timeline; 0 if ffprobe does not report it.
    private func beginning(of film: SingleFileExport.Film, _ work: Directory) throws(StoreError) -> Seconds {
        let outcome = try ChildProgram.run(
            probe.program,
            ["-v", "error"] + Self.input
                + ["-show_entries", "format=start_time", "-of", "csv=p=0", "file:\(work.path)/\(film.playlist)"],
            in: work)
        return Seconds(decimal: outcome.output.prefix { $0 != "\n" }) ?? 0
    }
}
