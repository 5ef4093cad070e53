public import AccessLog

extension API {
    /// The response of `GET /api/v1/sessions`: running and recently ended sessions, in the order of their start.
    public struct SessionList: Codable, Equatable, Sendable {
        /// The sessions.
        public var sessions: [SessionSummary]
        /// Creates a list.
        public init(sessions: [SessionSummary]) { self.sessions = sessions }
    }

    /// The response of `GET /api/v1/log` with `AccessEvent` and of `GET /api/v1/log/errors` with `ErrorEvent`: events,
    /// oldest first. In the access log, events that are still open come last, with their current state.
    ///
    /// The query takes `asset=` (a name), `since=` (seconds since 1970) and `limit=` (number of latest events, by
    /// default 1000).
    public struct Log<Event: LogEvent>: Codable, Equatable, Sendable {
        /// The program that wrote the log, such as `Weir/0.1.0`.
        public var software: String
        /// The events.
        public var events: [Event]
        /// Creates a log.
        public init(software: String, events: [Event]) {
            self.software = software
            self.events = events
        }
    }

    /// The response of `GET /api/v1/kpis`, which takes the query of a log: key performance indicators of the sessions
    /// in the access log.
    public struct KPIReport: Codable, Equatable, Sendable {
        /// The indicators of one session.
        public struct Session: Codable, Equatable, Sendable {
            /// The session's id in the logs.
            public var guid: String
            /// The asset's name.
            public var asset: String
            /// The player's User-Agent.
            public var client: String?
            /// Start in seconds since 1970 (UTC). If the session's first events were deleted, the start of the first
            /// remaining one.
            public var began: Double
            /// The indicators.
            public var kpis: KPIs
        }

        /// The sessions in the order of their start.
        public var sessions: [Session]
        /// The indicators of all sessions together.
        public var total: KPIs

        /// Computes the report of some events.
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
