extension API {
    /// A channel list that Weir reads again and again. A reply of `POST /api/v1/lists`.
    package struct ChannelList: Codable, Equatable, Sendable {
        package var name: String
        /// Without a password and a query.
        package var url: String
        /// Seconds between two looks at the list.
        package var interval: Int
        /// The number of channels that can be played.
        package var channels: Int
        /// The number of channels that the user has removed; absent for none.
        package var hidden: Int?
        /// The number of entries that are no HLS; absent for none.
        package var leftOut: Int?
        /// Time of the latest success, in seconds since 1970; absent if there was none.
        package var fetched: Int?
        /// True while its stored state is read after a start: the other figures are not known yet. Absent otherwise.
        package var isReading: Bool?
        /// A sentence about the latest attempt, which failed; absent if it did not.
        package var problem: String?
        package init(name: String, url: String, interval: Int, channels: Int) {
            self.name = name
            self.url = url
            self.interval = interval
            self.channels = channels
        }
    }

    /// The reply of `GET /api/v1/lists`.
    package struct ChannelLists: Codable, Equatable, Sendable {
        package var lists: [ChannelList]
        package init(lists: [ChannelList]) { self.lists = lists }
    }

    /// The body of `POST /api/v1/lists`.
    package struct ChannelListRequest: Codable, Equatable, Sendable {
        /// The URL, which may contain a user name and a password. Secret.
        package var url: String
        /// The name for commands; absent for one made from the URL.
        package var name: String?
        /// Seconds between two looks at the list; absent for 12 hours.
        package var interval: Int?
        /// The header fields for the list. Secret.
        package var headers: [Header]?
        package init(url: String) { self.url = url }
    }

    /// A channel of a list.
    package struct Channel: Codable, Equatable, Sendable {
        /// The name for commands and players.
        package var name: String
        package var title: String?
        package var group: String?
        /// The URL of a picture.
        package var logo: String?
        /// The id in a television guide, `tvg-id`.
        package var guideID: String?
        /// The name of its list.
        package var list: String
        package init(name: String, list: String) {
            self.name = name
            self.list = list
        }
    }

    /// The reply of `GET /api/v1/channels`.
    package struct Channels: Codable, Equatable, Sendable {
        /// The first ones by name.
        package var channels: [Channel]
        /// The number of all that fit.
        package var count: Int
        package init(channels: [Channel], count: Int) {
            self.channels = channels
            self.count = count
        }
    }
}
