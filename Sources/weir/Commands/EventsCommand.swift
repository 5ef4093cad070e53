import ArgumentParser
import Orders
import WeirAPI

struct EventsCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Follow the events of downloads and verifications.",
        discussion: "Starts with the state of all downloads that are not complete. Ctrl-C ends the command.")

    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        let error = await Interruption.orEnd { await follow(client) }
        if let error {
            throw error
        }
        throw ExitCode(130)
    }

    /// Prints events until an error occurs, which is returned, or the task is cancelled.
    private func follow(_ client: APIClient) async -> (any Error)? {
        do {
            for try await event in client.events() {
                if json {
                    Output.record(EventText.json(event))
                } else {
                    Output.lines(EventText.lines(event))
                }
            }
        } catch {
            if !Task.isCancelled {
                return error
            }
        }
        guard !Task.isCancelled else { return nil }
        return APIError(.stopping, "the daemon has ended", next: "weir serve")
    }
}

/// Formats events as lines.
enum EventText {
    /// One JSON object: `{"v":1,"t":"state","download":{…}}`, or for a snapshot `"downloads":[…]`.
    static func json(_ event: API.Event) -> String {
        var line = JSONLine(event.name)
        switch event {
        case .snapshot(let downloads): line.add("downloads", downloads)
        case .download(_, let download): line.add("download", download)
        case .renditionComplete(let rendition):
            line.add("id", rendition.id)
            line.add("asset", rendition.asset)
            line.add("rendition", rendition.rendition)
        case .selectionResolved(let selection), .selectionComplete(let selection):
            line.add("id", selection.id)
            line.add("asset", selection.asset)
            line.add("range", selection.range)
            line.add("selection", selection.selection)
        case .selectionsFurther(let further):
            line.add("id", further.id)
            line.add("asset", further.asset)
            line.add("unselected", further.unselected)
        case .removed(let reference), .changed(let reference), .contentChanged(let reference):
            line.add("id", reference.id)
            line.add("asset", reference.asset)
        case .verification(let verification): line.add("verification", verification)
        case .move(let move): line.add("move", move)
        case .mode(let mode): line.add("mode", mode.mode.rawValue)
        case .purged(let purge):
            line.add("id", purge.id)
            line.add("asset", purge.asset)
            line.add("purge", purge.purge)
        case .keys(let change):
            line.add("id", change.id)
            line.add("asset", change.asset)
            line.add("change", change.change.rawValue)
            line.add("keys", change.keys)
            if let expiration = change.expiration {
                line.add("expiration", expiration)
            }
        }
        return line.text
    }

    /// Lines for users. `complete` and `error` are printed once, although a `state` event precedes them.
    static func lines(_ event: API.Event) -> [String] {
        switch event {
        case .snapshot(let downloads): downloads.map(line)
        case .download(.complete, _), .download(.error, _): []
        case .download(_, let download): [line(download)]
        case .renditionComplete(let rendition): ["\(rendition.asset)  \(rendition.rendition) is saved"]
        case .selectionResolved(let selection): ["\(selection.asset)  selected: \(selection.selection.summary)"]
        case .selectionComplete(let selection): ["\(selection.asset)  saved: \(selection.selection.summary)"]
        case .selectionsFurther(let further):
            ["\(further.asset)  also available: \(further.unselected.choices.joined(separator: ", "))"]
        case .removed(let reference): ["\(reference.asset)  removed"]
        case .verification(let verification): VerificationText.event(verification)
        case .keys(let change): ["\(change.asset)  \(Format.count(change.keys.count, "key")) \(change.change.rawValue)"]
        case .move(let move): MoveText.event(move)
        case .changed(let reference): ["\(reference.asset)  changed"]
        case .contentChanged(let reference): ["\(reference.asset)  has other content at the origin"]
        case .mode(let mode): ["mode  \(mode.mode.rawValue)"]
        case .purged(let purge): ["\(purge.asset)  purged, \(Format.bytes(Int(purge.purge.bytes)))"]
        }
    }

    private static func line(_ download: API.Download) -> String {
        var words = [download.asset]
        if download.state == .running {
            words.append(download.stateWords)
        }
        words.append(ProgressLine(download: download).plain)
        if download.state == .failed, let error = download.error {
            words.append(error.message)
        }
        return words.joined(separator: "  ")
    }
}
