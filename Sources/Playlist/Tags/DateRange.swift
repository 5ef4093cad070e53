/// One EXT-X-DATERANGE (rfc8216bis §4.4.5.1): a span of time and what is said of it, such as an interstitial (appendix
/// D).
public struct DateRange: Sendable {
    /// The place among the playlist's lines of this tag, from 0.
    public let index: Int
    /// All attributes, those of clients (`X-…`) included.
    public let attributes: AttributeList
    /// The number of the line, from 1.
    public let line: Int

    /// ID: lines of one ID speak of one range; empty where it is absent, which players tolerate.
    public var id: String { attributes["ID"] ?? "" }
    /// CLASS: what its attributes mean, such as `com.apple.hls.interstitial`.
    public var rangeClass: String? { attributes["CLASS"] }
    /// START-DATE; nil where it is absent, or no date.
    public var startDate: DateTime? { attributes["START-DATE"].flatMap { DateTime($0) } }
    /// CUE: PRE, POST and ONCE, of which the first two may not stand together.
    public var cues: [String] {
        let cues = attributes["CUE"] ?? ""
        return cues.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
    }
    /// END-DATE.
    public var endDate: DateTime? { attributes["END-DATE"].flatMap { DateTime($0) } }
    /// DURATION in seconds.
    public var duration: Double? { try? attributes.decimalFloat("DURATION") }
    /// PLANNED-DURATION in seconds.
    public var plannedDuration: Double? { try? attributes.decimalFloat("PLANNED-DURATION") }
    /// SCTE35-CMD: a splice_info_section of SCTE 35, in bytes.
    public var spliceCommand: [UInt8]? { try? attributes.hexadecimal("SCTE35-CMD") }
    /// SCTE35-OUT: the splice that begins the range.
    public var spliceOut: [UInt8]? { try? attributes.hexadecimal("SCTE35-OUT") }
    /// SCTE35-IN: the splice that ends the range.
    public var spliceIn: [UInt8]? { try? attributes.hexadecimal("SCTE35-IN") }
    /// END-ON-NEXT=YES: it ends where the next one of its CLASS starts.
    public var endsOnNext: Bool { attributes.flag("END-ON-NEXT") }
    /// X-ASSET-URI (appendix D.2): the one presentation of an interstitial, as written.
    public var assetURI: String? { attributes["X-ASSET-URI"] }
    /// X-ASSET-LIST (appendix D.2): a JSON text that lists the presentations of an interstitial, as written.
    public var assetList: String? { attributes["X-ASSET-LIST"] }

    /// Whether another presentation is to be played, so that the line is of no use without it.
    public var isInterstitial: Bool { assetURI != nil || assetList != nil }

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
    }
}
