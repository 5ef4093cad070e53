extension MultivariantPlaylist {
    /// Partitions the indices of `renditionURIs` into sets, one per rendition, of its mirrors in text order.
    ///
    /// Mirrors are variants with the same STABLE-VARIANT-ID, and variants with equal attributes in different pathways
    /// of content steering (rfc8216bis §4.4.6.2, §7) or on different hosts (RFC 8216 §6.2.4, redundant variants),
    /// together with the renditions of their groups. Variants with equal attributes on the same host are not mirrors,
    /// because their author may mean different things: see `possibleMirrors`.
    public var mirrors: [[Int]] {
        let identity = RenditionIdentity(self)
        var sets = DisjointSets(count: renditionURIs.count)
        for candidates in Dictionary(grouping: variants, by: identity.key).values where candidates.count > 1 {
            for candidate in candidates.dropFirst() where isMirror(candidates[0], candidate) {
                sets.join(candidates[0].renditionIndex, candidate.renditionIndex)
                join(candidates[0], candidate, by: identity, in: &sets)
            }
        }
        for candidates in Dictionary(grouping: iFrameVariants, by: identity.key).values {
            for candidate in candidates.dropFirst() where isMirror(candidates[0], candidate) {
                sets.join(candidates[0].renditionIndex, candidate.renditionIndex)
            }
        }
        for candidates in Dictionary(grouping: media.filter { $0.stableID != nil }, by: identity.key).values {
            for candidate in candidates.dropFirst() {
                join(candidates[0], candidate, in: &sets)
            }
        }
        return sets.all
    }

    /// A playlist may have 10,000 lines with equal attributes. Each possible mirror costs requests.
    private static let maximumPossibleMirrors = 8

    /// The variants that may be mirrors although they are on one host, as indices in `renditionURIs`: for each those with
    /// equal attributes. Authors who give all lines the same attributes mean different qualities, so their playlists and
    /// media must be compared first. Made of a `folded` playlist, it has no known mirrors.
    public var possibleMirrors: [Int: [Int]] {
        let identity = RenditionIdentity(self)
        var found: [Int: [Int]] = [:]
        for candidates in Dictionary(grouping: variants, by: identity.key).values where candidates.count > 1 {
            let indices = Set(candidates.map(\.renditionIndex)).sorted()
            for index in indices where found[index] == nil {
                found[index] = Array(indices.lazy.filter { $0 != index }.prefix(Self.maximumPossibleMirrors))
            }
        }
        return found.filter { !$0.value.isEmpty }
    }

    /// Returns, for each index of `renditionURIs`, the index of the same rendition in an earlier text; nil for a new rendition.
    ///
    /// A rendition is identified by its stable id, else by its first line's attributes; equal ones match in order.
    public func renditionIndices(in earlier: MultivariantPlaylist) -> [Int?] {
        var known: [RenditionIdentity.Key: [Int]] = [:]
        for (index, key) in earlier.identityKeys.enumerated().reversed() {
            known[key, default: []].append(index)
        }
        return identityKeys.map { known[$0]?.popLast() }
    }

    private var identityKeys: [RenditionIdentity.Key] {
        let identity = RenditionIdentity(self)
        var keys = [RenditionIdentity.Key?](repeating: nil, count: renditionURIs.count)
        func put(_ index: Int, _ key: RenditionIdentity.Key) { keys[index] = keys[index] ?? key }
        for variant in variants {
            put(variant.renditionIndex, identity.key(variant))
        }
        for media in media {
            // Groups with equal members, one per quality, differ only by name.
            if let index = media.renditionIndex {
                put(index, identity.key(media) + [media.groupID])
            }
        }
        for variant in iFrameVariants {
            put(variant.renditionIndex, identity.key(variant))
        }
        return keys.map { key in
            key ?? []
        }
    }

    private func join(
        _ first: Variant, _ second: Variant, by identity: RenditionIdentity, in sets: inout DisjointSets
    ) {
        for type in Media.Kind.allCases where first.group(type) != second.group(type) {
            let others = Dictionary(grouping: identity.members(type, second.group(type)), by: identity.key)
            for member in identity.members(type, first.group(type)) {
                if let other = others[identity.key(member)]?.first {
                    join(member, other, in: &sets)
                }
            }
        }
    }

    private func join(_ first: Media, _ second: Media, in sets: inout DisjointSets) {
        if let one = first.renditionIndex, let other = second.renditionIndex {
            sets.join(one, other)
        }
    }

    func isMirror<Line: VariantLine>(_ first: Line, _ second: Line) -> Bool {
        first.stableID != nil && first.uri != second.uri || first.pathwayID != second.pathwayID
            || Self.host(first.uri) != Self.host(second.uri)
    }

    /// Returns the authority of a URI in lowercase; empty for a relative URI.
    private static func host(_ uri: String) -> String {
        let parts = uri.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[1].isEmpty, parts[0].isEmpty || parts[0].last == UInt8(ascii: ":") else {
            return ""
        }
        return String(Substring(parts[2])).lowercased()
    }
}

/// Disjoint sets of indices (union-find).
private struct DisjointSets {
    private var parents: [Int]
    init(count: Int) { parents = Array(0..<count) }

    mutating func join(_ first: Int, _ second: Int) {
        let one = root(first)
        let other = root(second)
        parents[max(one, other)] = min(one, other)
    }

    /// All sets, ordered by their smallest index.
    var all: [[Int]] { Dictionary(grouping: parents.indices, by: root).values.sorted { $0[0] < $1[0] } }

    private func root(_ number: Int) -> Int {
        var number = number
        while parents[number] != number {
            number = parents[number]
        }
        return number
    }
}

/// Identifies lines of a multivariant playlist without their URIs, because hosts change and tokens expire.
struct RenditionIdentity {
    /// Identity of a line: its STABLE-VARIANT-ID or STABLE-RENDITION-ID, else all attributes but those of location.
    typealias Key = [String]
    private let playlist: MultivariantPlaylist
    private let groups: [Media.Group: [Media]]
    /// The key of each group: a fingerprint of its members' keys, since 10,000 variants may name a group of 10,000 members.
    private let groupKeys: [Media.Group: String]

    init(_ playlist: MultivariantPlaylist) {
        self.playlist = playlist
        groups = Dictionary(grouping: playlist.media, by: \.group)
        groupKeys = groups.mapValues { members in
            let keys = members.map(Self.key).sorted { $0.lexicographicallyPrecedes($1) }
            return Self.fingerprint(keys)
        }
    }

    /// Returns the key of a variant. A group contributes the keys of its members, not its name.
    func key(_ variant: Variant) -> Key {
        if let id = variant.stableID {
            return ["variant", id]
        }
        let groups = Media.Kind.allCases.map(\.rawValue)
        return ["variant"] + Self.key(variant.attributes, without: Self.locations.union(groups))
            + Media.Kind.allCases.flatMap { [$0.rawValue] + key($0, variant.group($0)) }
    }

    /// Without members, the group's name is all that distinguishes it from another one.
    private func key(_ type: Media.Kind, _ id: String?) -> Key {
        guard let id else { return [] }
        return [groupKeys[Media.Group(type: type, id: id)] ?? id]
    }

    /// Texts of one fingerprint are equal but for a chance of 2^-64 (FNV-1a); their number distinguishes lists too.
    private static func fingerprint(_ keys: [Key]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for key in keys {
            for word in key {
                word.utf8.forEach(add)
                add(0)
            }
            add(1)
        }
        return "\(keys.count) members \(hash)"
    }

    func key(_ variant: IFrameVariant) -> Key {
        if let id = variant.stableID {
            return ["iframes", id]
        }
        return ["iframes"] + Self.key(variant.attributes, without: Self.locations.union(["VIDEO"]))
    }

    /// Returns the key of a rendition within its group.
    func key(_ media: Media) -> Key { Self.key(media) }

    private static func key(_ media: Media) -> Key {
        if let id = media.stableID {
            return [media.type.rawValue, id]
        }
        return [media.type.rawValue] + key(media.attributes, without: locations.union(["GROUP-ID"]))
    }

    func members(_ type: Media.Kind, _ id: String?) -> [Media] {
        guard let id else { return [] }
        return groups[Media.Group(type: type, id: id), default: []]
    }

    /// Attributes that describe a location, not the content.
    private static let locations: Set<String> = [
        "URI", "PATHWAY-ID", "STABLE-VARIANT-ID", "STABLE-RENDITION-ID", "PROGRAM-ID", "SCORE",
    ]

    private static func key(_ attributes: AttributeList, without left: Set<String>) -> Key {
        let texts = attributes.attributes.compactMap { attribute -> String? in
            let name = attributes.bytes.text(attribute.name)
            guard !left.contains(name) else { return nil }
            return "\(name)=\(attributes.bytes.text(attribute.content))"
        }
        return texts.sorted()
    }
}
