import Foundation
import Glibc
import SafeText
import WeirAPI

/// Writes results to standard output and everything else to standard error. Each call writes its whole text at once.
///
/// Names, titles and messages are from origins: every function but `verbatim`, `draw` and `drawScreen` escapes its text. All but
/// `verbatim`, `record`, `records` and `json` replace characters that the user's locale does not have.
enum Output {
    private static let characters = LocaleCharacters(environment: ProcessInfo.processInfo.environment)

    static func line(_ text: String) { lines([text]) }

    /// Writes a line for programs, such as a JSON object or a URL, whatever its length.
    static func record(_ text: String) { records([text]) }

    /// Writes a value as a JSON object on one line.
    static func json(_ value: some Encodable) throws { record(String(decoding: try API.encode(value), as: UTF8.self)) }

    /// Writes lines with one system call, because there may be thousands.
    static func lines(_ lines: [String]) { write(lines.map(characters.columns), limit: Printable.limit) }
    static func records(_ lines: [String]) { write(lines, limit: .max) }

    private static func write(_ lines: [String], limit: Int) {
        write(lines.reduce(into: "") { $0 += Printable.line($1, limit: limit) + "\n" }, to: STDOUT_FILENO)
    }

    /// Writes one or more lines, or a part of a line.
    static func error(_ text: String) { write(characters.prose(Printable.lines(text)), to: STDERR_FILENO) }

    /// Writes text of the program's own that has several lines or tabs.
    static func verbatim(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes text for a terminal with control sequences. Its other parts must be safe.
    static func draw(_ text: String) { write(characters.columns(text), to: STDERR_FILENO) }

    /// Writes a whole screen with control sequences to standard output. Its other parts must be safe.
    static func drawScreen(_ text: String) { write(characters.columns(text), to: STDOUT_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                if descriptor == STDOUT_FILENO {
                    endUnlessClosed(errno)
                }
                return
            }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    /// Ends the program with 74, because results are lost; not if their reader has closed its end, as `head` does.
    private static func endUnlessClosed(_ number: Int32) {
        guard number != EPIPE else { return }
        error(
            "weir: standard output cannot be written: \(String(cString: strerror(number)))\ntry: free space, or write elsewhere\n"
        )
        _exit(74)
    }
}

/// Replaces the characters outside ASCII with which Weir draws, where the user's locale has no UTF-8. Other characters, such as
/// those of titles, stay as they are.
struct LocaleCharacters {
    let isUTF8: Bool

    /// Reads the variables by which setlocale(3) chooses; without any of them the locale is C.
    init(environment: [String: String]) {
        let values = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
        let locale = values.first { !$0.isEmpty } ?? "C"
        let name = locale.lowercased()
        isUTF8 = name.contains("utf-8") || name.contains("utf8")
    }

    /// Keeps the width of a text in columns.
    func columns(_ text: String) -> String { replaced(text, ellipsis: "~") }

    func prose(_ text: String) -> String { replaced(text, ellipsis: "...") }

    private func replaced(_ text: String, ellipsis: String) -> String {
        guard !isUTF8, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return text.map { character in
            switch character {
            case "…": ellipsis
            case "–", "▏", "▎", "▍", "▌", "▋", "▊", "▉": "-"
            case "█": "#"
            case "·": "."
            case "§": "sec. "
            default: String(character)
            }
        }.joined()
    }
}

/// The device that standard error is connected to.
enum Terminal {
    static func canRedraw(environment: [String: String]) -> Bool {
        isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    static func hasColor(environment: [String: String]) -> Bool { (environment["NO_COLOR"] ?? "").isEmpty }

    static func columns() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The size of the terminal that standard output is connected to.
    static func size() -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static var showsOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// True if standard output is a pipe that nobody reads.
    static var outputIsClosed: Bool {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) == 1 && output.revents & Int16(POLLERR) != 0
    }

    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}

extension ProgressReporter.Style {
    /// Chooses the style by `--json` and the terminal's abilities.
    init(isJSON: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        if isJSON {
            self = .json
        } else if Terminal.canRedraw(environment: environment) {
            self = .drawn(hasColor: Terminal.hasColor(environment: environment))
        } else {
            self = .plain
        }
    }
}
