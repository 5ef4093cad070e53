/// One EXT-X-DATERANGE (rfc8216bis §4.4.5.1): a span of time with metadata, for example an interstitial (appendix D).
public struct DateRange: Sendable {
    /// Index among the playlist's lines of this tag, from 0.
    public let index: Int
    /// All attributes, including client-defined ones (`X-…`).
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int
    /// ID; lines with the same ID describe the same range. Empty if absent, which players accept.
    public var id: String { attributes["ID"] ?? "" }
    /// CLASS: identifies the meaning of its attributes, such as `com.apple.hls.interstitial`.
    public var rangeClass: String? { attributes["CLASS"] }
    /// START-DATE; nil if absent or not a date.
    public var startDate: DateTime? { attributes["START-DATE"].flatMap { DateTime($0) } }
    /// CUE: PRE, POST and ONCE; PRE and POST exclude each other.
    public var cues: [String] {
        let cues = attributes["CUE"] ?? ""
        return cues.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
    }
    /// END-DATE.
    public var endDate: DateTime? { attributes["END-DATE"].flatMap { DateTime($0) } }
    /// DURATION in seconds.
    public var duration: MediaDuration? { try? attributes.duration("DURATION") }
    /// END-ON-NEXT=YES: the range ends where the next range of its CLASS starts.
    public var endsOnNext: Bool { attributes.flag("END-ON-NEXT") }
    /// X-ASSET-URI (appendix D.2): the single presentation of an interstitial, as written.
    public var assetURI: String? { attributes["X-ASSET-URI"] }
    /// X-ASSET-LIST (appendix D.2): URI of a JSON text that lists the presentations of an interstitial, as written.
    public var assetList: String? { attributes["X-ASSET-LIST"] }
    /// True if the range plays another presentation. Without that presentation the line is useless.
    public var isInterstitial: Bool { assetURI != nil || assetList != nil }

    init(_ text: PlaylistText, _ line: Int, index: Int) throws(PlaylistError) {
        attributes = text.attributes(line)
        self.index = index
        self.line = line + 1
    }
}
