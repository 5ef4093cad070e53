/// Source of a piece that a player received.
public enum PieceSource: String, Codable, Sendable {
    /// The piece was stored.
    case store
    /// The piece was fetched for this player.
    case origin
    /// The fetch was in progress already, for a download or another player.
    case joined
}

/// Bytes by source.
public struct SourceBytes: Codable, Equatable, Sendable {
    /// Bytes from the store.
    public var store: Int64 = 0
    /// Bytes fetched from the origin for this player.
    public var origin: Int64 = 0
    /// Bytes from the origin by a fetch that was in progress already.
    public var joined: Int64 = 0

    /// Creates counters of 0.
    public init() {}

    /// Sum of all sources.
    public var all: Int64 { store + origin + joined }

    /// Adds bytes of one source.
    public mutating func add(_ bytes: Int64, from source: PieceSource) {
        switch source {
        case .store: store += bytes
        case .origin: origin += bytes
        case .joined: joined += bytes
        }
    }

    /// The sum, source by source.
    public static func + (left: SourceBytes, right: SourceBytes) -> SourceBytes {
        var sum = left
        sum.store += right.store
        sum.origin += right.origin
        sum.joined += right.joined
        return sum
    }
}
