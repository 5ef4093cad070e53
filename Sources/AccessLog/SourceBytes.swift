/// Where a piece came from that a player got.
public enum PieceSource: String, Codable, Sendable {
    /// It was there.
    case store
    /// It was fetched for this player.
    case origin
    /// It was on its way already, for a download or another player.
    case joined
}

/// How many bytes came from where.
public struct SourceBytes: Codable, Equatable, Sendable {
    /// Out of the store.
    public var store: Int64 = 0
    /// From the origin, for this player.
    public var origin: Int64 = 0
    /// From the origin, by a transfer that was under way already.
    public var joined: Int64 = 0

    /// None.
    public init() {}

    /// All.
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
