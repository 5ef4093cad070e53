import ArgumentParser
import Orders
import WeirAPI

/// The option to choose tracks in the terminal, of the commands that order one download.
struct ChoiceOptions: ParsableArguments {
    @Flag(help: "Show the tracks with numbers, and ask which of them to save.")
    var choose = false

    func check(_ task: TaskOptions, _ selection: SelectionOptions, isJSON: Bool) throws {
        if choose, isJSON || selection.areGiven || task.record {
            throw ValidationError(
                "--choose asks for the tracks: give no --json, no --record, and no option of the selection.")
        }
    }

    /// Asks in the terminal, if the option was given, and puts the answer into the order.
    func complete(_ request: inout API.DownloadRequest, in client: APIClient) async throws {
        guard choose else { return }
        request.order.selection.adopt(try await TrackMenu.ask(about: request, client))
    }
}
