/// Tracks that are added to a presentation beside those of its own playlist: lines for its multivariant playlist. Pure.
public struct AddedTracks: Equatable, Sendable {
    /// A rendition with TYPE=SUBTITLES.
    public struct Subtitles: Equatable, Sendable {
        /// NAME; another one of the group may have it as well.
        public var name: String
        /// LANGUAGE, an RFC 5646 tag.
        public var language: String?
        /// FORCED=YES.
        public var isForced = false
        /// DEFAULT=YES: no other subtitles are then.
        public var isDefault = false
        /// The media playlist.
        public var uri: String
        /// Makes a rendition that is neither forced nor the default.
        public init(name: String, language: String?, uri: String) {
            self.name = name
            self.language = language
            self.uri = uri
        }
    }

    /// A playlist of images for EXT-X-IMAGE-STREAM-INF, which Roku and Shaka read.
    public struct Images: Equatable, Sendable {
        /// RESOLUTION of one image.
        public var resolution: Resolution
        /// BANDWIDTH in bits per second.
        public var bandwidth: Int
        /// The media playlist.
        public var uri: String
        /// Makes a playlist.
        public init(resolution: Resolution, bandwidth: Int, uri: String) {
            self.resolution = resolution
            self.bandwidth = bandwidth
            self.uri = uri
        }
    }

    /// Subtitles, in the order in which they were added.
    public var subtitles: [Subtitles] = []
    /// The URI of chapters as JSON, for EXT-X-SESSION-DATA with this DATA-ID: `com.apple.hls.chapters`. They replace those of
    /// the presentation.
    public var chapters: String?
    /// Playlists of thumbnails.
    public var images: [Images] = []
    /// Makes no tracks.
    public init() {}
    /// True if nothing is added.
    public var isEmpty: Bool { subtitles.isEmpty && chapters == nil && images.isEmpty }

    private static let chapterID = "com.apple.hls.chapters"

    /// Adds the tracks to the text of a multivariant playlist. Subtitles become members of each group that a variant refers to,
    /// and of a group of their own for the other variants. `naming` makes the URIs of the playlist from those here.
    public func added(to bytes: [UInt8], naming: (String) -> String) throws(PlaylistError) -> [UInt8] {
        guard !isEmpty, case .multivariant(let playlist) = try Playlist.parse(bytes) else { return bytes }

        let text = playlist.text
        let own = Self.unusedGroup(playlist)
        var writer = TextWriter(text)
        var isDone = false

        for line in text.lines.indices {
            switch text.lines[line].kind {
            case .tag(.streamInf):
                if !isDone {
                    writer.insert(try lines(of: playlist, own, naming), beforeLine: line)
                }
                isDone = true
                let attributes = text.attributes(line)
                guard !subtitles.isEmpty, attributes.find("SUBTITLES") == nil else { continue }
                var edits = AttributeEdits()
                edits.set("SUBTITLES", .quoted(own))
                try edits.apply(to: attributes, &writer)
            case .tag(.media): try writeMedia(text.attributes(line), &writer)
            case .tag(.sessionData) where chapters != nil:
                if text.attributes(line)["DATA-ID"] == Self.chapterID {
                    writer.drop(line: line)
                }
            default: break
            }
        }

        return writer.finished()
    }

    /// Only one member of a group is the default (RFC 8216 §4.3.4.1.1).
    private func writeMedia(_ attributes: AttributeList, _ writer: inout TextWriter) throws(PlaylistError) {
        guard subtitles.contains(where: \.isDefault), attributes["TYPE"] == "SUBTITLES", attributes.flag("DEFAULT")
        else {
            return
        }
        var edits = AttributeEdits()
        edits.set("DEFAULT", .enumerated("NO"))
        try edits.apply(to: attributes, &writer)
    }

    private static func unusedGroup(_ playlist: MultivariantPlaylist) -> String {
        let taken = Set(playlist.media.map(\.groupID))
        var name = "attached"
        var number = 2
        while taken.contains(name) {
            name = "attached-\(number)"
            number = number + 1
        }
        return name
    }

    private func lines(
        of playlist: MultivariantPlaylist, _ own: String, _ naming: (String) -> String
    ) throws(PlaylistError) -> [String] {
        var groups: [String] = []
        for variant in playlist.variants {
            let group = variant.subtitles ?? own
            if !groups.contains(group) {
                groups.append(group)
            }
        }

        var lines: [String] = []
        for group in groups {
            let members = playlist.media.filter { $0.type == .subtitles && $0.groupID == group }
            var names = Set(members.map(\.name))
            for track in subtitles {
                lines.append(try Self.line(for: track, group: group, names: &names, naming: naming))
            }
        }

        if let chapters {
            let uri = try TextWriter.checked(naming(chapters))
            lines.append("\(Tag.sessionData.rawValue):DATA-ID=\"\(Self.chapterID)\",URI=\"\(uri)\"")
        }
        for image in images {
            let uri = try TextWriter.checked(naming(image.uri))
            lines.append(
                "\(Tag.imageStreamInf.rawValue):BANDWIDTH=\(image.bandwidth),RESOLUTION=\(image.resolution),URI=\"\(uri)\""
            )
        }
        return lines
    }

    /// All members of a group have different names (RFC 8216 §4.3.4.1.1).
    private static func line(
        for track: Subtitles, group: String, names: inout Set<String>, naming: (String) -> String
    ) throws(PlaylistError) -> String {
        var name = track.name
        var number = 2
        while !names.insert(name).inserted {
            name = "\(track.name) \(number)"
            number = number + 1
        }
        let language = try track.language.map { text throws(PlaylistError) in
            ",LANGUAGE=\"\(try TextWriter.checked(text))\""
        }
        let uri = try TextWriter.checked(naming(track.uri))
        let isDefault = word(for: track.isDefault)
        let isForced = word(for: track.isForced)
        return "\(Tag.media.rawValue):TYPE=SUBTITLES,GROUP-ID=\"\(try TextWriter.checked(group))\""
            + ",NAME=\"\(try TextWriter.checked(name))\"\(language ?? "")"
            + ",DEFAULT=\(isDefault),AUTOSELECT=YES,FORCED=\(isForced),URI=\"\(uri)\""
    }

    private static func word(for isTrue: Bool) -> String { isTrue ? "YES" : "NO" }
}
