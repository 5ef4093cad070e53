import WeirAPI

/// Text of the account of a download that has ended.
enum SummaryText {
    /// One line for what was fetched, and one for what is missing.
    static func lines(_ summary: API.Download.Summary) -> [String] {
        var lines = interstitials(summary)
        // Without a request all was there: nobody waited for it.
        if summary.requests > 0 {
            lines.insert(fetched(summary), at: 0)
        }
        if !summary.missing.isEmpty {
            lines.append("missing: " + missing(summary))
        }
        return lines
    }

    /// `interstitials: 2 stored`, and a line for each that is not.
    private static func interstitials(_ summary: API.Download.Summary) -> [String] {
        guard let count = summary.interstitials else { return [] }
        let faults = summary.interstitialFaults ?? []
        return ["interstitials: \(count) stored"] + faults.map { "interstitial not stored: \($0)" }
    }

    /// `fetched 151 MB in 0:42, 3.6 MB/s, 62 requests, 3 of them repeated, from cdn.example.com (151 MB)`.
    private static func fetched(_ summary: API.Download.Summary) -> String {
        var time = Format.clock(summary.seconds.rounded(.up))
        // A second that was begun would contradict the rate.
        if summary.seconds < 1 {
            time = "less than a second"
        }
        var parts = ["fetched \(Format.bytes(summary.bytes)) in \(time)"]
        if summary.rate > 0 {
            parts.append(Format.rate(summary.rate))
        }
        parts.append(Format.count(summary.requests, "request"))
        if summary.retries > 0 {
            parts.append("\(summary.retries) of them repeated")
        }
        if summary.interruptions > 0 {
            parts.append(Format.count(summary.interruptions, "interruption"))
        }
        let origins = summary.origins.map { "\($0.host) (\(Format.bytes($0.bytes)))" }
        if !origins.isEmpty {
            parts.append("from " + origins.joined(separator: " and "))
        }
        return parts.joined(separator: ", ")
    }

    private static func missing(_ summary: API.Download.Summary) -> String {
        let renditions = summary.missing.map { missing in
            guard !missing.ranges.isEmpty else { return missing.id }
            return "\(missing.id) \(Format.ranges(missing.ranges, separator: " "))"
        }
        return renditions.joined(separator: ", ")
    }
}
