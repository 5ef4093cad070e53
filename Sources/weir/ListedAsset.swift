import API

/// The keys of `API.Asset` that `weir list` prints. Decoding the others would take most of the time of a long list.
struct ListedAsset: Decodable, Sendable {
    private let name: String
    private let duration: Double?
    private let isLive: Bool
    private let quality: String?
    private let bytes: Int
    private let local: API.Local
    private let state: API.Download.State?
    private let need: API.Download.Need?
    private let place: API.Place?
    private let storage: API.Storage?
    private let keys: API.KeySummary?
    private let unreadable: String?
    private let isKnownOnly: Bool?

    /// Creates an entry from a complete shape.
    init(_ asset: API.Asset) {
        (name, duration, isLive) = (asset.name, asset.duration, asset.isLive)
        (quality, bytes, local) = (asset.quality ?? asset.tracks.storedQuality, asset.bytes, asset.local)
        (state, need, place, storage) = (asset.state, asset.need, asset.place, asset.storage)
        (keys, unreadable, isKnownOnly) = (asset.keys, asset.unreadable, asset.isKnownOnly)
    }

    /// True if the asset plays without the network.
    var isOffline: Bool { local == .complete && !(storage?.isExpired ?? false) }

    /// The cells of the table's row.
    var row: [String] {
        let time = duration.map(Format.clock) ?? (isLive ? "live" : "–")
        return [name, time, quality ?? "–", bytes > 0 ? Format.bytes(bytes) : "–", here]
    }

    /// Stored part and state.
    private var here: String {
        if unreadable != nil { return "unreadable" }
        if isKnownOnly == true { return "not local, known only" }
        if let place, !place.isThere { return "not there: \(place.path)" + (need == .disk ? "" : activity) }
        let other = place.map { ", in \($0.path)" } ?? ""
        return local.word + other + StorageText.badge(storage, local: local) + KeysText.badge(keys) + activity
    }

    /// Current activity; nil if there is none.
    private var activity: String {
        switch state {
        case .queued, .running, .paused, .waiting, .failed: state.map { ", " + API.Download.words($0, need) } ?? ""
        case .cancelled, .complete, nil: ""
        }
    }
}
