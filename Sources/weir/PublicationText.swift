import Control

/// What `weir publish` writes.
enum PublicationText {
    /// The line that is drawn over and over, for a terminal of so many columns.
    static func drawn(_ publication: API.Publication, columns: Int, hasColor: Bool) -> String {
        let name = publication.asset
        guard publication.totalBytes > 0 else { return "\(name)  looking at what is there" }
        let fraction = Double(publication.bytes) / Double(publication.totalBytes)
        let percent = Format.percent(min(0.99, fraction)).rightAligned(to: 4)
        let tail = "\(Format.bytes(publication.bytes)) of \(Format.bytes(publication.totalBytes))"
        let width = min(30, columns - 1 - name.count - percent.count - tail.count - 5)
        guard width >= 5 else { return "\(name)  \(percent)" }
        let bar = ProgressBar.text(fraction, width: width)
        return "\(name)  \(percent) " + (hasColor ? "\u{1B}[36m\(bar)\u{1B}[0m" : bar) + "  \(tail)"
    }

    /// What was done, in a line.
    static func summary(_ publication: API.Publication) -> String {
        var words = ["\(publication.sentFiles) of \(publication.totalFiles) files sent"]
        words.append(Format.bytes(publication.sentBytes))
        if publication.deletedFiles > 0 { words.append("\(publication.deletedFiles) deleted") }
        return "published \(publication.asset) to \(publication.target ?? "–"): \(words.joined(separator: ", "))"
    }

    /// Why it does not end with 0; nil where everything is there.
    static func failure(_ publication: API.Publication) -> Failure? {
        switch publication.state {
        case .done: return nil
        case .failed:
            let problem = publication.error
            let code = problem?.code ?? .internal
            return Failure(
                problem?.detail ?? "\(publication.asset) is not wholly published", next: problem?.next,
                exitCode: code.exitCode, code: code.rawValue)
        case .cancelled, .running, .none:
            return Failure("the publication of \(publication.asset) was given up", exitCode: 1, code: "cancelled")
        }
    }

    // MARK: JSON

    static func progress(_ publication: API.Publication) -> String {
        var line = JSONLine()
        line.add("v", 1)
        line.add("t", "progress")
        line.add("id", publication.asset)
        line.add("files", publication.files)
        line.add("totalFiles", publication.totalFiles)
        line.add("bytes", publication.bytes)
        line.add("totalBytes", publication.totalBytes)
        return line.text
    }

    /// The end, good or bad.
    static func result(_ publication: API.Publication?, _ failure: Failure?) -> String {
        var line = JSONLine()
        line.add("v", 1)
        line.add("t", "result")
        line.add("id", publication?.asset)
        line.add("publication", publication)
        line.add("error", failure.map { ["code": $0.code, "message": $0.message] })
        line.add("exit", failure?.exitCode ?? 0)
        return line.text
    }
}
