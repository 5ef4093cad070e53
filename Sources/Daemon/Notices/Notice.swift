internal import WeirAPI

/// An event for which the user's commands run.
struct Notice: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Everything that a download selects is stored.
        case complete
        /// A download has failed and does not continue by itself.
        case failed
        /// The time of an asset by its policy, or that of a key, is over.
        case expired
    }

    let kind: Kind
    let asset: API.Asset
    /// The cause as a sentence; nil for a complete download.
    let cause: String?

    /// The program's standard input: one JSON object on a line.
    var json: [UInt8] {
        struct Shape: Encodable {
            let v = 1
            let t: String
            let cause: String?
            let asset: API.Asset
        }
        // The API's shapes can always be encoded.
        let text = try? API.encode(Shape(t: kind.rawValue, cause: cause, asset: asset))
        return (text ?? []) + [UInt8(ascii: "\n")]
    }

    /// The program's variables for the event. The asset's URL, which may hold a token, is in the JSON only.
    var variables: [String] {
        let values: [(String, String?)] = [
            ("EVENT", kind.rawValue), ("ASSET", asset.name), ("ASSET_ID", asset.id),
            ("ASSET_TITLE", asset.title ?? asset.name), ("ASSET_PATH", asset.path), ("ASSET_BYTES", "\(asset.bytes)"),
            ("ASSET_DURATION", asset.duration.map { "\(Int(max(0, min($0, 1e9))))" }), ("CAUSE", cause),
        ]
        return values.compactMap { name, value in
            // A title from an origin must not end the variable early.
            value.map { "WEIR_\(name)=" + $0.filter { $0 != "\0" } }
        }
    }
}

/// Finds the assets that have expired since the last look. Times are in seconds since 1970.
struct ExpiryClock {
    /// Time of the last look.
    private(set) var last: Int64

    /// - Parameter expirations: the assets that expire, by id.
    /// - Returns: the ids of those whose time ended after the last look.
    mutating func expired(of expirations: [String: Int64], at now: Int64) -> [String] {
        // The system's clock may be set back.
        defer { last = max(last, now) }
        return expirations.filter { $0.value > last && $0.value <= now }.map(\.key).sorted()
    }
}
