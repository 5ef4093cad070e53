extension API {
    /// A message of `GET /api/v1/events`, a stream of server-sent events (WHATWG HTML §9.2): the event's name, and its
    /// data as JSON.
    ///
    /// The first message is a `snapshot`, unless the server can continue after the request's `Last-Event-ID`.
    public enum Event: Equatable, Sendable {
        /// `snapshot`: the state of all downloads that are not complete, as a `DownloadList`. It replaces all earlier
        /// state: a download that it does not list is complete or removed.
        case snapshot([Download])
        /// `state`, `progress`, `complete`, `error`: the current state of a download.
        case download(Kind, Download)
        /// `renditionComplete`: everything selected of one rendition is stored.
        case renditionComplete(Rendition)
        /// `removed`: a download is gone, because its asset was removed.
        case removed(Reference)
        /// `verification`: progress or the end of a verification.
        case verification(Verification)
        /// `purged`: all stored content of an asset was deleted, because space was short or the asset had expired.
        case purged(Purge)
        /// `keys`: keys of an asset were renewed, revoked or given another expiry date, or have expired.
        case keys(KeyChange)
        /// `move`: a move of an asset to another disk has begun or ended.
        case move(Move)
        /// `changed`: an asset was added or removed, its name, title, URL, policy or image has changed, or its playback
        /// has begun or ended. The reference has the asset's current name, for further requests.
        case changed(Reference)
        /// `mode`: the network mode has changed.
        case mode(Mode)

        /// The kinds of download events.
        public enum Kind: String, Sendable {
            /// The download is new, or its state, need or error has changed.
            case state
            /// More is stored; sent at most four times per second and download.
            case progress
            /// Everything is stored; follows the `state` event.
            case complete
            /// The download failed; follows the `state` event.
            case error
        }

        /// The data of `removed` and `changed`.
        public struct Reference: Codable, Equatable, Sendable {
            /// The id of the asset and of its download.
            public var id: String
            /// The asset's name.
            public var asset: String

            /// Creates a reference.
            public init(id: String, asset: String) {
                self.id = id
                self.asset = asset
            }
        }

        /// The data of `purged`.
        public struct Purge: Codable, Equatable, Sendable {
            /// The asset's name.
            public var asset: String
            /// The asset's id.
            public var id: String
            /// Size and cause of the purge.
            public var purge: Storage.Purge

            /// Creates the purge of an asset.
            public init(asset: String, id: String, purge: Storage.Purge) {
                self.asset = asset
                self.id = id
                self.purge = purge
            }
        }

        /// The data of `keys`.
        public struct KeyChange: Codable, Equatable, Sendable {
            /// The kinds of change. More cases may be added.
            public enum Change: String, Codable, Sendable {
                /// The keys were fetched again and had not changed.
                case renewed
                /// The keys have expired.
                case expired
                /// The keys were revoked.
                case invalidated
                /// The keys have another expiry date.
                case dated
            }

            /// The asset's name.
            public var asset: String
            /// The asset's id.
            public var id: String
            /// Kind of the change.
            public var change: Change
            /// Numbers of the affected keys.
            public var keys: [Int]

            /// Creates a change.
            public init(asset: String, id: String, change: Change, keys: [Int]) {
                self.asset = asset
                self.id = id
                self.change = change
                self.keys = keys
            }
        }

        /// The data of `renditionComplete`.
        public struct Rendition: Codable, Equatable, Sendable {
            /// The download's id.
            public var id: String
            /// The asset's name.
            public var asset: String
            /// The rendition's id in the store.
            public var rendition: String

            /// Creates a rendition of a download.
            public init(id: String, asset: String, rendition: String) {
                self.id = id
                self.asset = asset
                self.rendition = rendition
            }
        }

        /// The event's name.
        public var name: String {
            switch self {
            case .snapshot: "snapshot"
            case .download(let kind, _): kind.rawValue
            case .renditionComplete: "renditionComplete"
            case .removed: "removed"
            case .verification: "verification"
            case .purged: "purged"
            case .keys: "keys"
            case .move: "move"
            case .changed: "changed"
            case .mode: "mode"
            }
        }

        /// The event's data: JSON on one line.
        public var data: [UInt8] {
            get throws(APIError) {
                switch self {
                case .snapshot(let downloads): try API.encode(DownloadList(downloads: downloads))
                case .download(_, let download): try API.encode(download)
                case .renditionComplete(let rendition): try API.encode(rendition)
                case .removed(let reference), .changed(let reference): try API.encode(reference)
                case .verification(let verification): try API.encode(verification)
                case .purged(let purge): try API.encode(purge)
                case .keys(let change): try API.encode(change)
                case .move(let move): try API.encode(move)
                case .mode(let mode): try API.encode(mode)
                }
            }
        }

        /// Reads an event; nil for an unknown name, which readers ignore.
        public init?(name: String, data: [UInt8]) throws(APIError) {
            switch name {
            case "snapshot": self = .snapshot(try API.decode(DownloadList.self, from: data).downloads)
            case "renditionComplete": self = .renditionComplete(try API.decode(from: data))
            case "removed": self = .removed(try API.decode(from: data))
            case "verification": self = .verification(try API.decode(from: data))
            case "purged": self = .purged(try API.decode(from: data))
            case "keys": self = .keys(try API.decode(from: data))
            case "move": self = .move(try API.decode(from: data))
            case "changed": self = .changed(try API.decode(from: data))
            case "mode": self = .mode(try API.decode(from: data))
            default:
                guard let kind = Kind(rawValue: name) else { return nil }
                self = .download(kind, try API.decode(from: data))
            }
        }
    }
}
