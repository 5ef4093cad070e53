/// Computes the EXT-X-VERSION of a view: the lowest version that its content needs (RFC 8216 §7, rfc8216bis §8). A declared
/// version up to 7, which every player supports, is never lowered, because from version 6 on EXT-X-TARGETDURATION is rounded
/// instead of a ceiling. A higher one, which some players reject, is lowered to what is needed.
struct RequiredVersion {
    private(set) var number: Int
    private let declared: Int

    init(declared: Int) {
        self.declared = declared
        number = max(1, min(declared, 7))
    }

    /// The version that a view declares. A text that declares less than 8 never gets more than 7: from 8 on, `{$name}`
    /// in it would become a variable reference instead of a part of a name.
    var stated: Int {
        guard declared < 8 else { return number }
        return min(number, 7)
    }
    mutating func need(_ version: Int) { number = max(number, version) }

    /// Records EXT-X-MAP.
    mutating func needMap(isIFramesOnly: Bool) { need(isIFramesOnly ? 5 : 6) }

    /// Records EXT-X-SKIP: delta updates need version 9; with removed date ranges, 10.
    mutating func needSkip(removesDateRanges: Bool) {
        need(9)
        if removesDateRanges {
            need(10)
        }
    }
    /// Records an EXT-X-KEY or EXT-X-SESSION-KEY. Other session tags have none of these attributes.
    mutating func need(key attributes: AttributeList) {
        if attributes.find("IV") != nil {
            need(2)
        }
        if attributes.find("KEYFORMAT") != nil || attributes.find("KEYFORMATVERSIONS") != nil {
            need(5)
        }
    }

    /// Records an EXT-X-MEDIA. SERVICE in INSTREAM-ID needs version 7; INSTREAM-ID on other media than captions needs 13.
    mutating func need(media: Media) {
        guard let id = media.instreamID else { return }
        if id.hasPrefix("SERVICE") {
            need(7)
        }
        if media.type != .closedCaptions {
            need(13)
        }
    }

    /// Records an EXT-X-STREAM-INF or EXT-X-I-FRAME-STREAM-INF: `REQ-` attributes need version 12.
    mutating func need(variant attributes: AttributeList) {
        if attributes.attributes.contains(where: { attributes.bytes.starts(with: "REQ-", at: $0.name) }) {
            need(12)
        }
    }

    /// Records EXT-X-DEFINE: variables need version 8; QUERYPARAM needs 11.
    mutating func need(definitionsOf text: PlaylistText) {
        for line in text.lines.indices where text.lines[line].kind == .tag(.define) {
            need(8)
            if text.attributes(line)["QUERYPARAM"] != nil {
                need(11)
            }
        }
    }
}

extension [UInt8] {
    fileprivate func starts(with prefix: String, at range: Range<Int>) -> Bool { self[range].starts(with: prefix.utf8) }
}
