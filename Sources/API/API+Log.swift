public import AccessLog

extension API {
    /// `GET /api/v1/sessions`: those that go on, and the last ones that ended, in the order in which they began.
    public struct SessionList: Codable, Equatable, Sendable {
        /// The sessions.
        public var sessions: [SessionSummary]
        /// A list.
        public init(sessions: [SessionSummary]) { self.sessions = sessions }
    }

    /// `GET /api/v1/log` with `AccessEvent`, `GET /api/v1/log/errors` with `ErrorEvent`: events, oldest first; of the
    /// access log the open ones last, as they stand.
    ///
    /// The query takes `asset=` (a name), `since=` (seconds since 1970) and `limit=` (the last so many; 1000).
    public struct Log<Event: LogEvent>: Codable, Equatable, Sendable {
        /// The writing program, such as `Weir/0.1.0`.
        public var software: String
        /// The events.
        public var events: [Event]
        /// A log.
        public init(software: String, events: [Event]) {
            self.software = software
            self.events = events
        }
    }

    /// `GET /api/v1/kpis`, with the query of a log: key performance indicators of the sessions in the access log.
    public struct KPIReport: Codable, Equatable, Sendable {
        /// One session's.
        public struct Session: Codable, Equatable, Sendable {
            /// The session's id, as it stands in the logs.
            public var guid: String
            /// The asset's name.
            public var asset: String
            /// The player, as its User-Agent says.
            public var client: String?
            /// Start in seconds since 1970 in UTC; if the first events are gone, that of the first remaining one.
            public var began: Double
            /// The indicators.
            public var kpis: KPIs
        }

        /// By session, in the order in which they began.
        public var sessions: [Session]
        /// Over all of them.
        public var total: KPIs

        /// A report on these events.
        public init(_ events: [AccessEvent]) {
            let bySession = Dictionary(grouping: events, by: \.guid).values
            sessions = bySession.compactMap(Self.session).sorted { $0.began < $1.began }
            total = KPIs(events)
        }

        private static func session(_ events: [AccessEvent]) -> Session? {
            events.min { $0.number < $1.number }.map { first in
                Session(
                    guid: first.guid, asset: first.asset, client: first.client, began: first.began, kpis: KPIs(events))
            }
        }
    }
}
