import API
import AccessLog

/// Formats key performance indicators for users.
enum KPIText {
    /// One row per session, and one for all.
    static func table(_ report: API.KPIReport) -> TextTable {
        let heading = [
            "ASSET", "CLIENT", "WATCHED", "START", "STALLS", "STALLED", "DROPPED", "INDICATED", "OBSERVED", "LOWEST",
            "HIGHEST",
            "DEVIATION", "STORED", "SIZE",
        ]
        let sessions = report.sessions.map { row($0.asset, client($0.client), $0.kpis) }
        let count = report.total.sessions
        return TextTable(
            rows: [heading] + sessions + [row("all", "\(count) session\(count == 1 ? "" : "s")", report.total)])
    }

    private static func row(_ asset: String, _ client: String, _ kpis: KPIs) -> [String] {
        [
            asset, client, Format.clock(kpis.watched), kpis.startup.map { "\(LogNumber.tenths($0)) s" } ?? "–",
            "\(kpis.stalls)", kpis.stallRatio.map(Format.percent) ?? "–", kpis.framesDropped.map { "\($0)" } ?? "–",
            rate(kpis.indicated), rate(kpis.observed),
            rate(kpis.observedMinimum), rate(kpis.observedMaximum), rate(kpis.observedDeviation),
            kpis.storeShare.map(Format.percent) ?? "–", Format.bytes(Int(kpis.bytes)),
        ]
    }

    private static func rate(_ bitsPerSecond: Double?) -> String {
        bitsPerSecond.map { Format.bandwidth(Int(min($0, 1e15).rounded())) } ?? "–"
    }

    /// The first word of the player's User-Agent, cut to fit a column.
    private static func client(_ name: String?) -> String {
        String((name ?? "–").prefix { $0 != " " }.prefix(20))
    }
}

/// Formats numbers in tables of the log.
enum LogNumber {
    /// A number with one decimal.
    static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(0, value), 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
