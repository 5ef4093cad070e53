import ArgumentParser
import Orders
import WeirAPI

struct VerifyCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check stored files for damage.",
        discussion: """
            Damaged pieces are set aside at once, and never played. Exits with 0 if nothing is missing or damaged, and with 65 if \
            a piece of a download is missing or damaged. Ctrl-C cancels the verification in the daemon.
            """)

    @Argument(help: ArgumentHelp("The assets' names, or their URLs.", valueName: "name"), completion: .assetNames)
    var names: [String] = []
    @Flag(help: "All assets.")
    var all = false
    @Flag(help: "Fetch missing and damaged pieces again.")
    var repair = false
    @Flag(help: "Write one JSON object per line: progress, and a result for each asset.")
    var json = false
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try origin.paste.check(names)
        let isPasted = origin.curl != nil
        if names.isEmpty != (all || isPasted) || all && isPasted {
            throw ValidationError("Give names, or --all.")
        }
        if origin.areGiven, !isPasted, names.count != 1 {
            throw ValidationError("The options for the way to the origin require exactly one name.")
        }
    }

    func execute() async throws {
        let client = try common.daemon().client
        let follower = JobFollower<VerificationText>(
            client: client, style: ProgressReporter.Style(isJSON: json), state: common.state)
        let request = API.VerificationRequest(repair: repair)

        var worst: CommandFailure?
        var wanted = names
        if all {
            wanted = try await client.assets(isBrief: true).map(\.name)
        }
        if origin.areGiven {
            wanted = [try await origin.change(ofAsset: names, in: client)]
        }

        for (index, name) in wanted.enumerated() {
            if index > 0, !json {
                Output.line("")
            }
            guard let failure = await follower.report(name, request) else { continue }
            guard failure.exitCode != 130, failure.exitCode != 69 else { throw failure }
            if let worst {
                Output.error(worst.text)
            }
            worst = failure
        }

        if let worst {
            throw worst
        }
    }
}

/// Output of `weir verify`.
enum VerificationText: JobText {
    static func stage(_ verification: API.Verification) -> String? {
        guard verification.isRepairing == true else { return nil }
        return "fetching missing pieces"
    }

    static func add(_ verification: API.Verification, to line: inout JSONLine) {
        line.add("state", verification.state)
        line.add("isRepairing", verification.isRepairing)
    }

    /// The findings: a summary, a table of the renditions, then each hole and damaged piece in order of time.
    static func lines(_ verification: API.Verification) -> [String] {
        let parts = verification.parts ?? []
        guard !parts.isEmpty else { return ["\(verification.asset)  \(summary(verification))"] }
        let table = TextTable(rows: [["RENDITION", "PIECES", "SIZE", "STORED", "MISSING", "DAMAGED"]] + parts.map(row))
        return ["\(verification.asset)  \(summary(verification))"] + table.lines + parts.flatMap(findings)
    }

    /// The line for `weir events`, which reports only the end of a verification.
    static func event(_ verification: API.Verification) -> [String] {
        guard verification.isOver else { return [] }
        return ["\(verification.asset)  verified: \(summary(verification))"]
    }

    private static func summary(_ verification: API.Verification) -> String {
        let damaged = (verification.parts ?? []).reduce(0) { $0 + $1.mismatches.count }
        let read = "\(Format.bytes(verification.bytes)) read"
        guard verification.found > 0 || damaged > 0 else { return "\(read), no damage" }

        let repaired = verification.found - verification.remaining
        var words = [read, "\(damaged) damaged", "\(max(0, verification.found - damaged)) missing"]
        if verification.isRepair {
            words.append("\(max(0, repaired)) repaired")
        }
        if verification.remaining > 0 {
            words.append("\(verification.remaining) remaining")
        }
        return words.joined(separator: ", ")
    }

    private static func row(_ part: API.Verification.Part) -> [String] {
        var stored = "–"
        if !part.loaded.isEmpty {
            stored = Format.clock(part.loaded.reduce(0) { $0 + $1.end - $1.start })
        }
        let missing = part.holes.reduce(0) { $0 + $1.count }
        let number: (Int) -> String = { $0 == 0 ? "–" : "\($0)" }
        return [
            part.id, "\(part.pieces)", Format.bytes(part.bytes), stored, number(missing), number(part.mismatches.count),
        ]
    }

    /// The missing and damaged media of a rendition in order of time. Holes that no download selects are not listed,
    /// because they were never stored.
    private static func findings(_ part: API.Verification.Part) -> [String] {
        var findings: [(time: API.Download.TimeRange?, files: String, words: String)] = []
        for hole in part.holes where hole.isSelected {
            var files = hole.first
            if hole.count != 1 {
                files += " to \(hole.last)"
            }
            findings.append((hole.time, files, "missing"))
        }
        for mismatch in part.mismatches {
            findings.append((mismatch.time, mismatch.file, words(mismatch)))
        }

        // Keys and initialization sections have no time, and come first.
        let start: (API.Download.TimeRange?) -> Double = { $0?.start ?? -1 }
        findings.sort { start($0.time) < start($1.time) }
        return findings.map { time, files, words in
            guard let time else { return "\(part.id)  \(files)  \(words)" }
            return "\(part.id)  \(Format.clock(time.start))–\(Format.clock(time.end))  \(files)  \(words)"
        }
    }

    private static func words(_ mismatch: API.Verification.Mismatch) -> String {
        let fault =
            switch mismatch.fault {
            case "length": "wrong length"
            case "unreadable": "unreadable"
            default: "wrong bytes"
            }
        let remedy = mismatch.isRepaired ? "fetched again" : "set aside"
        return "\(fault), \(remedy)"
    }

    static func failure(_ verification: API.Verification) -> CommandFailure? {
        let name = verification.asset
        let count = verification.remaining
        if let reason = verification.error {
            var message = reason.message
            if count > 0 {
                let verb = count == 1 ? "remains" : "remain"
                message += "; \(Format.count(count, "piece")) of \(name) \(verb) to be fetched"
            }
            let next = APIError(reason.code, "").next
            return CommandFailure(message, next: next, exitCode: reason.code.exitCode, code: reason.code.rawValue)
        }
        if verification.isAborted {
            return CommandFailure("the verification of \(name) was cancelled", exitCode: 1, code: "cancelled")
        }

        guard count > 0 else { return nil }
        let next = verification.isRepair ? "weir resume \(name)" : "weir verify \(name) --repair"
        let verb = count == 1 ? "is" : "are"
        let message = "\(Format.count(count, "piece")) of \(name) \(verb) missing or damaged"
        return CommandFailure(message, next: next, exitCode: 65, code: "damaged")
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) is not completely verified", "weir verify \(name)")
    }
}
