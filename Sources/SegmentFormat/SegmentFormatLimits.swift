/// Limits on untrusted input: far above any real file, and small enough to hold in memory.
public enum SegmentFormatLimits {
    /// Bytes of an initialization section, or of all `moof` boxes of a media segment together.
    public static let sectionBytes = 16 << 20
    /// Tracks per section, sample entries per track, and boxes per sample entry.
    public static let listed = 256
    /// Top-level boxes per media segment.
    public static let topLevelBoxes = 1 << 16
    /// Movie fragments per media segment. Low-latency streams have ten to twenty per second.
    public static let fragments = 4096
    /// Samples per `trun`. A box of 24 bytes can announce 2^32 samples.
    public static let samplesPerRun = 1 << 20
    /// Samples per media segment, over all runs.
    public static let samplesPerSegment = 1 << 22
    /// ID3 tags at the start of packed audio.
    public static let tags = 16
    /// Bytes per ID3 tag. A tag may hold a picture.
    public static let tagBytes = 1 << 20
}
