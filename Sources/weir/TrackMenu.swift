import Foundation
import Orders
import WeirAPI

/// The tracks of a presentation with numbers, of which the user chooses in the terminal. Pure but for `ask`.
struct TrackMenu {
    private enum Track {
        case variant(API.Variant)
        case audio(language: String)
        case subtitles(language: String)
        case noSubtitles
    }

    private struct Line {
        let track: Track
        let text: String
        /// True if it is taken without an answer.
        let isProposed: Bool
    }

    private let numbered: [Line]

    /// - Parameter presentation: with the explanation of what is proposed.
    init(_ presentation: API.Presentation) {
        let tracks = presentation.tracks
        let proposal = presentation.explanation
        var lines: [Line] = []
        var pictures: Set<String> = []
        let byQuality = tracks.variants.enumerated().sorted { first, second in
            Self.rank(first.element) > Self.rank(second.element)
        }
        for (index, variant) in byQuality {
            let isProposed = index == proposal?.chosen.index
            guard pictures.insert("\(variant.id) \(variant.bandwidth ?? 0)").inserted else { continue }
            let size = variant.estimatedBytes.map(Format.estimate)
            let words = [variant.summary, variant.videoRange, size].compactMap(\.self).filter { $0 != "SDR" }
            lines.append(Line(track: .variant(variant), text: words.joined(separator: "   "), isProposed: isProposed))
        }
        let selection = proposal?.selection
        lines += Self.lines("audio", of: tracks.audio, proposed: selection?.audio) { .audio(language: $0) }
        let subtitles = Self.lines("subs", of: tracks.subtitles, proposed: selection?.subtitles) {
            .subtitles(language: $0)
        }
        lines += subtitles
        if !subtitles.isEmpty {
            lines.append(
                Line(track: .noSubtitles, text: "no subs", isProposed: !subtitles.contains { $0.isProposed }))
        }
        numbered = lines
    }

    private static func rank(_ variant: API.Variant) -> (height: Int, bandwidth: Int) {
        let height = variant.height ?? 0
        let bandwidth = variant.bandwidth ?? 0
        return (height, bandwidth)
    }

    /// One line for each language: the layout of a sound is chosen by the rules of a download.
    private static func lines(
        _ kind: String, of renditions: [API.Rendition], proposed: [API.Rendition]?, as track: (String) -> Track
    ) -> [Line] {
        var lines: [Line] = []
        var known: Set<String> = []
        let chosen = proposed ?? []
        let taken = Set(chosen.compactMap { $0.language?.lowercased() })
        for rendition in renditions {
            guard let language = rendition.language?.lowercased(), known.insert(language).inserted else { continue }
            let same = renditions.filter { $0.language?.lowercased() == language }
            var layouts: [String] = []
            for layout in same.compactMap(\.layout) where !layouts.contains(layout) {
                layouts.append(layout)
            }
            let words = [kind, language, rendition.name] + layouts
            lines.append(
                Line(track: track(language), text: words.joined(separator: " "), isProposed: taken.contains(language)))
        }
        return lines
    }

    /// The lines for the terminal; those that are taken without an answer have a star.
    var lines: [String] {
        numbered.enumerated().map { index, line in
            let number = "\(index + 1)".rightAligned(to: 3)
            return "\(number)  \(line.text)\(line.isProposed ? "  *" : "")"
        }
    }

    /// The fault of an answer, as a sentence.
    struct Mistake: Error, Equatable {
        let sentence: String
    }

    /// Reads numbers with blanks or commas between them. What no number is about stays as it is proposed.
    func selection(answer: String) throws(Mistake) -> Selection {
        var variants: [API.Variant] = []
        var audio: [String] = []
        var subtitles: [String] = []
        var hasNoSubtitles = false
        for word in answer.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let number = Int(word), numbered.indices.contains(number - 1) else {
                throw Mistake(sentence: "\(word) is not one of the numbers 1 to \(numbered.count)")
            }
            switch numbered[number - 1].track {
            case .variant(let variant): variants.append(variant)
            case .audio(let language): audio.append(language)
            case .subtitles(let language): subtitles.append(language)
            case .noSubtitles: hasNoSubtitles = true
            }
        }
        guard variants.count < 2 else {
            throw Mistake(sentence: "a download has one picture, and these are \(variants.count)")
        }
        guard !hasNoSubtitles || subtitles.isEmpty else {
            throw Mistake(sentence: "no subtitles and subtitles exclude each other")
        }
        return Self.selection(variants.first, audio: audio, subtitles: hasNoSubtitles ? nil : subtitles)
    }

    /// - Parameters:
    ///   - audio: empty for what is proposed.
    ///   - subtitles: empty for what is proposed; nil for none.
    private static func selection(_ variant: API.Variant?, audio: [String], subtitles: [String]?) -> Selection {
        var selection = Selection()
        if let variant {
            var words: [String] = []
            if let height = variant.height {
                words.append("height=\(height)")
            }
            if let bandwidth = variant.bandwidth {
                words.append("peak=\(bandwidth)")
            }
            let conditions = words.compactMap { try? VariantCondition($0) }
            if !conditions.isEmpty {
                selection.conditions = conditions
            }
        }
        if !audio.isEmpty {
            selection.audio = .languages(audio)
        }
        if let subtitles {
            if !subtitles.isEmpty {
                selection.subtitles = .languages(subtitles)
            }
        } else {
            selection.subtitles = .nothing
        }
        return selection
    }

    /// Shows the menu, and asks until the answer can be read.
    static func ask(about request: API.DownloadRequest, _ client: APIClient) async throws -> Selection {
        guard Terminal.canAsk else {
            throw CommandFailure(
                "--choose asks for the tracks, and nobody can answer here",
                next: "weir show \(CommandFailure.quoted(request.source)), and then -q, --audio and --subs",
                exitCode: 64,
                code: "usage")
        }
        let menu = TrackMenu(try await client.call(Endpoints.selection, body: request))
        guard menu.numbered.count > 1 else { return Selection() }
        for line in menu.lines {
            Output.error(line + "\n")
        }
        while true {
            Output.error("numbers, such as 1 3; Enter takes what has a star: ")
            guard let answer = readLine() else {
                throw CommandFailure("nothing was chosen", exitCode: 1, code: "declined")
            }
            do throws(Mistake) {
                return try menu.selection(answer: answer)
            } catch {
                Output.error(error.sentence + "\n")
            }
        }
    }
}
