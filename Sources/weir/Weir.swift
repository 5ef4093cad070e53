import Application
import ArgumentParser

/// The command line. `weir serve` is the daemon; the other commands talk to it.
@main struct Weir: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weir",
        abstract: "Plays HLS through localhost, keeps what flows, and plays it with the network gone.",
        discussion: """
            Start the daemon with: weir serve. Then give a player any HLS URL behind the daemon's own:
            mpv http://localhost:8216/https://example.com/master.m3u8
            """,
        version: "weir \(Application.version)",
        subcommands: [
            ServeCommand.self, GetCommand.self, AddCommand.self, PauseCommand.self, ResumeCommand.self,
            CancelCommand.self,
            EventsCommand.self, ListCommand.self, ShowCommand.self, CheckCommand.self, PlayCommand.self,
            URLCommand.self, PageCommand.self, ModeCommand.self,
            ExportCommand.self, PublishCommand.self, ImportCommand.self, VerifyCommand.self, PolicyCommand.self,
            RenameCommand.self, MoveCommand.self, RemoveCommand.self, LinkCommand.self, KeysCommand.self,
            LogCommand.self, ReportCommand.self,
            DoctorCommand.self, CompletionsCommand.self,
        ])
}
