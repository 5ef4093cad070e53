internal import API
internal import Foundation
internal import HTTPMessage
import Orders

/// A row of the page without a script: one asset as HTML. Pure.
struct PageRow {
    private let asset: API.Asset
    private let base: String

    /// - Parameter base: the scheme and the authority of Weir's URLs.
    init(_ asset: API.Asset, base: String) { (self.asset, self.base) = (asset, base) }

    var html: String {
        """
        <li class="row"><div class="row-head"><h2><bdi>\(HTMLText.escaped(asset.title ?? asset.name))</bdi></h2>\
        <span class="badge badge-\(badge.mark)">\(badge.word)</span></div>\
        <p class="facts">\(HTMLText.escaped(facts))</p>\(description)\(chips)\
        <p class="command"><code>mpv \(HTMLText.escaped("\(base)/\(PercentEncoding.encode(asset.name)).m3u8"))</code></p></li>

        """
    }

    private var description: String {
        asset.note.map { "<p class=\"description\"><bdi>\(HTMLText.escaped($0))</bdi></p>" } ?? ""
    }

    /// The state in a word, and its CSS class.
    private var badge: (word: String, mark: String) { (asset.state.words.capitalizedAtStart, asset.state.rawValue) }

    private var facts: String {
        [
            asset.isLive ? "live" : asset.duration.map(Self.time), quality, Self.size(asset.bytes), asset.reason,
            asset.hasChanged == true ? "the origin has other content" : nil,
        ]
        .compactMap(\.self).joined(separator: " · ")
    }

    /// The best stored quality; without stored content, the best available one.
    private var quality: String? {
        let heights = { (variants: [API.Variant]) in variants.compactMap(\.height).max().map { "\($0)p" } }
        return heights(asset.tracks.variants.filter { $0.stored != .notStored }) ?? heights(asset.tracks.variants)
    }

    private var chips: String {
        let tracks = asset.tracks
        let stored =
            tracks.variants.map { ($0.height.map { "\($0)p" } ?? "audio", $0.stored) }
            + (tracks.audio + tracks.subtitles).map { ($0.name, $0.stored) }
        let items = stored.filter { $0.1 != .notStored }.map { name, state in
            let words = state == .saved ? "" : ", \(state.words)"
            return "<li class=\"chip chip-\(state.rawValue)\">\(HTMLText.escaped(name))\(words)</li>"
        }
        guard !items.isEmpty else { return "" }
        return "<ul class=\"chips\" aria-label=\"Stored tracks\">\(items.joined())</ul>"
    }

    // MARK: Words

    /// Formats a duration: `14:48`, `1:02:03`.
    static func time(_ seconds: Double) -> String {
        let all = Int(min(max(0, seconds.rounded()), 1e9))
        let hours = all / 3600
        let minutes = all / 60 % 60
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(all % 60))" : "\(minutes):\(two(all % 60))"
    }

    /// Formats a size in powers of 1024, as the command line does: `151 MB`, `1.5 GB`.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var value = Double(bytes) / 1024
        var unit = 0
        let units = ["KB", "MB", "GB", "TB"]
        while value >= 1023.5, unit < units.count - 1 {
            value = value / 1024
            unit = unit + 1
        }
        return String(format: unit > 1 && value < 99.95 ? "%.1f" : "%.0f", value) + " " + units[unit]
    }
}

/// One page of the asset list.
struct PageList {
    let assets: [API.Asset]
    /// The name after which the next page begins; nil on the last page.
    let next: String?

    private struct Answer: Decodable {
        let assets: [API.Asset]
        let next: String?
    }

    /// Reads an API response; nil if it is not a list.
    init?(_ body: [UInt8], after: String?, limit: Int) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else { return nil }
        // A response with all assets is cut here.
        let behind =
            answer.next == nil
            ? answer.assets.drop { asset in after.map { asset.name <= $0 } ?? false } : answer.assets[...]
        assets = Array(behind.prefix(limit))
        next = answer.next ?? (behind.count > limit ? assets.last?.name : nil)
    }

    /// The link to the next page as HTML.
    var rest: String {
        guard let next else { return "" }
        return "<a href=\"?after=\(PercentEncoding.encode(next))\">Further assets</a>"
    }

    /// The API query for the assets after a name.
    static func query(after: String?, limit: Int) -> String {
        "limit=\(limit)" + (after.map { "&after=\(PercentEncoding.encode($0))" } ?? "")
    }

    static func after(in query: String?) -> String? {
        for pair in (query ?? "").split(separator: "&") where pair.hasPrefix("after=") {
            return PercentEncoding.decode(pair.dropFirst(6))
        }
        return nil
    }
}

extension String {
    /// The text with a capital at its beginning.
    fileprivate var capitalizedAtStart: String { prefix(1).uppercased() + dropFirst() }
}
