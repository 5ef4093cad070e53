/// How samples of a track are coded (ISO/IEC 14496-12 §8.5.2), as far as it must be the same for two tracks to be one.
public struct SampleEntry: Hashable, Sendable {
    /// The type as it stands there: `avc1`, `mp4a`, or `encv` and `enca` of what is encrypted.
    public let type: FourCC
    /// The type before encryption.
    public let format: FourCC
    /// Width and height in pixels; empty of what is not video.
    public let dimensions: [UInt16]
    /// The decoder's parameter sets, of AVC and HEVC.
    public let configuration: DecoderConfiguration?
    /// How the samples are encrypted; nil of those that are not.
    public let protection: Protection?
    /// The fixed fields that count.
    let fields: [UInt8]
    /// The boxes within that count, in their order, without what tells of bit rates alone.
    let boxes: [Inner]

    /// A box within the entry that is compared byte for byte.
    struct Inner: Hashable, Sendable {
        let type: FourCC
        let payload: [UInt8]

        /// Whether it repeats what a video's parameter sets say, or of the same kind: shape, colour and brightness of
        /// pictures.
        var describesPicture: Bool { Self.ofPicture.contains(type) }
        private static let ofPicture: Set<FourCC> = ["colr", "pasp", "clap", "mdcv", "clli", "fiel", "chrm", "amve"]
    }

    /// Common encryption (ISO/IEC 23001-7).
    public struct Protection: Hashable, Sendable {
        /// `cenc`, `cbcs` …; with its version.
        public let scheme: FourCC
        /// Bytes of each sample's own vector; 0 where one is constant.
        public let vectorSize: Int
        /// The payload of `tenc`, which has the key's id, and the scheme's version: all that must be the same.
        let terms: [UInt8]
    }

    /// The codec whose parameter sets can be put into the samples; nil where that cannot be done.
    public var codec: DecoderConfiguration.Codec? { DecoderConfiguration.Codec(format: format) }
}
