internal import HTTPMessage

extension API {
    /// Which assets a list is to have, and what of them: the query of `GET /api/v1/assets`.
    ///
    /// `limit=500&after=<name>&brief=1`, each of which may be left out. A list that has not all says in `next` after which
    /// name the rest comes.
    public struct ListWish: Equatable, Sendable {
        /// The most assets, from 1 on; nil for all.
        public var limit: Int?
        /// The name behind which it begins; nil for the first of all. There need not be such an asset.
        public var after: String?
        /// Whether `tracks` stay empty, and `storage` is left out where it says nothing.
        public var isBrief = false

        /// All assets, with everything.
        public init(limit: Int? = nil, after: String? = nil, isBrief: Bool = false) {
            (self.limit, self.after, self.isBrief) = (limit, after, isBrief)
        }

        /// As a query, with its question mark; empty for all assets with everything.
        var query: String {
            let pairs = [
                limit.map { "limit=\($0)" }, after.map { "after=\(PercentEncoding.encode($0))" },
                isBrief ? "brief=1" : nil,
            ].compactMap(\.self)
            return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
        }
    }
}
