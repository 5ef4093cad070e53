import Orders
import SafeText
import WeirAPI

/// Formats the progress of a download in one line.
struct ProgressLine {
    let download: API.Download

    /// The line for a terminal; the last column stays free. The bar takes the remaining width. In a narrow terminal the
    /// bar is dropped first, then the remaining time, then the rate.
    func drawn(columns: Int, hasColor: Bool) -> String {
        let percent = self.percent.rightAligned(to: 4)
        var tail = [mediaTime(aligned: true), bytes, rate, Printable.line(remaining)].filter { !$0.isEmpty }
        let room = max(10, columns - 1)
        let length: () -> Int = { percent.count + tail.reduce(0) { $0 + 2 + $1.count } }
        while tail.count > 1, length() > room {
            tail.removeLast()
        }

        let width = min(30, room - length() - 1)
        guard width >= 5, let fraction = download.loadedFraction else {
            return ([percent] + tail).joined(separator: "  ")
        }
        var bar = ProgressBar.text(fraction, width: width)
        if hasColor {
            bar = "\u{1B}[36m\(bar)\u{1B}[0m"
        }
        return (["\(percent) \(bar)"] + tail).joined(separator: "  ")
    }

    var plain: String {
        [percent, mediaTime(aligned: false), bytes, rate, remaining].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private var percent: String { download.loadedFraction.map(Format.percent) ?? "–" }

    private func mediaTime(aligned: Bool) -> String {
        if download.isRecording ?? false {
            return "\(Format.clock(download.loadedDuration)) recorded"
        }
        guard let duration = download.expectedDuration else { return "" }
        let whole = Format.clock(duration)
        var loaded = Format.clock(download.loadedDuration)
        if aligned {
            loaded = loaded.rightAligned(to: whole.count)
        }
        return "\(loaded)/\(whole)"
    }

    private var bytes: String { Format.bytes(download.bytes + (download.arriving ?? 0)) }

    private var rate: String {
        guard download.state == .running else { return "" }
        if let silence = download.silence {
            return "no data for \(silence) s"
        }
        return download.rate.map(Format.rate) ?? ""
    }

    /// The remaining time, or the reason why there is none.
    private var remaining: String {
        switch download.state {
        case .running:
            guard let eta = download.eta else { return "" }
            return "\(Format.clock(Double(eta))) left"
        case .waiting:
            guard let error = download.error else { return download.stateWords }
            return "\(download.stateWords): \(error.message)"
        case .queued, .paused, .failed, .cancelled, .complete: return download.stateWords
        }
    }
}

/// A progress bar of block characters with eighths of a block: `████████▌·····`.
enum ProgressBar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar of `width` characters. It is full only at 1, and empty only if less than an eighth of a block is done.
    static func text(_ fraction: Double, width: Int) -> String {
        guard width > 0 else { return "" }
        let all = width * 8
        let filled: Int
        if fraction >= 1 {
            filled = all
        } else if fraction.isFinite {
            filled = min(all - 1, Int(max(0, fraction) * Double(all)))
        } else {
            filled = 0
        }
        let part = eighths[filled % 8]
        let full = String(repeating: "█", count: filled / 8) + part
        return full + String(repeating: "·", count: width - full.count)
    }
}
