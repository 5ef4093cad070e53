internal import API
internal import Foundation
internal import HTTPMessage

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

    /// The name in the page's own query.
    static func after(in query: String?) -> String? {
        for pair in (query ?? "").split(separator: "&") where pair.hasPrefix("after=") {
            return PercentEncoding.decode(pair.dropFirst(6))
        }
        return nil
    }
}
