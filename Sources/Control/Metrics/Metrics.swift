import AccessLog
package import Assets
package import Downloads
package import EventLoop
internal import HTTPMessage
package import HTTPServer
import Orders
package import Origin
package import Sessions
import Store

/// Serves `GET /metrics`. Needs no token, because a monitoring system should not be able to command Weir: the figures
/// name no asset, address or player.
@LoopActor package final class Metrics {
    private let library: Library
    private let downloader: Downloader
    private let sessions: SessionRecords
    private let client: OriginClient
    private let version: String
    /// Set after `init`, because the handlers of the server include this object.
    package weak var server: WebServer?
    /// The server for the network. Its figures are added to the other server's, so that they do not reveal who plays
    /// from where.
    package weak var network: WebServer?

    package init(
        library: Library, downloader: Downloader, sessions: SessionRecords, client: OriginClient, version: String
    ) {
        self.library = library
        self.downloader = downloader
        self.sessions = sessions
        self.client = client
        self.version = version
    }

    /// Answers a request for the metrics. Returns false for any other request.
    package func handle(_ exchange: Exchange) -> Bool {
        guard exchange.head.path == "/metrics" else { return false }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            var head = ResponseHead(.methodNotAllowed)
            head.append(.allow, literal: "GET, HEAD")
            exchange.reply(head)
            return true
        }
        let asked = ContinuousClock.now
        Task { @LoopActor in
            let lag = (ContinuousClock.now - asked) / .seconds(1)
            var head = ResponseHead(.ok)
            head.append(.contentType, literal: "application/openmetrics-text; version=1.0.0; charset=utf-8")
            head.append(.cacheControl, literal: "no-store")
            exchange.reply(head, .bytes(text(lag: lag).bytes))
        }
        return true
    }

    /// - Parameter lag: seconds that a job waited for its turn on the loop.
    private func text(lag: Double) -> MetricsText {
        var text = MetricsText()
        text.add("weir_build", .info, help: "The program.", label: "version", samples: [(version, 1)])
        text.add(
            "weir_loop_lag_seconds", .gauge, help: "How long this answer waited for its turn.", unit: "seconds",
            value: lag)
        let turns = LoopThread.turnTimes
        text.add(
            "weir_loop_turn_seconds", help: "Lengths of the loop's turns: so long everything else waited.",
            unit: "seconds", bounds: TurnTimes.bounds, counts: turns.counts, sum: turns.sum)
        text.add(
            "weir_loop_longest_turn_seconds", .gauge, help: "The longest turn since the start.", unit: "seconds",
            value: turns.longest)
        let processorTurns = LoopThread.turnProcessorTimes
        text.add(
            "weir_loop_turn_cpu_seconds", help: "Processor time of the loop's thread in each turn.", unit: "seconds",
            bounds: TurnTimes.bounds, counts: processorTurns.counts, sum: processorTurns.sum)
        addServer(to: &text)
        addOrigin(to: &text)
        addStore(to: &text)
        let states = Dictionary(downloader.downloads.map { ($0.state, 1) }, uniquingKeysWith: +)
        let counts = JobState.allCases.map { state in
            (state.rawValue, states[state] ?? 0)
        }
        text.add("weir_downloads", .gauge, help: "Downloads by state.", label: "state", samples: counts)
        return text
    }

    private func addServer(to text: inout MetricsText) {
        let servers = [server, network].compactMap(\.self)
        let counters = servers.reduce(into: ServerCounters()) { $0.add($1.counters) }
        let connected = servers.reduce(0) { $0 + $1.connectionCount }
        text.add("weir_connections", .gauge, help: "Clients that are connected.", value: connected)
        text.add(
            "weir_accepted_connections", .counter, help: "Connections since the start.", value: counters.connections)
        text.add(
            "weir_replies", .counter, help: "Replies by the class of their status.", label: "class",
            samples: (1...5).map { ("\($0)xx", counters.replies[$0]) })
        text.add("weir_sessions", .gauge, help: "Sessions of players that go on.", value: sessions.count)
        let bytes = sessions.served
        text.add(
            "weir_served_bytes", .counter,
            help: "Bytes of media that players got, by where they came from; joined is a transfer that was under way.",
            unit: "bytes", label: "source",
            samples: [("store", bytes.store), ("origin", bytes.origin), ("joined", bytes.joined)])
    }

    private func addOrigin(to text: inout MetricsText) {
        let activity = client.activity
        text.add(
            "weir_origin_requests", .counter, help: "Requests to origins, each try counted.", value: activity.requests)
        text.add(
            "weir_origin_transfers", .counter, help: "Resources that were asked of origins, by what became of them.",
            label: "outcome", samples: activity.outcomes)
        let traffic = client.traffic
        text.add(
            "weir_origin_bytes", .counter, help: "Bytes of bodies from origins, by who waited for them.",
            unit: "bytes", label: "reader", samples: [("player", traffic.playback), ("download", traffic.background)])
    }

    private func addStore(to text: inout MetricsText) {
        let assets = library.assets
        text.add("weir_assets", .gauge, help: "Assets that are known.", value: assets.count)
        let bytes = assets.map { asset in
            if let summary = library.summaries?.summary(of: asset) {
                return summary.bytes
            }
            // Assets that were not opened since the start are not opened for this.
            guard asset.isLoaded else { return 0 }
            return asset.bytes
        }
        text.add(
            "weir_store_bytes", .gauge, help: "Bytes of stored pieces.", unit: "bytes", value: bytes.reduce(0, +))
        guard let room = library.volumes.room else { return }
        text.add(
            "weir_room_bytes", .gauge, help: "Bytes that may still be kept before the disk's reserve is touched.",
            unit: "bytes", value: room)
    }
}

/// Text in the exposition format of OpenMetrics 1.0, which Prometheus and compatible systems read.
struct MetricsText {
    enum Kind: String {
        case gauge
        /// A value that only grows from the start of the process.
        case counter
        /// Labels without a value.
        case info

        fileprivate var suffix: String {
            switch self {
            case .gauge: ""
            case .counter: "_total"
            case .info: "_info"
            }
        }
    }

    private var lines: [String] = []

    mutating func add(_ name: String, _ kind: Kind, help: String, unit: String? = nil, value: some Numeric) {
        add(name, kind, help: help, unit: unit, label: nil, samples: [("", value)])
    }

    /// Adds a family with one sample per value of a label. Label and values are few constants that need no escaping;
    /// `unit` is the suffix of the name, if it is a unit.
    mutating func add<Value: Numeric>(
        _ name: String, _ kind: Kind, help: String, unit: String? = nil, label: String?, samples: [(String, Value)]
    ) {
        lines.append("# TYPE \(name) \(kind.rawValue)")
        if let unit {
            lines.append("# UNIT \(name) \(unit)")
        }
        lines.append("# HELP \(name) \(help)")
        for (value, number) in samples {
            var labels = ""
            if let label {
                labels = "{\(label)=\"\(value)\"}"
            }
            lines.append("\(name)\(kind.suffix)\(labels) \(number)")
        }
    }

    /// Adds a histogram.
    /// - Parameters:
    ///   - bounds: upper bounds, in the unit.
    ///   - counts: the counts between the bounds, and a last one beyond them.
    mutating func add(
        _ name: String, help: String, unit: String, bounds: [Double], counts: [Int], sum: Double
    ) {
        lines += ["# TYPE \(name) histogram", "# UNIT \(name) \(unit)", "# HELP \(name) \(help)"]
        var total = 0
        for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], counts) {
            total += count
            lines.append("\(name)_bucket{le=\"\(bound)\"} \(total)")
        }
        lines += ["\(name)_sum \(sum)", "\(name)_count \(total)"]
    }

    var bytes: [UInt8] { Array((lines.joined(separator: "\n") + "\n# EOF\n").utf8) }
}
