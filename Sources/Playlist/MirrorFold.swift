extension MultivariantPlaylist {
    /// The playlist with the first of each set of `mirrors` alone, for those who fetch from whichever answers.
    ///
    /// A variant goes where one before it is its mirror, and with it the groups that only such variants refer to; a
    /// variant with a rendition in its groups that its mirror lacks stays. Every view leaves the lines out.
    /// `renditionURIs` has the first URI of each set, in the order of `sets`, and `uris(ofRendition:)` all of them. The
    /// text stays as it was read.
    ///
    /// - Parameter sets: this playlist's `mirrors`.
    public func folded(_ sets: [[Int]]) -> MultivariantPlaylist {
        guard sets.count < renditionURIs.count else { return self }
        return MirrorFold(self, sets).result
    }
}

/// Takes the lines of mirrors out of a playlist.
private struct MirrorFold {
    private(set) var result: MultivariantPlaylist
    private let playlist: MultivariantPlaylist
    private let identity: RenditionIdentity
    /// The set of each place.
    private var sets: [Int]
    private var variants: Set<Int> = []
    private var iFrameVariants: Set<Int> = []

    init(_ playlist: MultivariantPlaylist, _ sets: [[Int]]) {
        self.playlist = playlist
        result = playlist
        identity = RenditionIdentity(playlist)
        self.sets = [Int](repeating: 0, count: playlist.renditionURIs.count)
        for (number, set) in sets.enumerated() {
            for place in set { self.sets[place] = number }
        }
        result.fold(sets)
        findMirrors()
        keepOthers()
    }

    /// The variants that go.
    private mutating func findMirrors() {
        for twins in Dictionary(grouping: playlist.variants, by: identity.key).values {
            let first = twins[0]
            variants.formUnion(
                twins.dropFirst().filter { playlist.isMirror(first, $0) && isCovered($0, by: first) }.map(\.index))
        }
        for twins in Dictionary(grouping: playlist.iFrameVariants, by: identity.key).values {
            iFrameVariants.formUnion(twins.dropFirst().filter { playlist.isMirror(twins[0], $0) }.map(\.index))
        }
    }

    /// Whether every rendition that a variant refers to is one of another's.
    private func isCovered(_ variant: Variant, by first: Variant) -> Bool {
        guard sets[variant.renditionIndex] == sets[first.renditionIndex] else { return false }
        return Media.Kind.allCases.allSatisfy { type in
            let there = Set(identity.members(type, first.group(type)).compactMap(\.renditionIndex).map { sets[$0] })
            return identity.members(type, variant.group(type)).allSatisfy { member in
                member.renditionIndex.map { there.contains(sets[$0]) } ?? true
            }
        }
    }

    /// The groups that nobody refers to any more.
    private var groups: Set<Media.Group> {
        let left =
            playlist.variants.filter { !variants.contains($0.index) }.flatMap(Self.groups)
            + playlist.iFrameVariants.filter { !iFrameVariants.contains($0.index) }.flatMap(Self.groups)
        let gone =
            playlist.variants.filter { variants.contains($0.index) }.flatMap(Self.groups)
            + playlist.iFrameVariants.filter { iFrameVariants.contains($0.index) }.flatMap(Self.groups)
        return Set(gone).subtracting(left)
    }

    private static func groups(_ variant: Variant) -> [Media.Group] {
        Media.Kind.allCases.compactMap { type in variant.group(type).map { Media.Group(type: type, id: $0) } }
    }

    private static func groups(_ variant: IFrameVariant) -> [Media.Group] {
        variant.video.map { [Media.Group(type: .video, id: $0)] } ?? []
    }

    /// Renumbers what stays.
    private mutating func keepOthers() {
        let groups = groups
        result.variants = playlist.variants.filter { !variants.contains($0.index) }
        result.iFrameVariants = playlist.iFrameVariants.filter { !iFrameVariants.contains($0.index) }
        result.media = playlist.media.filter { !groups.contains($0.group) }
        let variantPlaces = Self.places(result.variants.map(\.index))
        let iFramePlaces = Self.places(result.iFrameVariants.map(\.index))
        let mediaPlaces = Self.places(result.media.map(\.index))
        result.entries = playlist.entries.map { placed in
            let entry: MultivariantPlaylist.Entry =
                switch placed.entry {
                case .variant(let index): variantPlaces[index].map { .variant($0) } ?? .mirror
                case .variantURI(let index): variantPlaces[index].map { .variantURI($0) } ?? .mirror
                case .iFrameVariant(let index): iFramePlaces[index].map { .iFrameVariant($0) } ?? .mirror
                case .media(let index): mediaPlaces[index].map { .media($0) } ?? .mirror
                default: placed.entry
                }
            return MultivariantPlaylist.PlacedEntry(line: placed.line, entry: entry)
        }
        renumber()
    }

    private mutating func renumber() {
        for index in result.variants.indices {
            result.variants[index].index = index
            result.variants[index].renditionIndex = sets[result.variants[index].renditionIndex]
        }
        for index in result.iFrameVariants.indices {
            result.iFrameVariants[index].index = index
            result.iFrameVariants[index].renditionIndex = sets[result.iFrameVariants[index].renditionIndex]
        }
        for index in result.media.indices {
            result.media[index].index = index
            result.media[index].renditionIndex = result.media[index].renditionIndex.map { sets[$0] }
        }
    }

    private static func places(_ indices: [Int]) -> [Int: Int] {
        Dictionary(uniqueKeysWithValues: indices.enumerated().map { ($0.element, $0.offset) })
    }
}
