import API

/// Output of `weir verify`.
enum VerificationText: JobText {
    static func stage(_ verification: API.Verification) -> String? {
        verification.state == .repairing ? "fetching what is missing" : nil
    }

    static func add(_ verification: API.Verification, to line: inout JSONLine) { line.add("state", verification.state) }

    /// The findings: a summary, a table of the renditions, then each hole and damaged piece in order of time.
    static func lines(_ verification: API.Verification) -> [String] {
        let parts = verification.parts ?? []
        guard !parts.isEmpty else { return ["\(verification.asset)  \(summary(verification))"] }
        let table = TextTable(rows: [["RENDITION", "PIECES", "SIZE", "WHOLE", "MISSING", "WRONG"]] + parts.map(row))
        return ["\(verification.asset)  \(summary(verification))"] + table.lines + parts.flatMap(findings)
    }

    /// The line for `weir events`, which reports only the end of a verification.
    static func event(_ verification: API.Verification) -> [String] {
        verification.state.isFinal ? ["\(verification.asset)  verified: \(summary(verification))"] : []
    }

    private static func summary(_ verification: API.Verification) -> String {
        let wrong = (verification.parts ?? []).reduce(0) { $0 + $1.mismatches.count }
        let read = "\(Format.bytes(verification.bytes)) read"
        guard verification.found > 0 || wrong > 0 else { return "\(read), all sound" }
        let mended = verification.found - verification.remaining
        var words = [read, "\(wrong) wrong", "\(max(0, verification.found - wrong)) missing"]
        if verification.isRepair { words.append("\(max(0, mended)) mended") }
        if verification.remaining > 0 { words.append("\(verification.remaining) remaining") }
        return words.joined(separator: ", ")
    }

    private static func row(_ part: API.Verification.Part) -> [String] {
        let whole = part.whole.reduce(0) { $0 + $1.end - $1.start }
        let missing = part.holes.reduce(0) { $0 + $1.count }
        return [
            part.id, "\(part.pieces)", Format.bytes(part.bytes), part.whole.isEmpty ? "–" : Format.clock(whole),
            missing == 0 ? "–" : "\(missing)", part.mismatches.isEmpty ? "–" : "\(part.mismatches.count)",
        ]
    }

    /// The missing and damaged media of a rendition in order of time. Holes that no download selects are not listed,
    /// because they were never stored.
    private static func findings(_ part: API.Verification.Part) -> [String] {
        let holes = part.holes.filter(\.isWanted).map { hole in
            (hole.time, "missing", hole.count == 1 ? hole.first : "\(hole.first) to \(hole.last)")
        }
        let mismatches = part.mismatches.map { mismatch in
            (mismatch.time, words(mismatch), mismatch.file)
        }
        return (holes + mismatches).sorted { ($0.0?.start ?? -1) < ($1.0?.start ?? -1) }.map { time, words, files in
            let span = time.map { "\(Format.clock($0.start))–\(Format.clock($0.end))  " } ?? ""
            return "\(part.id)  \(span)\(files)  \(words)"
        }
    }

    private static func words(_ mismatch: API.Verification.Mismatch) -> String {
        let fault =
            switch mismatch.fault {
            case "length": "not of its length"
            case "unreadable": "unreadable"
            default: "other bytes than came"
            }
        return fault + (mismatch.isMended ? ", fetched again" : ", set aside")
    }

    /// The failure for the exit code; nil if nothing is missing or damaged.
    static func failure(_ verification: API.Verification) -> Failure? {
        let (name, count) = (verification.asset, verification.remaining)
        if let reason = verification.error {
            let rest = count > 0 ? "; \(pieces(count)) of \(name) remain\(count == 1 ? "s" : "") to be fetched" : ""
            let next = APIError(reason.code, "").next
            return Failure(
                reason.message + rest, next: next, exitCode: reason.code.exitCode, code: reason.code.rawValue)
        }
        if verification.isGivenUp {
            return Failure("the verification of \(name) was given up", exitCode: 1, code: "cancelled")
        }
        guard count > 0 else { return nil }
        let next = verification.isRepair ? "weir resume \(name)" : "weir verify \(name) --repair"
        let message = "\(pieces(count)) of \(name) \(count == 1 ? "is" : "are") missing, or not what had come"
        return Failure(message, next: next, exitCode: 65, code: "damaged")
    }

    private static func pieces(_ count: Int) -> String { count == 1 ? "1 piece" : "\(count) pieces" }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) is not wholly verified", "weir verify \(name)")
    }
}
