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
        let running = state.downloads.filter { $0.state == .running }
        let rate = running.reduce(0) { $0 + ($1.rate ?? 0) }
        let store = "\(Format.count(state.store.assets, "asset")), \(Format.bytes(state.store.bytes))"
        var figures = "mode \(state.mode.rawValue)  \(store)"
        if rate > 0 {
            figures += "  \(Format.rate(rate))"
        }
        var head = "weir at \(base)  \(figures)"
        if head.count > width {
            head = figures
        }

        let plays = TextTable(rows: plays(state.sessions, longestName)).fitting(
            width, dropping: ["WATCHED", "CLIENT", "STALLS", "STORED", "QUALITY"])
        let downloads = TextTable(rows: downloads(state.downloads, longestName)).fitting(
            width, dropping: ["SIZE", "RATE"])
        return [head, ""] + section("plays", plays) + [""]
            + section("downloads", downloads)
    }

    private static func section(_ heading: String, _ table: TextTable) -> [String] {
        guard table.rows.count > 1 else { return ["nothing \(heading)"] }
        return table.lines
    }

    private static func plays(_ sessions: [SessionSummary], _ longestName: Int) -> [[String]] {
        var rows = [["PLAYS", "CLIENT", "QUALITY", "AT", "WATCHED", "STALLS", "STORED", ""]]
        for session in sessions {
            let client = (session.client ?? "–").prefix { $0 != " " }
            let quality = session.qualityWords ?? "–"
            var share = "–"
            if session.bytes.all > 0 {
                share = Format.percent(Double(session.bytes.store) / Double(session.bytes.all))
            }
            let stall = session.isStalled == true ? "stalled" : ""
            rows.append([
                session.asset.cut(to: longestName), String(client).cut(to: 16), quality, Format.clock(session.playhead),
                Format.clock(session.watched), "\(session.stalls)", share, stall,
            ])
        }
        return rows
    }

    private static func downloads(_ downloads: [API.Download], _ longestName: Int) -> [[String]] {
        var rows = [["DOWNLOADS", "DONE", "SIZE", "RATE", ""]]
        for download in downloads {
            let done = download.loadedFraction.map(Format.percent) ?? "–"
            var size = Format.bytes(download.bytes)
            if let total = download.totalBytes {
                size += " of \(Format.estimate(total))"
            }

            var rate = "–"
            var outlook = download.stateWords
            if let error = download.error {
                outlook += ": \(error.message)"
            }
            if download.state == .running {
                rate = download.rate.map(Format.rate) ?? "–"
                if let eta = download.eta {
                    outlook = "\(Format.clock(Double(eta))) left"
                }
            }
            rows.append([download.asset.cut(to: longestName), done, size, rate, outlook])
        }
        return rows
    }
}

extension SessionSummary {
    /// The quality that plays: `720p`, else the bit rate; nil if it is not known.
    var qualityWords: String? { quality ?? bandwidth.map(Format.bandwidth) }
}
