import Foundation
import Glibc

/// Standard output for results, standard error for everything else; each call writes at once and whole.
enum Output {
    static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// Lines that are all there already: thousands of them are not thousands of calls of the system.
    static func lines(_ lines: [String]) { write(lines.reduce(into: "") { $0 += $1 + "\n" }, to: STDOUT_FILENO) }

    static func error(_ text: String) { write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // A reader that has gone wants no more.
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}

/// The device that standard error is connected to.
enum Terminal {
    /// True if a line can be drawn over.
    static func canRedraw(environment: [String: String]) -> Bool {
        isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    /// As https://no-color.org has it.
    static func hasColor(environment: [String: String]) -> Bool { (environment["NO_COLOR"] ?? "").isEmpty }

    /// Characters in a line, as the window is now.
    static func columns() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// True if someone can be asked.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}

extension ProgressReporter.Style {
    /// What standard error takes, or objects.
    init(isJSON: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let drawn = Self.drawn(hasColor: Terminal.hasColor(environment: environment))
        self = isJSON ? .json : Terminal.canRedraw(environment: environment) ? drawn : .plain
    }
}
