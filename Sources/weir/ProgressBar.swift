/// A bar of block characters with eighths of a block: `████████▌·····`.
enum ProgressBar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar of so many characters. Full only for all of it, empty only for nothing at all that can be drawn.
    static func text(_ fraction: Double, width: Int) -> String {
        guard width > 0 else { return "" }
        let all = width * 8
        let filled = fraction >= 1 ? all : min(all - 1, Int(max(0, fraction.isFinite ? fraction : 0) * Double(all)))
        let part = eighths[filled % 8]
        let full = String(repeating: "█", count: filled / 8) + part
        return full + String(repeating: "·", count: width - full.count)
    }
}
