extension MultivariantPlaylist {
    /// Returns the playlist with only the first of each set of `mirrors`, for clients that fetch from any of them.
    ///
    /// Removes each variant that is a mirror of an earlier one, and the groups that only removed variants refer to. A
    /// variant stays if its groups have a rendition that its mirror lacks. Views omit the removed lines; the text stays
    /// unchanged. `renditionURIs` has the first URI of each set, in the order of `sets`, and `uris(ofRendition:)`
    /// returns all of them. `sets` is this playlist's `mirrors`.
    public func folded(_ sets: [[Int]]) -> MultivariantPlaylist {
        guard sets.count < renditionURIs.count else { return self }
        return MirrorFold(self, sets).result
    }
}

private struct MirrorFold {
    private(set) var result: MultivariantPlaylist
    private let playlist: MultivariantPlaylist
    private let identity: RenditionIdentity
    /// For each index of `renditionURIs`, the number of its set.
    private let sets: [Int]
    private var removedVariants: Set<Int> = []
    private var removedIFrameVariants: Set<Int> = []

    init(_ playlist: MultivariantPlaylist, _ sets: [[Int]]) {
        self.playlist = playlist
        result = playlist
        identity = RenditionIdentity(playlist)
        var numbers = [Int](repeating: 0, count: playlist.renditionURIs.count)
        for (number, set) in sets.enumerated() {
            for index in set {
                numbers[index] = number
            }
        }
        self.sets = numbers
        result.fold(sets)
        findMirrors()
        keepRemaining()
    }

    private mutating func findMirrors() {
        for candidates in Dictionary(grouping: playlist.variants, by: identity.key).values {
            let first = candidates[0]
            removedVariants.formUnion(
                candidates.dropFirst().filter { playlist.isMirror(first, $0) && isCovered($0, by: first) }.map(\.index))
        }
        for candidates in Dictionary(grouping: playlist.iFrameVariants, by: identity.key).values {
            removedIFrameVariants.formUnion(
                candidates.dropFirst().filter { playlist.isMirror(candidates[0], $0) }.map(\.index))
        }
    }

    /// True if every rendition of a variant is also a rendition of `first`.
    private func isCovered(_ variant: Variant, by first: Variant) -> Bool {
        guard sets[variant.renditionIndex] == sets[first.renditionIndex] else { return false }
        return Media.Kind.allCases.allSatisfy { type in
            let covered = Set(identity.members(type, first.group(type)).compactMap(\.renditionIndex).map { sets[$0] })
            return identity.members(type, variant.group(type)).allSatisfy { member in
                guard let index = member.renditionIndex else { return true }
                return covered.contains(sets[index])
            }
        }
    }

    private var groups: Set<Media.Group> {
        var used: Set<Media.Group> = []
        var dropped: Set<Media.Group> = []
        let variants =
            playlist.variants.map { ($0.groups, isRemoved: removedVariants.contains($0.index)) }
            + playlist.iFrameVariants.map { ($0.groups, isRemoved: removedIFrameVariants.contains($0.index)) }
        for (groups, isRemoved) in variants {
            if isRemoved {
                dropped.formUnion(groups)
            } else {
                used.formUnion(groups)
            }
        }
        return dropped.subtracting(used)
    }

    /// Stores and renumbers the remaining items.
    private mutating func keepRemaining() {
        let groups = groups
        result.variants = playlist.variants.filter { !removedVariants.contains($0.index) }
        result.iFrameVariants = playlist.iFrameVariants.filter { !removedIFrameVariants.contains($0.index) }
        result.media = playlist.media.filter { !groups.contains($0.group) }
        let variantIndices = Self.newIndices(result.variants.map(\.index))
        let iFrameIndices = Self.newIndices(result.iFrameVariants.map(\.index))
        let mediaIndices = Self.newIndices(result.media.map(\.index))
        result.entries = playlist.entries.map { line in
            let entry: MultivariantPlaylist.Entry =
                switch line.entry {
                case .variant(let index): Self.entry(at: variantIndices[index], MultivariantPlaylist.Entry.variant)
                case .variantURI(let index):
                    Self.entry(at: variantIndices[index], MultivariantPlaylist.Entry.variantURI)
                case .iFrameVariant(let index):
                    Self.entry(at: iFrameIndices[index], MultivariantPlaylist.Entry.iFrameVariant)
                case .media(let index): Self.entry(at: mediaIndices[index], MultivariantPlaylist.Entry.media)
                default: line.entry
                }
            return MultivariantPlaylist.LineEntry(line: line.line, entry: entry)
        }
        renumber()
    }

    private static func entry(
        at index: Int?, _ entry: (Int) -> MultivariantPlaylist.Entry
    ) -> MultivariantPlaylist.Entry {
        guard let index else { return .mirror }
        return entry(index)
    }

    private mutating func renumber() {
        for index in result.variants.indices {
            Self.renumber(&result.variants[index], to: index, sets: sets)
        }
        for index in result.iFrameVariants.indices {
            Self.renumber(&result.iFrameVariants[index], to: index, sets: sets)
        }
        for index in result.media.indices {
            result.media[index].index = index
            result.media[index].renditionIndex = result.media[index].renditionIndex.map { sets[$0] }
        }
    }

    private static func renumber(_ variant: inout some VariantLine, to index: Int, sets: [Int]) {
        variant.index = index
        variant.renditionIndex = sets[variant.renditionIndex]
    }

    private static func newIndices(_ indices: [Int]) -> [Int: Int] {
        Dictionary(uniqueKeysWithValues: indices.enumerated().map { ($0.element, $0.offset) })
    }
}
