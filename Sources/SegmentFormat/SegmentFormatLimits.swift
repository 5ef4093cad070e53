/// What is taken from strangers: far beyond any real file, and little enough to hold in memory.
public enum SegmentFormatLimits {
    /// An initialization section, or all `moof` boxes of a media segment together, in bytes.
    public static let sectionBytes = 16 << 20
    /// Tracks of a section, sample entries of a track, and boxes of a sample entry.
    public static let listed = 256
    /// Boxes at the top level of a media segment.
    public static let topLevelBoxes = 1 << 16
    /// Movie fragments of a media segment; of low latency, ten or twenty a second.
    public static let fragments = 4096
    /// Samples of one `trun`; a box of 24 bytes can announce four thousand million.
    public static let samplesPerRun = 1 << 20
    /// Samples of all runs of a media segment together.
    public static let samplesPerSegment = 1 << 22
    /// ID3 tags in front of packed audio.
    public static let tags = 16
    /// One of them, in bytes: it may hold a picture.
    public static let tagBytes = 1 << 20
}
