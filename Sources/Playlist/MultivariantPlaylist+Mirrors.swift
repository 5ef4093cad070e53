extension MultivariantPlaylist {
    /// The places in `renditionURIs`, by what they lead to: each set holds the mirrors of one rendition, in the order
    /// of the text, and every place stands in one set.
    ///
    /// Mirrors are variants of one STABLE-VARIANT-ID, and variants with the same attributes in different pathways of
    /// content steering (rfc8216bis §4.4.6.2, §7) or on different hosts (RFC 8216 §6.2.4: redundant variants); and with
    /// them the renditions of the groups that they refer to. Variants with the same attributes on one host are not
    /// taken for mirrors: their author may mean two things.
    public var mirrors: [[Int]] {
        let identity = RenditionIdentity(self)
        var sets = DisjointSets(count: renditionURIs.count)
        for twins in Dictionary(grouping: variants, by: identity.key).values where twins.count > 1 {
            for twin in twins.dropFirst() where isMirror(twins[0], twin) {
                sets.join(twins[0].renditionIndex, twin.renditionIndex)
                join(twins[0], twin, identity, &sets)
            }
        }
        for twins in Dictionary(grouping: iFrameVariants, by: identity.key).values {
            for twin in twins.dropFirst() where isMirror(twins[0], twin) {
                sets.join(twins[0].renditionIndex, twin.renditionIndex)
            }
        }
        for twins in Dictionary(grouping: media.filter { $0.stableID != nil }, by: identity.key).values {
            for twin in twins.dropFirst() { join(twins[0], twin, &sets) }
        }
        return sets.all
    }

    /// The places in an earlier text of what this one's `renditionURIs` lead to; nil for what is new.
    ///
    /// A rendition is known by its stable id, else by the attributes of the first line that names it; of several that
    /// are alike, the first is the first.
    public func places(in earlier: MultivariantPlaylist) -> [Int?] {
        var known: [RenditionIdentity.Key: [Int]] = [:]
        for (place, key) in earlier.identityKeys.enumerated().reversed() { known[key, default: []].append(place) }
        return identityKeys.map { known[$0]?.popLast() }
    }

    private var identityKeys: [RenditionIdentity.Key] {
        let identity = RenditionIdentity(self)
        var keys = [RenditionIdentity.Key?](repeating: nil, count: renditionURIs.count)
        func put(_ place: Int, _ key: RenditionIdentity.Key) { keys[place] = keys[place] ?? key }
        for variant in variants { put(variant.renditionIndex, identity.key(variant)) }
        for media in media {
            // Groups of the same members, one a quality, differ by name alone.
            if let place = media.renditionIndex { put(place, identity.key(media) + [media.groupID]) }
        }
        for variant in iFrameVariants { put(variant.renditionIndex, identity.key(variant)) }
        return keys.map { $0 ?? [] }
    }

    /// Joins the renditions of the groups of two mirrors that are alike.
    private func join(_ first: Variant, _ second: Variant, _ identity: RenditionIdentity, _ sets: inout DisjointSets) {
        for type in Media.Kind.allCases where first.group(type) != second.group(type) {
            let others = Dictionary(grouping: identity.members(type, second.group(type)), by: identity.key)
            for member in identity.members(type, first.group(type)) {
                if let other = others[identity.key(member)]?.first { join(member, other, &sets) }
            }
        }
    }

    private func join(_ first: Media, _ second: Media, _ sets: inout DisjointSets) {
        if let one = first.renditionIndex, let other = second.renditionIndex { sets.join(one, other) }
    }

    /// Whether two variants that `RenditionIdentity` has one key for are mirrors.
    func isMirror(_ first: Variant, _ second: Variant) -> Bool {
        first.stableID != nil && first.uri != second.uri || first.pathwayID != second.pathwayID
            || isElsewhere(first.uri, second.uri)
    }

    /// Whether two I-frame variants that `RenditionIdentity` has one key for are mirrors.
    func isMirror(_ first: IFrameVariant, _ second: IFrameVariant) -> Bool {
        first.stableID != nil && first.uri != second.uri || first.pathwayID != second.pathwayID
            || isElsewhere(first.uri, second.uri)
    }

    private func isElsewhere(_ first: String, _ second: String) -> Bool { Self.host(first) != Self.host(second) }

    /// Scheme and authority as written; empty for a relative URI.
    private static func host(_ uri: String) -> String {
        let parts = uri.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[1].isEmpty, parts[0].isEmpty || parts[0].last == UInt8(ascii: ":") else {
            return ""
        }
        return String(Substring(parts[2])).lowercased()
    }
}

/// Sets of small numbers that can be joined.
private struct DisjointSets {
    private var parents: [Int]

    init(count: Int) { parents = Array(0..<count) }

    mutating func join(_ first: Int, _ second: Int) {
        let (one, other) = (root(first), root(second))
        parents[max(one, other)] = min(one, other)
    }

    /// Every set, ordered by its smallest number.
    var all: [[Int]] {
        Dictionary(grouping: parents.indices, by: root).values.sorted { $0[0] < $1[0] }
    }

    private func root(_ number: Int) -> Int {
        var number = number
        while parents[number] != number { number = parents[number] }
        return number
    }
}
