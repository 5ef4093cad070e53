/// What a view of a multivariant playlist keeps.
public struct MultivariantView: Sendable {
    /// Whether EXT-X-CONTENT-STEERING and PATHWAY-ID stay: they would lead the player past Weir.
    public var keepsSteering: Bool
    /// Whether EXT-X-VERSION says what is needed, and TIME-OFFSET comes first, as in `MediaPlaylistView`.
    public var isMended: Bool
    /// Whether every new name of a media playlist or a key must be relative, so that the folder can be moved.
    public var isRelative: Bool

    /// The playlist as it is: names alone change.
    public static let relay = Self(keepsSteering: true, isMended: false)
    /// What a player gets: without steering, and mended.
    public static let player = Self(keepsSteering: false)
    /// What a bundle has on disk: as `player`, with relative names.
    public static let bundle = Self(keepsSteering: false, isRelative: true)

    /// Any combination.
    public init(keepsSteering: Bool, isMended: Bool = true, isRelative: Bool = false) {
        self.keepsSteering = keepsSteering
        self.isMended = isMended
        self.isRelative = isRelative
    }
}

extension MultivariantPlaylist {
    /// A place where a view may put another name.
    public enum Reference: Sendable {
        case variant(Variant)
        /// Only those with a URI.
        case media(Media)
        case iFrameVariant(IFrameVariant)
        case sessionKey(Key)
        /// Only those with a URI.
        case sessionData(SessionData)
        case imageVariant(ImageVariant)
        /// Only where the view keeps content steering.
        case steering(ContentSteering)

        /// The place of the URI in `renditionURIs`, where it names a media playlist.
        public var renditionIndex: Int? {
            switch self {
            case .variant(let variant): variant.renditionIndex
            case .media(let media): media.renditionIndex
            case .iFrameVariant(let variant): variant.renditionIndex
            case .sessionKey, .sessionData, .imageVariant, .steering: nil
            }
        }
    }

    /// Writes the playlist with other names: all variants and renditions, for a player that Weir fetches the rest for.
    ///
    /// `naming` gives the new URI of a place, or nil to leave it as it is; it is called in the order of the lines that
    /// are written. What the view does not change comes out byte for byte, but for EXT-X-DEFINE, whose variables have
    /// been replaced. Throws `.unsafeName` for a name that could break out of its place.
    ///
    /// - Parameter first: the places in `variants` of those that stand in front of the others, in the order of the
    ///   text: players begin with the first one.
    public func rendered(
        _ view: MultivariantView = .player, first: Set<Int> = [], naming: (Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        var renderer = MultivariantRenderer(playlist: self, view: view, presence: nil)
        renderer.putFirst(first)
        return try renderer.run(naming)
    }

    /// Writes the offline view: what can be played from what is stored; nil where no variant can.
    ///
    /// `renditions` holds the places in `renditionURIs` of the media playlists that are stored whole. Listed are the
    /// variants of `wholeVariants(renditions:)`, the I-frame variants that are stored, and of the EXT-X-MEDIA lines
    /// those whose group a listed variant refers to and which are stored or have no URI (muxed, closed captions). Where
    /// the default of a group is not listed, the first one that is becomes DEFAULT=YES,AUTOSELECT=YES. References to
    /// groups without a listed member are taken out. Image variants, session keys and session data whose URI `naming`
    /// gives no name for are left out. Everything else is as in `rendered(_:naming:)`.
    public func stored(
        _ view: MultivariantView = .player, renditions: Set<Int>, naming: (Reference) -> String?
    ) throws(PlaylistError) -> [UInt8]? {
        let presence = Presence(of: self, renditions: renditions)
        guard !presence.variants.isEmpty else { return nil }
        var renderer = MultivariantRenderer(playlist: self, view: view, presence: presence)
        return try renderer.run(naming)
    }

    /// Writes the playlist with one variant alone, and what belongs to it: of the EXT-X-MEDIA lines those whose group
    /// it refers to and which are among `renditions` or have no URI, and otherwise what `stored(_:renditions:naming:)`
    /// would list.
    ///
    /// - Parameter renditions: places in `renditionURIs`; that of the variant itself does not count.
    public func rendered(
        _ view: MultivariantView = .player, only variant: Variant, among renditions: Set<Int>,
        naming: (Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        let presence = Presence(of: self, listing: [variant], among: renditions)
        var renderer = MultivariantRenderer(playlist: self, view: view, presence: presence)
        return try renderer.run(naming)
    }

    /// The variants that a player may begin with in place of the first one because they play with nothing but these
    /// renditions.
    ///
    /// Not every one will do: who would see a picture must not get sound alone, and who would get sound alone is not to
    /// pay for a picture. Where the first one itself is among them, nothing is to be changed.
    public func initialChoice(of renditions: Set<Int>) -> Set<Int> {
        guard !renditions.isEmpty, let first = variants.first else { return [] }
        let whole = wholeVariants(renditions: renditions).filter { $0.isAudioOnly == first.isAudioOnly }
        return whole.contains { $0.index == first.index } ? [] : Set(whole.map(\.index))
    }

    /// The variants that play with nothing but the stored renditions.
    ///
    /// Its own media playlist must be among `renditions`, and of the AUDIO and the VIDEO group that it refers to at
    /// least one member must be stored or have no URI: without one the variant might have no sound, or no picture.
    /// Subtitles do not count. A reference to a group that no line defines does not count either: players then use what
    /// is muxed.
    public func wholeVariants(renditions: Set<Int>) -> [Variant] {
        let groups = Dictionary(grouping: media, by: \.group)
        return variants.filter { variant in
            guard renditions.contains(variant.renditionIndex) else { return false }
            return [Media.Kind.audio, .video].allSatisfy { type in
                guard let id = variant.group(type), let members = groups[Media.Group(type: type, id: id)] else {
                    return true
                }
                return members.contains { $0.renditionIndex.map(renditions.contains) ?? true }
            }
        }
    }
}
