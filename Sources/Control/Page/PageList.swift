internal import API
internal import Foundation
internal import HTTPMessage

/// A page's worth of assets, as the API lists them.
struct PageList {
    /// The assets.
    let assets: [API.Asset]
    /// The name after which the rest comes; nil where there is none.
    let next: String?

    private struct Answer: Decodable {
        let assets: [API.Asset]
        let next: String?
    }

    /// Reads what the API answered; nil where that is no list.
    init?(_ body: [UInt8], after: String?, limit: Int) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else { return nil }
        // An answer that has all the assets is cut here.
        let behind =
            answer.next == nil
            ? answer.assets.drop { asset in after.map { asset.name <= $0 } ?? false } : answer.assets[...]
        assets = Array(behind.prefix(limit))
        next = answer.next ?? (behind.count > limit ? assets.last?.name : nil)
    }

    /// The way to the rest, as HTML.
    var rest: String {
        guard let next else { return "" }
        return "<a href=\"?after=\(PercentEncoding.encode(next))\">Further assets</a>"
    }

    /// The query of the API for the assets behind a name.
    static func query(after: String?, limit: Int) -> String {
        "limit=\(limit)" + (after.map { "&after=\(PercentEncoding.encode($0))" } ?? "")
    }

    /// The name in the page's own query.
    static func after(in query: String?) -> String? {
        for pair in (query ?? "").split(separator: "&") where pair.hasPrefix("after=") {
            return PercentEncoding.decode(pair.dropFirst(6))
        }
        return nil
    }
}
