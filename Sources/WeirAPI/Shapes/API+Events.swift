package import AccessLog
package import Orders

extension API {
    /// A message of `GET /api/v1/events`, a stream of server-sent events (WHATWG HTML §9.2). The first one is a
    /// `snapshot`, unless the server can continue after the request's `Last-Event-ID`.
    package enum Event: Equatable, Sendable {
        /// `snapshot`: all downloads that are not complete, as a `DownloadList`. It replaces all earlier state.
        case snapshot([Download])
        /// `state`, `progress`, `complete`, `error`: the current state of a download.
        case download(Kind, Download)
        /// `renditionComplete`: everything selected of one rendition is stored.
        case renditionComplete(Rendition)
        /// `selection-resolved`: the content of a new selection is known.
        case selectionResolved(Selection)
        /// `selections-further`: the asset has tracks that the download does not select; follows `selection-resolved`.
        case selectionsFurther(Further)
        /// `selection-complete`: everything selected by one selection is stored.
        case selectionComplete(Selection)
        /// `removed`: a download is gone, because its asset was removed.
        case removed(Reference)
        /// `verification`: progress or the end of a verification.
        case verification(Verification)
        /// `purged`: all stored content of an asset was deleted, because space was short or the asset had expired.
        case purged(Purge)
        /// `keys`: keys of an asset were renewed, revoked or given another expiry date, have expired, or will expire within a
        /// day and within an hour.
        case keys(KeyChange)
        /// `move`: a move of an asset to another disk has begun or ended.
        case move(Move)
        /// `changed`: an asset was added or removed, has another name, title, URL, policy or image, or its playback has
        /// begun or ended. The reference has its current name.
        case changed(Reference)
        /// `content-changed`: the origin has other content than what is stored of the asset.
        case contentChanged(Reference)
        /// `mode`: the network mode has changed.
        case mode(Mode)

        package enum Kind: String, Sendable {
            /// The download is new, or its state, need or error has changed.
            case state
            /// More is stored; sent at most four times per second and download.
            case progress
            /// Everything is stored; follows the `state` event.
            case complete
            /// The download failed; follows the `state` event.
            case error
        }

        /// The data of `removed`, `changed` and `content-changed`.
        package struct Reference: Codable, Equatable, Sendable {
            package var id: String
            package var asset: String
            package init(id: String, asset: String) {
                self.id = id
                self.asset = asset
            }
        }

        /// The data of `purged`.
        package struct Purge: Codable, Equatable, Sendable {
            package var asset: String
            package var id: String
            package var purge: Orders.Purge
            package init(asset: String, id: String, purge: Orders.Purge) {
                self.asset = asset
                self.id = id
                self.purge = purge
            }
        }

        /// The data of `keys`.
        package struct KeyChange: Codable, Equatable, Sendable {
            package var asset: String
            package var id: String
            package var change: Orders.KeyChange
            package var keys: [Int]
            /// Time of the first expiry among the keys, in seconds since 1970; only with `expiring`.
            package var expiration: Int?
            package init(asset: String, id: String, change: Orders.KeyChange, keys: [Int], expiration: Int? = nil) {
                self.asset = asset
                self.id = id
                self.change = change
                self.keys = keys
                self.expiration = expiration
            }
        }

        /// The data of `renditionComplete`.
        package struct Rendition: Codable, Equatable, Sendable {
            package var id: String
            package var asset: String
            package var rendition: String
            package init(id: String, asset: String, rendition: String) {
                self.id = id
                self.asset = asset
                self.rendition = rendition
            }
        }

        package var name: String { message.name }

        /// The event's data: JSON on one line.
        package var data: [UInt8] { get throws(APIError) { try API.encode(message.data) } }

        private var message: (name: String, data: any Encodable) {
            switch self {
            case .snapshot(let downloads): ("snapshot", DownloadList(downloads: downloads))
            case .download(let kind, let download): (kind.rawValue, download)
            case .renditionComplete(let rendition): ("renditionComplete", rendition)
            case .selectionResolved(let selection): ("selection-resolved", selection)
            case .selectionsFurther(let further): ("selections-further", further)
            case .selectionComplete(let selection): ("selection-complete", selection)
            case .removed(let reference): ("removed", reference)
            case .verification(let verification): ("verification", verification)
            case .purged(let purge): ("purged", purge)
            case .keys(let change): ("keys", change)
            case .move(let move): ("move", move)
            case .changed(let reference): ("changed", reference)
            case .contentChanged(let reference): ("content-changed", reference)
            case .mode(let mode): ("mode", mode)
            }
        }

        /// Reads an event; nil for an unknown name, which readers ignore.
        package init?(name: String, data: [UInt8]) throws(APIError) {
            switch name {
            case "snapshot": self = .snapshot(try API.decode(DownloadList.self, from: data).downloads)
            case "renditionComplete": self = .renditionComplete(try API.decode(from: data))
            case "selection-resolved": self = .selectionResolved(try API.decode(from: data))
            case "selections-further": self = .selectionsFurther(try API.decode(from: data))
            case "selection-complete": self = .selectionComplete(try API.decode(from: data))
            case "removed": self = .removed(try API.decode(from: data))
            case "verification": self = .verification(try API.decode(from: data))
            case "purged": self = .purged(try API.decode(from: data))
            case "keys": self = .keys(try API.decode(from: data))
            case "move": self = .move(try API.decode(from: data))
            case "changed": self = .changed(try API.decode(from: data))
            case "content-changed": self = .contentChanged(try API.decode(from: data))
            case "mode": self = .mode(try API.decode(from: data))
            default:
                guard let kind = Kind(rawValue: name) else { return nil }
                self = .download(kind, try API.decode(from: data))
            }
        }
    }

    /// The state of an asset's keys, without key material: `GET /api/v1/assets/<name>/keys`.
    package struct KeyList: Codable, Equatable, Sendable {
        package var asset: String
        /// Lifetime of the keys in seconds from their fetch; absent for no limit.
        package var keysExpire: Int64?
        /// Lifetime of the keys in seconds from the first play; absent for no limit.
        package var keysAfterFirstPlay: Int64?
        package var keys: [Key]
        package init(asset: String, keys: [Key] = []) {
            self.asset = asset
            self.keys = keys
        }
    }

    package struct Key: Codable, Equatable, Sendable {
        /// The part of a rendition that a key decrypts.
        package struct Use: Codable, Equatable, Sendable {
            package var rendition: String
            package var start: Double
            package var end: Double
            package var segments: Int
            package init(rendition: String, start: Double, end: Double, segments: Int) {
                self.rendition = rendition
                self.start = API.milliseconds(start)
                self.end = API.milliseconds(end)
                self.segments = segments
            }
        }

        /// The permanent number of the key; names the file `keys/<number>.key`.
        package var number: Int
        package var state: KeyState
        /// Time of the fetch or renewal, in seconds since 1970; absent if it is not known.
        package var fetched: Int?
        /// Time of the asset's first play with the key, in seconds since 1970; only if there is a playback window.
        package var firstPlayed: Int?
        /// Time of expiry by date, lifetime or window, in seconds since 1970; absent for never.
        package var expiration: Int?
        /// Expiry date of this key alone, in seconds since 1970; absent if it has none.
        package var expires: Int?
        /// Time of the revocation, in seconds since 1970; absent if the key was not revoked.
        package var revoked: Int?
        /// Remaining seconds of the date and the lifetime; 0 after expiry, absent for no limit.
        package var remaining: Int?
        /// Remaining seconds of the playback window: its full length before the first play; absent without a window.
        package var playbackRemaining: Int?
        /// The parts that the key decrypts, as far as the playlists are known.
        package var uses: [Use]
        package init(number: Int, state: KeyState = .missing, uses: [Use] = []) {
            self.number = number
            self.state = state
            self.uses = uses
        }
    }

    /// Number of an asset's keys, and of the unusable ones.
    package struct KeySummary: Codable, Equatable, Sendable {
        package var count: Int
        package var expired: Int
        package var revoked: Int
        package init(count: Int, expired: Int = 0, revoked: Int = 0) {
            self.count = count
            self.expired = expired
            self.revoked = revoked
        }
    }

    /// An order for keys: `POST /api/v1/assets/<name>/keys`, or `POST /api/v1/keys` to revoke those of all assets.
    package struct KeyOrder: Codable, Equatable, Sendable {
        package enum Action: String, Codable, Sendable {
            case renew
            case revoke
            case setExpiry
        }

        package var action: Action
        /// Numbers of the keys; absent for all.
        package var keys: [Int]?
        /// For `setExpiry`: the expiry in seconds since 1970; absent for never.
        package var expires: Int?
        package init(_ action: Action, keys: [Int]? = nil, expires: Int? = nil) {
            self.action = action
            self.keys = keys
            self.expires = expires
        }

        /// The error in the order, as a sentence; nil if it is valid.
        package var contradiction: String? {
            if keys?.isEmpty ?? false {
                return "keys is empty: leave it out for all keys"
            }
            guard let expires else { return nil }
            if action != .setExpiry {
                return "only \"setExpiry\" has expires"
            }
            return StoragePolicy(expires: Int64(expires)).contradiction
        }
    }

    /// The response of `GET` and `POST /api/v1/keys`.
    package struct KeyLists: Codable, Equatable, Sendable {
        package var assets: [KeyList]
        package init(assets: [KeyList]) { self.assets = assets }
    }

    /// The response of `GET /api/v1/sessions`: running and recently ended sessions, in the order of their start.
    package struct SessionList: Codable, Equatable, Sendable {
        package var sessions: [SessionSummary]
        package init(sessions: [SessionSummary]) { self.sessions = sessions }
    }

    /// A log, oldest event first: `GET /api/v1/log` with `AccessEvent`, `GET /api/v1/log/errors` with `ErrorEvent`,
    /// `GET /api/v1/log/sessions` with `SessionTimeline`. Events that are still open come last.
    package struct Log<Event: LogEvent>: Codable, Equatable, Sendable {
        /// The program that wrote the log, such as `Weir/0.1.0`.
        package var software: String
        package var events: [Event]
        package init(software: String, events: [Event]) {
            self.software = software
            self.events = events
        }
    }

    /// Key performance indicators of the sessions in the access log: `GET /api/v1/kpis`.
    package struct KPIReport: Codable, Equatable, Sendable {
        package struct Session: Codable, Equatable, Sendable {
            package var guid: String
            package var asset: String
            package var client: String?
            /// Start of the first event that is still in the log, in seconds since 1970 (UTC).
            package var began: Double
            package var kpis: KPIs
        }

        /// The sessions in the order of their start.
        package var sessions: [Session]
        package var total: KPIs
        package init(_ events: [AccessEvent]) {
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
