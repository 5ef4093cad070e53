extension MultivariantPlaylist {
    /// Which lines the offline view lists, by their places in the playlist's arrays, and which defaults it repairs.
    struct Presence {
        /// Variants.
        private(set) var variants: Set<Int> = []
        /// EXT-X-MEDIA lines.
        private(set) var media: Set<Int> = []
        /// The EXT-X-MEDIA lines that become their group's default.
        private(set) var promoted: Set<Int> = []
        /// I-frame variants.
        private(set) var iFrameVariants: Set<Int> = []
        /// The groups with a listed member.
        private(set) var groups: Set<Media.Group> = []

        /// Works out what is listed where only `renditions` are stored.
        init(of playlist: MultivariantPlaylist, renditions: Set<Int>) {
            self.init(of: playlist, listing: playlist.wholeVariants(renditions: renditions), among: renditions)
        }

        /// Lists these variants, and of the other lines those that lead to `renditions`.
        init(of playlist: MultivariantPlaylist, listing listed: [Variant], among renditions: Set<Int>) {
            variants = Set(listed.map(\.index))
            let iFrames = playlist.iFrameVariants.filter { renditions.contains($0.renditionIndex) }
            iFrameVariants = Set(iFrames.map(\.index))
            var referenced: Set<Media.Group> = []
            for variant in listed {
                for type in Media.Kind.allCases {
                    if let id = variant.group(type) { referenced.insert(Media.Group(type: type, id: id)) }
                }
            }
            let members = playlist.media.filter {
                referenced.contains($0.group) && ($0.renditionIndex.map(renditions.contains) ?? true)
            }
            media = Set(members.map(\.index))
            groups = Set(members.map(\.group))
            promoted = Self.promotions(members, of: playlist)
        }

        /// The first listed member of each group that had a default and has lost it.
        private static func promotions(_ members: [Media], of playlist: MultivariantPlaylist) -> Set<Int> {
            let lost = Set(playlist.media.filter(\.isDefault).map(\.group))
                .subtracting(members.filter(\.isDefault).map(\.group))
            var done: Set<Media.Group> = []
            return Set(members.filter { lost.contains($0.group) && done.insert($0.group).inserted }.map(\.index))
        }
    }
}
