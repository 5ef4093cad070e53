import API
import AccessLog
import Foundation

/// Writes a log's events to standard output.
struct LogText<Event: LogEvent>: Sendable {
    private let format: LogCommand.Format

    init(_ format: LogCommand.Format) { self.format = format }

    /// Writes events, and above them what a log begins with, if there is a header.
    func write(_ events: [Event], header software: String? = nil) {
        if let software, format != .json {
            let now = Date().timeIntervalSince1970
            for line in Event.header(format.style, software: software, at: now) { Output.line(line) }
        }
        for event in events { Output.line(line(event)) }
    }

    /// One event.
    func line(_ event: Event) -> String {
        format == .json ? Self.tagged(event, Event.fileName) : event.line(format.style)
    }

    /// A JSON object with its version and its kind in front.
    static func tagged(_ value: some Encodable, _ kind: String) -> String {
        // Events are strings and finite numbers: always JSON.
        let json = (try? API.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return "{\"v\":1,\"t\":\"\(kind)\"" + (json == "{}" ? "" : ",") + json.dropFirst()
    }
}

/// Shows what is written to a log as it comes: each event once, when it has ended.
struct LogFollower<Event: LogEvent>: Sendable {
    private let query: LogQuery
    private let text: LogText<Event>
    private let ask: @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>

    /// So often the daemon is asked: it is on this machine, and has little to do for it.
    private static var pause: Duration { .milliseconds(500) }

    init(
        _ query: LogQuery, _ text: LogText<Event>,
        _ ask: @escaping @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>
    ) {
        self.query = query
        self.text = text
        self.ask = ask
    }

    /// Goes on until its task is cancelled, or the daemon does not answer any more; answers why.
    func run() async -> APIError? {
        var query = query
        var last: [Event] = []
        var isFirst = true
        while !Task.isCancelled {
            do throws(APIError) {
                let log = try await ask(query)
                let written = log.events.filter { $0.written != nil }
                text.write(written.filter { !last.contains($0) }, header: isFirst ? log.software : nil)
                if let end = written.compactMap(\.written).max() {
                    last = written.filter { $0.written == end }
                    query.since = end
                }
                isFirst = false
            } catch {
                return error
            }
            // The log has no event of its own: a command that follows it asks again.
            try? await Task.sleep(for: Self.pause)
        }
        return nil
    }
}
