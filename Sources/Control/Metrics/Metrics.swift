import AccessLog
public import Downloader
public import EventLoop
internal import HTTPMessage
public import HTTPServer
public import Library
public import Origin
public import Playback
import Store

/// Serves `GET /metrics`: the daemon's figures.
///
/// Needs no token: the figures name no asset, address or player, and a monitoring system should not need the right to
/// command Weir. The rules for Host and Origin keep it from web pages, as everything else.
@LoopActor public final class Metrics {
    private let library: Library
    private let downloader: Downloader
    private let sessions: Sessions
    private let client: OriginClient
    private let version: String
    /// The server whose responses are counted. Set after `init`, because the handlers of the server include this
    /// object.
    public weak var server: HTTPServer?
    /// The server for the network. Its responses are added to the other server's, so that the figures do not reveal who
    /// plays from where. It does not serve the metrics: its token is for media.
    public weak var network: HTTPServer?

    /// Creates the metrics of rooms that outlive it.
    public init(
        library: Library, downloader: Downloader, sessions: Sessions, client: OriginClient, version: String
    ) {
        self.library = library
        self.downloader = downloader
        self.sessions = sessions
        self.client = client
        self.version = version
    }

    /// Answers a request for the metrics. Returns false for any other request.
    public func handle(_ exchange: Exchange) -> Bool {
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
        text.add("weir_build", .info, "The program.", label: "version", [(version, 1)])
        text.add("weir_loop_lag_seconds", .gauge, "How long this answer waited for its turn.", unit: "seconds", lag)
        addServer(to: &text)
        addOrigin(to: &text)
        addStore(to: &text)
        let states = Dictionary(downloader.downloads.map { ($0.state, 1) }, uniquingKeysWith: +)
        text.add(
            "weir_downloads", .gauge, "Downloads by state.", label: "state",
            JobState.allCases.map { ($0.rawValue, states[$0] ?? 0) })
        return text
    }

    private func addServer(to text: inout MetricsText) {
        let servers = [server, network].compactMap(\.self)
        let counters = servers.reduce(into: ServerCounters()) { $0.add($1.counters) }
        let connected = servers.reduce(0) { $0 + $1.connectionCount }
        text.add("weir_connections", .gauge, "Clients that are connected.", connected)
        text.add("weir_accepted_connections", .counter, "Connections since the start.", counters.connections)
        text.add(
            "weir_replies", .counter, "Replies by the class of their status.", label: "class",
            (1...5).map { ("\($0)xx", counters.replies[$0]) })
        text.add("weir_sessions", .gauge, "Sessions of players that go on.", sessions.count)
        let bytes = sessions.served
        text.add(
            "weir_served_bytes", .counter,
            "Bytes of media that players got, by where they came from; joined is a transfer that was under way.",
            unit: "bytes", label: "source",
            [("store", bytes.store), ("origin", bytes.origin), ("joined", bytes.joined)])
    }

    private func addOrigin(to text: inout MetricsText) {
        let activity = client.activity
        text.add("weir_origin_requests", .counter, "Requests to origins, each try counted.", activity.requests)
        text.add(
            "weir_origin_transfers", .counter, "Resources that were asked of origins, by what became of them.",
            label: "outcome", activity.outcomes)
        let traffic = client.traffic
        text.add(
            "weir_origin_bytes", .counter, "Bytes of bodies from origins, by who waited for them.", unit: "bytes",
            label: "reader", [("player", traffic.playback), ("download", traffic.background)])
    }

    private func addStore(to text: inout MetricsText) {
        let assets = library.assets
        text.add("weir_assets", .gauge, "Assets that are known.", assets.count)
        // Assets that were not opened since the start are not opened for this.
        let bytes = assets.map { library.summaries?.summary(of: $0)?.bytes ?? (!$0.isLoaded ? 0 : $0.bytes) }
        text.add("weir_store_bytes", .gauge, "Bytes of stored pieces.", unit: "bytes", bytes.reduce(0, +))
        guard let room = library.volumes.room else { return }
        text.add(
            "weir_room_bytes", .gauge, "Bytes that may still be kept before the disk's reserve is touched.",
            unit: "bytes", room)
    }
}
