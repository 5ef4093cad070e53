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
        /// Whether `tracks` stay empty.
        public var isBrief = false

        /// All assets, with everything.
        public init(limit: Int? = nil, after: String? = nil, isBrief: Bool = false) {
            (self.limit, self.after, self.isBrief) = (limit, after, isBrief)
        }

        /// Reads a query; keys that it does not know are passed over.
        ///
        /// - Throws: `badRequest` for a limit that is none, and for a `brief` that is neither 0 nor 1.
        init(query: String?) throws(ControlError) {
            for pair in (query ?? "").split(separator: "&") {
                let key = pair.prefix { $0 != "=" }
                guard let value = PercentEncoding.decode(pair.dropFirst(key.count + 1)) else { continue }
                switch key {
                case "limit": limit = try Self.limit(value)
                case "after": after = value
                case "brief": isBrief = try Self.flag(value)
                default: break
                }
            }
        }

        private static func limit(_ text: String) throws(ControlError) -> Int {
            guard let number = Int(text), number > 0 else {
                throw ControlError(.badRequest, "limit= wants a number from 1 on, not \"\(text)\"")
            }
            return number
        }

        private static func flag(_ text: String) throws(ControlError) -> Bool {
            guard text == "0" || text == "1" else { throw ControlError(.badRequest, "brief= wants 0 or 1, not \"\(text)\"") }
            return text == "1"
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
