/// Options for a view of a multivariant playlist.
public struct MultivariantView: Sendable {
    /// Keeps EXT-X-CONTENT-STEERING and PATHWAY-ID, which would let the player bypass Weir.
    var keepsSteering: Bool
    /// Corrects EXT-X-VERSION and puts TIME-OFFSET first, as in `MediaPlaylistView`.
    var isCorrected = true
    /// Requires relative names for media playlists and keys, so that the folder can be moved.
    var isRelative = false
    /// The unchanged playlist, except for new names.
    public static let relay = Self(keepsSteering: true, isCorrected: false)
    /// The view for players: corrected, without steering.
    public static let player = Self(keepsSteering: false)
    /// The view in a bundle on disk: as `player`, with relative names.
    public static let bundle = Self(keepsSteering: false, isRelative: true)
}

extension MultivariantPlaylist {
    /// A reference that a view may rename.
    public enum Reference: Sendable {
        case variant(Variant)
        /// Only lines with a URI.
        case media(Media)
        case iFrameVariant(IFrameVariant)
        case sessionKey(Key)
        /// Only lines with a URI.
        case sessionData(SessionData)
        case imageVariant(ImageVariant)
        /// Only if the view keeps content steering.
        case steering(ContentSteering)

        /// Index of the URI in `renditionURIs`; nil if it does not name a media playlist.
        public var renditionIndex: Int? {
            switch self {
            case .variant(let variant): variant.renditionIndex
            case .media(let media): media.renditionIndex
            case .iFrameVariant(let variant): variant.renditionIndex
            case .sessionKey, .sessionData, .imageVariant, .steering: nil
            }
        }
    }

    /// Returns the new URI of a reference, or nil to keep it.
    public typealias Naming = (Reference) -> String?

    /// Writes the playlist with new names and all variants and renditions. Weir fetches those that are not stored.
    ///
    /// `naming` is called in the order of the written lines. What the view does not change is copied byte for byte, except
    /// EXT-X-DEFINE, whose variables have been replaced. `first` has the indices of the `variants` to put first, because
    /// players begin with the first variant. Throws `.unsafeName` for a name that would break out of its position.
    public func rendered(
        _ view: MultivariantView = .player, first: Set<Int> = [], naming: Naming
    ) throws(PlaylistError) -> [UInt8] {
        var renderer = MultivariantRenderer(playlist: self, view: view, listing: nil)
        renderer.putFirst(first)
        return try renderer.run(naming)
    }

    /// Writes the offline view, which lists what can be played from the store; nil if no variant can.
    ///
    /// `renditions` holds the indices in `renditionURIs` of the media playlists that are completely stored. The view
    /// lists the variants of `completeVariants(renditions:)`, the stored I-frame variants, and the EXT-X-MEDIA lines that
    /// belong to a group of a listed variant and are stored or have no URI (muxed media, closed captions). If a group's
    /// default is not listed, its first listed member becomes DEFAULT=YES,AUTOSELECT=YES. References to groups without
    /// a listed member are removed. Image variants, session keys and session data without a name from `naming` are
    /// omitted. Everything else is as in `rendered(_:naming:)`.
    /// - Parameter listsAllMedia: true to list the EXT-X-MEDIA lines of these variants that are not stored, too.
    public func stored(
        _ view: MultivariantView = .player, renditions: Set<Int>, listsAllMedia: Bool = false, naming: Naming
    ) throws(PlaylistError) -> [UInt8]? {
        let listing = Listing(of: self, renditions: renditions, listsAllMedia: listsAllMedia)
        guard !listing.variants.isEmpty else { return nil }
        var renderer = MultivariantRenderer(playlist: self, view: view, listing: listing)
        return try renderer.run(naming)
    }

    /// Writes the playlist with only one variant and its renditions: the EXT-X-MEDIA lines of its groups that are among
    /// `renditions` or have no URI. Everything else is as in `stored(_:renditions:naming:)`. `renditions` has indices
    /// in `renditionURIs`; the variant's own index is not required.
    public func rendered(
        _ view: MultivariantView = .player, only variant: Variant, among renditions: Set<Int>,
        naming: Naming
    ) throws(PlaylistError) -> [UInt8] {
        let listing = Listing(of: self, listing: [variant], among: renditions)
        var renderer = MultivariantRenderer(playlist: self, view: view, listing: listing)
        return try renderer.run(naming)
    }

    /// Writes the playlist without some renditions, which cannot be played: their variants, and their EXT-X-MEDIA lines. The
    /// variants that need a group of which nothing is left go too, unless no variant would be left: then picture or sound alone
    /// is better than nothing. Nil if no variant is left. Everything else is as in `rendered(_:naming:)`.
    public func rendered(
        _ view: MultivariantView = .player, without absent: Set<Int>, naming: Naming
    ) throws(PlaylistError) -> [UInt8]? {
        let left = Set(renditionURIs.indices).subtracting(absent)
        var listed = completeVariants(renditions: left)
        if listed.isEmpty {
            listed = variants.filter { left.contains($0.renditionIndex) }
        }
        guard !listed.isEmpty else { return nil }
        var renderer = MultivariantRenderer(
            playlist: self, view: view, listing: Listing(of: self, listing: listed, among: left))
        return try renderer.run(naming)
    }

    /// Returns the variants that a player may begin with instead of the first one, because they need only these renditions.
    ///
    /// They must be audio-only exactly if the first variant is: a viewer who expects a picture must not get audio only,
    /// and a listener must not pay for a picture. Empty if the first variant is itself among them.
    public func initialChoice(of renditions: Set<Int>) -> Set<Int> {
        guard !renditions.isEmpty, let first = variants.first else { return [] }
        let complete = completeVariants(renditions: renditions).filter { $0.isAudioOnly == first.isAudioOnly }
        guard !complete.contains(where: { $0.index == first.index }) else { return [] }
        return Set(complete.map(\.index))
    }

    /// True if the variants with the highest BANDWIDTH can be played from the stored renditions alone, and no variant with a larger
    /// picture is missing.
    public func isHighestComplete(renditions: Set<Int>) -> Bool {
        guard let most = variants.map(\.bandwidth).max() else { return false }
        let complete = completeVariants(renditions: renditions)
        let indices = Set(complete.map(\.index))
        let largest = complete.map(Self.pixels(of:)).max() ?? 0

        return variants.allSatisfy { variant in
            let isSurpassed = variant.bandwidth < most && Self.pixels(of: variant) <= largest
            return isSurpassed || indices.contains(variant.index)
        }
    }

    private static func pixels(of variant: Variant) -> Int {
        guard let resolution = variant.resolution else { return 0 }
        return resolution.width * resolution.height
    }

    /// Returns the variants that can be played from the stored renditions alone.
    ///
    /// A variant's media playlist must be among `renditions`. Its AUDIO and VIDEO groups must each have a member that
    /// is stored or has no URI; otherwise the variant might lack sound or picture. Subtitles are not required. A
    /// reference to an undefined group is ignored: players then use the muxed media.
    public func completeVariants(renditions: Set<Int>) -> [Variant] {
        if renditions.isEmpty {
            return []
        }
        // Judged once for each group: a playlist may have 10,000 variants, and a group 10,000 members.
        var isAvailable: [Media.Group: Bool] = [:]
        for member in media where !(isAvailable[member.group] ?? false) {
            isAvailable[member.group] = member.renditionIndex.map(renditions.contains) ?? true
        }

        return variants.filter { variant in
            guard renditions.contains(variant.renditionIndex) else { return false }
            return [Media.Kind.audio, .video].allSatisfy { type in
                guard let id = variant.group(type) else { return true }
                return isAvailable[Media.Group(type: type, id: id), default: true]
            }
        }
    }
}

extension MultivariantPlaylist {
    /// The lines that the offline view lists, as indices in the playlist's arrays, and the defaults that it repairs.
    struct Listing {
        private(set) var variants: Set<Int> = []
        private(set) var media: Set<Int> = []
        /// EXT-X-MEDIA lines that become their group's default.
        private(set) var promoted: Set<Int> = []
        private(set) var iFrameVariants: Set<Int> = []
        private(set) var groups: Set<Media.Group> = []

        init(of playlist: MultivariantPlaylist, renditions: Set<Int>, listsAllMedia: Bool) {
            let complete = Self.folded(playlist.completeVariants(renditions: renditions))
            var media: [Int] = []
            if listsAllMedia {
                media = playlist.media.compactMap(\.renditionIndex)
            }
            self.init(of: playlist, listing: complete, among: renditions.union(media))
        }

        /// libavformat opens the playlist of each line, and fails beyond 1,000 streams.
        private static let largestListing = 256

        /// Returns the variants, of a long list only the first one for each rendition and its groups.
        private static func folded(_ variants: [Variant]) -> [Variant] {
            guard variants.count > largestListing else { return variants }
            var known: Set<[String]> = []
            return variants.filter { variant in
                let groups = Media.Kind.allCases.map { type in
                    variant.group(type) ?? ""
                }
                return known.insert(["\(variant.renditionIndex)"] + groups).inserted
            }
        }

        /// Lists these variants, and the other lines that refer to `renditions`.
        init(of playlist: MultivariantPlaylist, listing listed: [Variant], among renditions: Set<Int>) {
            variants = Set(listed.map(\.index))
            let iFrames = playlist.iFrameVariants.filter { renditions.contains($0.renditionIndex) }
            iFrameVariants = Set(iFrames.map(\.index))

            let referenced = Set(listed.flatMap(\.groups))
            let members = playlist.media.filter {
                referenced.contains($0.group) && ($0.renditionIndex.map(renditions.contains) ?? true)
            }
            media = Set(members.map(\.index))
            groups = Set(members.map(\.group))
            promoted = Self.promotions(members, of: playlist)
        }

        /// Returns the first listed member of each group whose default is not listed.
        private static func promotions(_ members: [Media], of playlist: MultivariantPlaylist) -> Set<Int> {
            let withDefault = Set(playlist.media.filter(\.isDefault).map(\.group))
            let kept = members.filter(\.isDefault).map(\.group)
            var lost = withDefault.subtracting(kept)

            var promoted: Set<Int> = []
            for member in members where lost.remove(member.group) != nil {
                promoted.insert(member.index)
            }
            return promoted
        }
    }
}
