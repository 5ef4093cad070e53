/// What a playlist may cost.
///
/// A text beyond a limit is refused with `PlaylistError.Code.overLimit`.
public struct PlaylistLimits: Sendable {
    /// The whole decoded text, in bytes.
    public var bytes = 8 << 20
    /// One line without its terminator, in bytes; at most 65,535.
    public var lineBytes = 16 << 10
    /// Lines, blank ones and comments included: bounds what a text of newlines alone may cost.
    public var lines = 1_000_000
    /// Media segments of one media playlist.
    public var segments = 100_000
    /// EXT-X-STREAM-INF lines of one multivariant playlist.
    public var variants = 256
    /// Every other line of a multivariant playlist that names something: EXT-X-MEDIA, I-frame variants, session tags.
    public var renditions = 1_024
    /// Attributes of one line.
    public var attributes = 128
    /// KEYFORMATs that hold at once.
    public var keyFormats = 16

    /// The limits that Weir documents.
    public static let standard = PlaylistLimits()

    /// The standard limits, to be changed in tests.
    public init() {}
}
