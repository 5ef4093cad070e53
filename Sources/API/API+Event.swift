extension API {
    /// One message of `GET /api/v1/events`: server-sent events (WHATWG HTML §9.2), the event's name and its data as
    /// JSON.
    ///
    /// The first is a `snapshot`, unless the request's `Last-Event-ID` is known still and what came after it can be
    /// sent.
    public enum Event: Equatable, Sendable {
        /// `snapshot`: all downloads that are not complete, as they stand, a `DownloadList`. What was known before is void:
        /// a download that is not in it is complete, or forgotten.
        case snapshot([Download])
        /// `state`, `progress`, `complete`, `error`: a download as it stands.
        case download(Kind, Download)
        /// `renditionComplete`: everything that was wanted of one rendition is stored.
        case renditionComplete(Rendition)
        /// `removed`: a download is forgotten, for its asset was removed.
        case removed(Reference)
        /// `verification`: a verification that has come further, or has ended.
        case verification(Verification)
        /// `purged`: everything stored of an asset was deleted, for lack of space or because it had expired.
        case purged(Purge)
        /// `keys`: keys of an asset were renewed, have expired, were taken back, or have another date.
        case keys(KeyChange)
        /// `move`: the moving of an asset to another disk begins, or has ended.
        case move(Move)
        /// `changed`: an asset is new, has gone, or has another name, title, URL, policy or image, or somebody begins to play
        /// it or ceases to. Who wants to know more asks for it by the name that it has now.
        case changed(Reference)
        /// `mode`: the network mode has changed.
        case mode(Mode)

        /// The kinds of download events.
        public enum Kind: String, Sendable {
            /// The download is new, or its state, need or error has changed.
            case state
            /// More of it is stored; four times a second at most for each download.
            case progress
            /// Everything is stored; comes after its `state`.
            case complete
            /// The download failed; follows its `state`.
            case error
        }

        /// The data of `removed` and `changed`.
        public struct Reference: Codable, Equatable, Sendable {
            /// The asset's id, which its download has as well.
            public var id: String
            /// The asset's name.
            public var asset: String

            /// A reference.
            public init(id: String, asset: String) {
                self.id = id
                self.asset = asset
            }
        }

        /// The data of `purged`.
        public struct Purge: Codable, Equatable, Sendable {
            /// The asset's name.
            public var asset: String
            /// Its id.
            public var id: String
            /// Size and cause of the purge.
            public var purge: Storage.Purge

            /// An asset's purge.
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
                /// The keys were fetched again, and were the same.
                case renewed
                /// Their time is over.
                case expired
                /// The keys were revoked.
                case invalidated
                /// The keys have another expiry date.
                case dated
            }

            /// The asset's name.
            public var asset: String
            /// Its id.
            public var id: String
            /// Kind of the change.
            public var change: Change
            /// To which keys, by number.
            public var keys: [Int]

            /// A change.
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
            /// Its asset's name.
            public var asset: String
            /// The rendition's id in the store.
            public var rendition: String

            /// A rendition of a download.
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

        /// Reads an event; nil for a name that is not known, which a reader passes over.
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
