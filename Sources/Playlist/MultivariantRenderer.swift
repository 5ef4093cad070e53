/// One pass over the lines that writes a view; with a presence it is the offline one.
struct MultivariantRenderer {
    private let playlist: MultivariantPlaylist
    private let keepsSteering: Bool
    private let presence: MultivariantPlaylist.Presence?
    private var writer: TextWriter

    /// Prepares a pass.
    init(playlist: MultivariantPlaylist, keepsSteering: Bool, presence: MultivariantPlaylist.Presence?) {
        self.playlist = playlist
        self.keepsSteering = keepsSteering
        self.presence = presence
        writer = TextWriter(playlist.text)
    }

    /// Writes every line.
    mutating func run(_ naming: (MultivariantPlaylist.Reference) -> String?) throws(PlaylistError) -> [UInt8] {
        for line in playlist.text.lines.indices {
            if let entry = playlist.entries[line] {
                try write(entry, line, naming)
            } else {
                try writeOther(line, naming)
            }
        }
        return writer.finished()
    }

    private mutating func write(
        _ entry: MultivariantPlaylist.Entry, _ line: Int, _ naming: (MultivariantPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        switch entry {
        case .variant(let index): try writeVariant(playlist.variants[index], line)
        case .variantURI(let index): try writeURI(of: playlist.variants[index], line, naming)
        case .media(let index): try writeMedia(playlist.media[index], line, naming)
        case .iFrameVariant(let index):
            if presence != nil { return writer.drop(line: line) }
            let variant = playlist.iFrameVariants[index]
            var edits = steeringEdits(variant.attributes)
            edits.set("URI", quoted: naming(.iFrameVariant(variant)))
            try edits.apply(to: variant.attributes, &writer)
        case .sessionKey(let index):
            let key = playlist.sessionKeys[index]
            let name = key.method == .none ? nil : naming(.sessionKey(key))
            try writeSession(key.attributes, line, hasURI: !key.uri.isEmpty, name)
        case .sessionData(let index):
            let data = playlist.sessionData[index]
            let name = data.uri == nil ? nil : naming(.sessionData(data))
            try writeSession(data.attributes, line, hasURI: data.uri != nil, name)
        }
    }
}

extension MultivariantRenderer {
    private mutating func writeVariant(_ variant: Variant, _ line: Int) throws(PlaylistError) {
        if let presence, !presence.variants.contains(variant.index) { return writer.drop(line: line) }
        var edits = steeringEdits(variant.attributes)
        if let presence {
            for type in Media.Kind.allCases {
                guard let id = variant.group(type) else { continue }
                if !presence.groups.contains(Media.Group(type: type, id: id)) { edits.set(type.rawValue, .removed) }
            }
        }
        try edits.apply(to: variant.attributes, &writer)
    }

    private mutating func writeURI(
        of variant: Variant, _ line: Int, _ naming: (MultivariantPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        if let presence, !presence.variants.contains(variant.index) { return writer.drop(line: line) }
        if let name = naming(.variant(variant)) { try writer.replaceURI(line: line, with: name) }
    }

    private mutating func writeMedia(
        _ media: Media, _ line: Int, _ naming: (MultivariantPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        if let presence, !presence.media.contains(media.index) { return writer.drop(line: line) }
        var edits = steeringEdits(media.attributes)
        if media.uri != nil { edits.set("URI", quoted: naming(.media(media))) }
        if let presence, presence.promoted.contains(media.index) {
            edits.set("DEFAULT", .enumerated("YES"))
            edits.set("AUTOSELECT", .enumerated("YES"))
        }
        try edits.apply(to: media.attributes, &writer)
    }

    /// Session keys and session data are optional: what is not stored is left out offline.
    private mutating func writeSession(
        _ attributes: AttributeList, _ line: Int, hasURI: Bool, _ name: String?
    ) throws(PlaylistError) {
        if presence != nil, hasURI, name == nil { return writer.drop(line: line) }
        var edits = AttributeEdits()
        edits.set("URI", quoted: name)
        try edits.apply(to: attributes, &writer)
    }

    private mutating func writeOther(
        _ line: Int, _ naming: (MultivariantPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let text = playlist.text
        if text.lines[line].kind == .tag(.define) { return writer.drop(line: line) }
        if text.lines[line].kind == .tag(.contentSteering), !keepsSteering { return writer.drop(line: line) }
        if text.lines[line].kind == .tag(.imageStreamInf), presence != nil { return writer.drop(line: line) }
        guard let reference = TagReference(text, line), let name = naming(.other(reference)) else { return }
        var edits = AttributeEdits()
        edits.set(reference.attribute, .quoted(name))
        try edits.apply(to: try text.attributes(line), &writer)
    }

    private func steeringEdits(_ attributes: AttributeList) -> AttributeEdits {
        var edits = AttributeEdits()
        if !keepsSteering, attributes.find("PATHWAY-ID") != nil { edits.set("PATHWAY-ID", .removed) }
        return edits
    }
}
