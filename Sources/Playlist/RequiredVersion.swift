/// The EXT-X-VERSION of a view: what was written needs no lower one (RFC 8216 §7, rfc8216bis §8).
///
/// A declared version up to 7, that of RFC 8216, which every player knows, is never lowered: from 6 on
/// EXT-X-TARGETDURATION is rounded, and not a ceiling. A higher one, which some players refuse, stays only as far as it
/// is needed.
struct RequiredVersion {
    /// The version, from 1.
    private(set) var number: Int
    private let declared: Int

    /// Starts with what the text declares.
    init(declared: Int) {
        self.declared = declared
        number = max(1, min(declared, 7))
    }

    /// The version that a view states. A text of an old version is never raised above 7: from 8 on `{$name}` in it
    /// would be a reference to a variable, and before it is a part of a name.
    var stated: Int { declared < 8 ? min(number, 7) : number }

    /// Takes note of something that came with a version.
    mutating func need(_ version: Int) { number = max(number, version) }

    /// Takes note of an EXT-X-KEY or an EXT-X-SESSION-KEY; other session tags have no such attributes.
    mutating func need(key attributes: AttributeList) {
        if attributes.find("IV") != nil { need(2) }
        if attributes.find("KEYFORMAT") != nil || attributes.find("KEYFORMATVERSIONS") != nil { need(5) }
    }

    /// Takes note of an EXT-X-MEDIA: SERVICE in INSTREAM-ID came with 7, INSTREAM-ID beside captions with 13.
    mutating func need(media: Media) {
        guard let id = media.instreamID else { return }
        if id.hasPrefix("SERVICE") { need(7) }
        if media.type != .closedCaptions { need(13) }
    }

    /// Takes note of an EXT-X-STREAM-INF or an EXT-X-I-FRAME-STREAM-INF: attributes that a player must know came with
    /// 12.
    mutating func need(variant attributes: AttributeList) {
        if attributes.attributes.contains(where: { attributes.bytes.starts(with: "REQ-", at: $0.name) }) { need(12) }
    }
}

extension [UInt8] {
    fileprivate func starts(with prefix: String, at range: Range<Int>) -> Bool {
        self[range].starts(with: prefix.utf8)
    }
}
