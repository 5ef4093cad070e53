import ArgumentParser
import Foundation
import Glibc
import SafeText
import WeirAPI

struct WatchCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch what plays and what downloads on one screen, until q or Ctrl-C.",
        discussion: """
            On a terminal the screen is drawn again every second. Elsewhere the lines are written when they have changed, with an empty \
            line between.
            """)

    @Option(help: ArgumentHelp("Seconds between two looks, 0.2 to 3600.", valueName: "n"))
    var interval: Seconds = 1
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0.2...3600).contains(interval) else {
            throw ValidationError("--interval must be a number from 0.2 to 3600.")
        }
    }

    func execute() async throws {
        let daemon = try common.daemon()
        try await daemon.ensure()
        let screen = WatchScreen(daemon: daemon, interval: .seconds(interval.value))
        switch await Interruption.orEnd({ await screen.run() }) {
        case .quit: break
        case .interrupted: throw ExitCode(130)
        case .failed(let error): throw error
        }
    }
}

/// Shows the daemon's state again and again.
struct WatchScreen: Sendable {
    let daemon: DaemonHandle
    let interval: Duration

    enum End {
        /// The user pressed q.
        case quit
        case interrupted
        case failed(any Error)
    }

    private var isDrawn: Bool {
        guard Terminal.showsOutput, let terminal = ProcessInfo.processInfo.environment["TERM"] else { return false }
        return terminal != "dumb"
    }

    /// Runs until the user ends it, or the daemon stops answering.
    func run() async -> End {
        let isDrawn = isDrawn
        let keys = isDrawn ? TerminalKeys() : nil
        defer { keys?.restore() }

        // The alternate screen: what was on the terminal before is there again at the end. The cursor is hidden.
        if isDrawn {
            Output.drawScreen("\u{1B}[?1049h\u{1B}[?25l")
        }
        defer {
            if isDrawn {
                Output.drawScreen("\u{1B}[?25h\u{1B}[?1049l")
            }
        }

        var last: [String] = []
        while !Task.isCancelled {
            do {
                let state = try await WatchedState(of: daemon.client)
                let size = isDrawn ? Terminal.size() : (columns: .max, rows: .max)
                let lines = WatchText.lines(state, base: daemon.base, columns: size.columns)
                if isDrawn {
                    Output.drawScreen(Self.screen(lines, columns: size.columns, rows: size.rows))
                } else if lines != last {
                    var text = lines
                    if !last.isEmpty {
                        text.insert("", at: 0)
                    }
                    Output.lines(text)
                }
                last = lines
            } catch {
                guard !Task.isCancelled else { return .interrupted }
                return .failed(error)
            }
            if await wait(keys) {
                return .quit
            }
        }
        return .interrupted
    }

    /// Waits until the next look. Returns true if the user has pressed q.
    private func wait(_ keys: TerminalKeys?) async -> Bool {
        let end = ContinuousClock.now + interval
        while case let rest = end - .now, rest > .zero, !Task.isCancelled {
            if keys?.takes("q") ?? false {
                return true
            }
            // Its reader is gone, as that of a pipe to head(1) is: nothing more is written to it, which would end the command.
            if Terminal.outputIsClosed {
                return true
            }
            let pause = min(rest, Self.keyPause)
            try? await Task.sleep(for: pause)
        }
        return false
    }

    private static let keyPause = Duration.milliseconds(100)

    /// A screen that replaces the one before without a flicker.
    static func screen(_ lines: [String], columns: Int, rows: Int) -> String {
        var shown = lines
        if lines.count > rows - 1 {
            shown = lines.prefix(max(1, rows - 2)) + ["…"]
        }
        let drawn = shown.map { Printable.line($0).cut(to: max(10, columns - 1)) + "\u{1B}[K" }
        return "\u{1B}[H" + drawn.joined(separator: "\r\n") + "\u{1B}[J"
    }
}

/// The keys of the terminal at standard input, as they are pressed: without echo, and without waiting for the end of a line.
struct TerminalKeys {
    private let former: termios

    /// Nil if standard input is no terminal, or that of another program in the foreground.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        former = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
    }

    func restore() {
        var settings = former
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Reads the keys pressed so far. Returns true if one of them is the given one.
    func takes(_ key: Character) -> Bool {
        var found = false
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var bytes = [UInt8](repeating: 0, count: 64)
        while poll(&input, 1, 0) == 1, input.revents & Int16(POLLIN) != 0 {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { break }
            if bytes.prefix(count).contains(where: { $0 == key.asciiValue }) {
                found = true
            }
        }
        return found
    }
}
