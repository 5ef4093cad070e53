import AccessLog
import Orders
import WeirAPI

/// The running sessions and downloads at one moment.
struct WatchedState: Sendable {
    var mode: PlayMode
    var store: API.Store
    var sessions: [SessionSummary]
    var downloads: [API.Download]

    init(mode: PlayMode, store: API.Store, sessions: [SessionSummary], downloads: [API.Download]) {
        self.mode = mode
        self.store = store
        self.sessions = sessions
        self.downloads = downloads
    }

    init(of client: APIClient) async throws(APIError) {
        mode = try await client.call(Endpoints.mode).mode
        store = try await client.call(Endpoints.store)
        sessions = try await client.call(Endpoints.sessions).sessions.filter { $0.ended == nil }
        downloads = try await client.call(Endpoints.downloads).downloads.filter {
            $0.state != .complete && $0.state != .cancelled
        }
    }
}

/// Formats the screen of `weir watch`.
enum WatchText {
    /// - Parameter columns: width of the screen. A narrow one has fewer columns; the caller cuts what is still too long.
    static func lines(_ state: WatchedState, base: String, columns: Int = .max) -> [String] {
        let width = columns - 1
        let longestName = min(24, max(10, width / 3))
        let rate = state.downloads.reduce(0) { $0 + ($1.state == .running ? $1.rate ?? 0 : 0) }
        let store = "\(Format.count(state.store.assets, "asset")), \(Format.bytes(state.store.bytes))"
        let figures = "mode \(state.mode.rawValue)  \(store)" + (rate > 0 ? "  \(Format.rate(rate))" : "")
        let head = "weir at \(base)  \(figures)"
        let plays = TextTable(rows: plays(state.sessions, longestName)).fitting(
            width, dropping: ["WATCHED", "CLIENT", "STALLS", "STORED", "QUALITY"])
        let downloads = TextTable(rows: downloads(state.downloads, longestName)).fitting(
            width, dropping: ["SIZE", "RATE"])
        return [head.count <= width ? head : figures, ""] + section("plays", plays) + [""]
            + section("downloads", downloads)
    }

    private static func section(_ heading: String, _ table: TextTable) -> [String] {
        table.rows.count > 1 ? table.lines : ["nothing \(heading)"]
    }

    private static func plays(_ sessions: [SessionSummary], _ longestName: Int) -> [[String]] {
        let rows = sessions.map { session in
            let client = (session.client ?? "–").prefix { $0 != " " }
            let share = session.bytes.all > 0 ? Double(session.bytes.store) / Double(session.bytes.all) : nil
            return [
                session.asset.cut(to: longestName), String(client).cut(to: 16), session.qualityWords ?? "–",
                Format.clock(session.playhead), Format.clock(session.watched), "\(session.stalls)",
                share.map(Format.percent) ?? "–",
                session.isStalled == true ? "stalled" : "",
            ]
        }
        return [["PLAYS", "CLIENT", "QUALITY", "AT", "WATCHED", "STALLS", "STORED", ""]] + rows
    }

    private static func downloads(_ downloads: [API.Download], _ longestName: Int) -> [[String]] {
        let rows = downloads.map { download in
            let total = download.totalBytes.map { " of \(Format.estimate($0))" } ?? ""
            let isRunning = download.state == .running
            let rest = isRunning ? download.eta.map { "\(Format.clock(Double($0))) left" } : nil
            let reason = download.error.map { "\(download.stateWords): \($0.message)" } ?? download.stateWords
            return [
                download.asset.cut(to: longestName), download.loadedFraction.map(Format.percent) ?? "–",
                Format.bytes(download.bytes) + total, isRunning ? download.rate.map(Format.rate) ?? "–" : "–",
                rest ?? reason,
            ]
        }
        return [["DOWNLOADS", "DONE", "SIZE", "RATE", ""]] + rows
    }
}

extension SessionSummary {
    /// The quality that plays: `720p`, else the bit rate; nil if it is not known.
    var qualityWords: String? { quality ?? bandwidth.map { Format.bandwidth($0) } }
}
