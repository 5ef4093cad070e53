extension API {
    /// An entry for the streams file.
    package struct Stream: Codable, Equatable, Sendable {
        /// The URL, which may contain a user name and a password; they become a header field.
        package var url: String
        /// The name for commands and players; absent for one made from the title or the URL.
        package var name: String?
        package var title: String?
        /// The URL of a picture.
        package var logo: String?
        package var group: String?
        /// The id in a television guide, `tvg-id`; absent for the name.
        package var guideID: String?
        /// The further attributes that a channel list has for it, such as `tvg-chno=5`.
        package var attributes: [String]?
        /// The header fields for its requests. Secret.
        package var headers: [Header]?
        package init(url: String) { self.url = url }
    }

    /// The body of `POST /api/v1/streams`.
    package struct StreamRequest: Codable, Equatable, Sendable {
        package var streams: [Stream]
        package init(streams: [Stream]) { self.streams = streams }
    }

    /// The fate of each entry of a `StreamRequest`, in its order.
    package struct StreamReport: Codable, Equatable, Sendable {
        package enum Outcome: String, Codable, Sendable {
            case added
            /// A stream or an asset has the URL already; nothing has changed.
            case known
            case refused
        }

        package struct Entry: Codable, Equatable, Sendable {
            package var outcome: Outcome
            /// The name by which the stream plays; absent if it was refused.
            package var name: String?
            /// The reason for a refusal; absent otherwise.
            package var reason: String?
            package init(_ outcome: Outcome, name: String? = nil, reason: String? = nil) {
                self.outcome = outcome
                self.name = name
                self.reason = reason
            }
        }

        package var streams: [Entry]
        package init(streams: [Entry]) { self.streams = streams }
    }
}
