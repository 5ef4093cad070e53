public import Playlist

/// The playable ranges of a partial presentation without its origin: some renditions, with equal cuts.
public struct StoredStretches: Sendable {
    /// The cuts of the renditions, by index in `Asset.renditions`.
    public let cuts: [Int: MediaPlaylistCut]
    /// Playable duration, in seconds.
    public let seconds: Double
    /// True if anything is cut out of any rendition.
    public let isCut: Bool

    /// True if it is long enough to be useful. The read-ahead of a player that was closed early is not.
    public var isPlayable: Bool { seconds >= Self.least }

    private static let least = 3.0
}
