/// What the lines of a multivariant playlist are known by, whatever their URIs: hosts move, and tokens expire.
struct RenditionIdentity {
    /// What a line is known by: its STABLE-VARIANT-ID or STABLE-RENDITION-ID where it has one, and else all of its
    /// other attributes, in which those that name places do not count.
    typealias Key = [String]

    private let playlist: MultivariantPlaylist
    private let groups: [Media.Group: [Media]]

    init(_ playlist: MultivariantPlaylist) {
        self.playlist = playlist
        groups = Dictionary(grouping: playlist.media, by: \.group)
    }

    /// The key of a variant. Groups count by what their members are, and not by their names.
    func key(_ variant: Variant) -> Key {
        if let id = variant.stableID { return ["variant", id] }
        let own = Self.key(variant.attributes, without: Self.places.union(Media.Kind.allCases.map(\.rawValue)))
        return ["variant"] + own
            + Media.Kind.allCases.flatMap { type in
                [type.rawValue]
                    + members(type, variant.group(type)).map(key).sorted { $0.lexicographicallyPrecedes($1) }
                    .flatMap { $0 }
            }
    }

    /// The key of an I-frame variant.
    func key(_ variant: IFrameVariant) -> Key {
        if let id = variant.stableID { return ["iframes", id] }
        return ["iframes"] + Self.key(variant.attributes, without: Self.places.union(["VIDEO"]))
    }

    /// The key of a rendition within its group.
    func key(_ media: Media) -> Key {
        if let id = media.stableID { return [media.type.rawValue, id] }
        return [media.type.rawValue] + Self.key(media.attributes, without: Self.places.union(["GROUP-ID"]))
    }

    /// The renditions that a variant refers to.
    func members(_ type: Media.Kind, _ id: String?) -> [Media] {
        id.flatMap { groups[Media.Group(type: type, id: $0)] } ?? []
    }

    /// Attributes that say where something is, and not what.
    private static let places: Set<String> = [
        "URI", "PATHWAY-ID", "STABLE-VARIANT-ID", "STABLE-RENDITION-ID", "PROGRAM-ID", "SCORE",
    ]

    private static func key(_ attributes: AttributeList, without left: Set<String>) -> Key {
        attributes.attributes.compactMap { attribute in
            let name = attributes.bytes.text(attribute.name)
            return left.contains(name) ? nil : "\(name)=\(attributes.bytes.text(attribute.content))"
        }.sorted()
    }
}
