import API

/// Output of `weir publish`.
enum PublicationText: JobText {
    static func stage(_ publication: API.Publication) -> String? {
        publication.totalBytes > 0 ? nil : "looking at what is there"
    }

    static func add(_ publication: API.Publication, to line: inout JSONLine) {
        line.add("files", publication.files)
        line.add("totalFiles", publication.totalFiles)
    }

    /// Summary in one line.
    static func lines(_ publication: API.Publication) -> [String] {
        guard publication.state == .done else { return [] }
        var words = ["\(publication.sentFiles) of \(publication.totalFiles) files sent"]
        words.append(Format.bytes(publication.sentBytes))
        if publication.deletedFiles > 0 { words.append("\(publication.deletedFiles) deleted") }
        return ["published \(publication.asset) to \(publication.target ?? "–"): \(words.joined(separator: ", "))"]
    }

    /// The failure for the exit code; nil if the publication is complete.
    static func failure(_ publication: API.Publication) -> Failure? {
        switch publication.state {
        case .done: return nil
        case .failed:
            let problem = publication.error
            let code = problem?.code ?? .internal
            return Failure(
                problem?.detail ?? "\(publication.asset) is not wholly published", next: problem?.next,
                exitCode: code.exitCode, code: code.rawValue)
        case .none, .running, .repairing, .cancelled:
            return Failure("the publication of \(publication.asset) was given up", exitCode: 1, code: "cancelled")
        }
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) is not wholly published", "the same command: it goes on where it was")
    }
}
