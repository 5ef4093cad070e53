public import Playlist

/// What of a presentation plays without its origin although no variant is whole: some renditions, cut alike.
public struct StoredStretches: Sendable {
    /// How the renditions are cut, by their places in `Asset.renditions`.
    public let cuts: [Int: MediaPlaylistCut]
    /// How long it lasts, in seconds.
    public let seconds: Double
    /// Whether anything is left out of any of them.
    public let isCut: Bool

    /// Whether there is enough of it that somebody would want to see it: what a player has read ahead before it was
    /// closed is no presentation.
    public var isPlayable: Bool { seconds >= Self.least }

    private static let least = 3.0
}
