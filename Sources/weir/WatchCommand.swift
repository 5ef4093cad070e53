import API
import ArgumentParser
import Foundation
import Glibc
import SafeText

struct WatchCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch what plays and what downloads on one screen, until Ctrl-C.",
        discussion: """
            On a terminal the screen is drawn again every second. Elsewhere the lines are written when they have changed, with an empty \
            line between.
            """)

    @Option(help: ArgumentHelp("Seconds between two looks, 0.2 to 3600.", valueName: "n"))
    var interval = 1.0
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0.2...3600).contains(interval) else {
            throw ValidationError("--interval must be a number from 0.2 to 3600.")
        }
    }

    func execute() async throws {
        let daemon = try common.daemon()
        try await daemon.ensure()
        let screen = WatchScreen(daemon: daemon, interval: .seconds(interval))
        let error = await Interruption.orEnd { await screen.run() }
        if let error { throw error }
        throw ExitCode(130)
    }
}

/// Shows the daemon's state again and again.
struct WatchScreen: Sendable {
    let daemon: Daemon
    let interval: Duration

    private var isDrawn: Bool {
        Terminal.showsOutput && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
    }

    /// Runs until the task is cancelled, or the daemon stops answering; returns the error.
    func run() async -> (any Error)? {
        let isDrawn = isDrawn
        // The alternate screen: what was on the terminal before is there again at the end. The cursor is hidden.
        if isDrawn { Output.drawScreen("\u{1B}[?1049h\u{1B}[?25l") }
        defer { if isDrawn { Output.drawScreen("\u{1B}[?25h\u{1B}[?1049l") } }
        var last: [String] = []
        while !Task.isCancelled {
            do {
                let state = try await WatchedState(of: daemon.client)
                let size = isDrawn ? Terminal.size() : (columns: .max, rows: .max)
                let lines = WatchText.lines(state, base: daemon.base, columns: size.columns)
                if isDrawn {
                    Output.drawScreen(Self.screen(lines, columns: size.columns, rows: size.rows))
                } else if lines != last {
                    Output.lines((last.isEmpty ? [] : [""]) + lines)
                }
                last = lines
            } catch {
                return Task.isCancelled ? nil : error
            }
            try? await Task.sleep(for: interval)
        }
        return nil
    }

    /// A screen that replaces the one before without a flicker.
    static func screen(_ lines: [String], columns: Int, rows: Int) -> String {
        let shown = lines.count <= rows - 1 ? lines : lines.prefix(max(1, rows - 2)) + ["…"]
        let drawn = shown.map { SafeText.line($0).cut(to: max(10, columns - 1)) + "\u{1B}[K" }
        return "\u{1B}[H" + drawn.joined(separator: "\r\n") + "\u{1B}[J"
    }
}
