/// Writes a view in one pass over the lines; with a listing, the offline view.
struct MultivariantRenderer {
    typealias Naming = MultivariantPlaylist.Naming
    private let playlist: MultivariantPlaylist
    private let view: MultivariantView
    private let listing: MultivariantPlaylist.Listing?
    private var writer: TextWriter
    private var nextEntry = 0
    private var version: RequiredVersion
    /// For each pair of variant lines, the index of the variant to write there; empty for the original order.
    private var order: [Int] = []

    init(playlist: MultivariantPlaylist, view: MultivariantView, listing: MultivariantPlaylist.Listing?) {
        self.playlist = playlist
        self.view = view
        self.listing = listing
        writer = TextWriter(playlist.text)
        version = RequiredVersion(declared: playlist.version)
    }

    /// Moves these variants to the first variant lines. All other lines keep their positions.
    mutating func putFirst(_ first: Set<Int>) {
        let indices = playlist.variants.indices
        order = indices.filter(first.contains) + indices.filter { !first.contains($0) }
        if order.elementsEqual(indices) {
            order = []
        }
    }

    private func variantToWrite(of variant: Int) -> Variant {
        guard !order.isEmpty else { return playlist.variants[variant] }
        return playlist.variants[order[variant]]
    }

    mutating func run(_ naming: Naming) throws(PlaylistError) -> [UInt8] {
        let lines = playlist.text.lines
        for line in lines.indices {
            if line == 1, view.isCorrected, !lines.contains(where: { $0.kind == .tag(.version) }) {
                writer.insertDeferred(Tag.version.rawValue + ":", beforeLine: 1)
            }
            if nextEntry < playlist.entries.count, playlist.entries[nextEntry].line == line {
                nextEntry += 1
                try write(playlist.entries[nextEntry - 1].entry, line: line, naming: naming)
            } else {
                writeOther(line)
            }
        }
        return writer.finished(deferred: version.stated)
    }

    private mutating func write(
        _ entry: MultivariantPlaylist.Entry, line: Int, naming: Naming
    ) throws(PlaylistError) {
        switch entry {
        case .variant(let index): try writeVariant(variantToWrite(of: index), line)
        case .variantURI(let index): try writeURI(of: variantToWrite(of: index), line, naming)
        case .media(let index): try writeMedia(playlist.media[index], line: line, naming: naming)
        case .iFrameVariant(let index):
            try writeIFrames(playlist.iFrameVariants[index], line: line, naming: naming)
        case .sessionKey(let index):
            let key = playlist.sessionKeys[index]
            var name: String?
            if key.method != .none {
                name = naming(.sessionKey(key))
            }
            try writeOptional(key.attributes, line: line, hasURI: !key.uri.isEmpty, name: name)
        case .sessionData(let index):
            let data = playlist.sessionData[index]
            var name: String?
            if data.uri != nil {
                name = naming(.sessionData(data))
            }
            try writeOptional(data.attributes, line: line, hasURI: data.uri != nil, name: name)
        case .imageVariant(let index):
            let image = playlist.imageVariants[index]
            let name = naming(.imageVariant(image))
            let edits = steeringEdits(image.attributes)
            try writeOptional(image.attributes, line: line, hasURI: true, name: name, steering: edits)
        case .steering: try writeSteering(line, naming)
        case .start: try writeStart(line)
        case .mirror: writer.drop(line: line)
        }
    }
}

extension MultivariantRenderer {
    private mutating func writeVariant(_ variant: Variant, _ line: Int) throws(PlaylistError) {
        if let listing, !listing.variants.contains(variant.index) {
            return writer.drop(line: line)
        }
        version.need(variant: variant.attributes)
        var edits = steeringEdits(variant.attributes)
        if let listing {
            for type in Media.Kind.allCases {
                guard let id = variant.group(type) else { continue }
                if !listing.groups.contains(Media.Group(type: type, id: id)) {
                    edits.set(type.rawValue, .removed)
                }
            }
        }
        guard variant.line != line + 1 else { return try edits.apply(to: variant.attributes, &writer) }
        let lines = playlist.text.lines
        var moved = TextWriter(playlist.text, from: lines[variant.line - 1].content)
        try edits.apply(to: variant.attributes, &moved)
        writer.replace(lines[line].content, with: moved.finished())
    }

    private mutating func writeURI(of variant: Variant, _ line: Int, _ naming: Naming) throws(PlaylistError) {
        if let listing, !listing.variants.contains(variant.index) {
            return writer.drop(line: line)
        }
        if let name = try checked(naming(.variant(variant))) {
            try writer.replaceURI(line: line, with: name)
        } else if variant.uriLine != line + 1 {
            let lines = playlist.text.lines
            writer.replace(lines[line].content, with: Array(playlist.text.bytes[lines[variant.uriLine - 1].content]))
        }
    }

    private mutating func writeMedia(_ media: Media, line: Int, naming: Naming) throws(PlaylistError) {
        if let listing, !listing.media.contains(media.index) {
            return writer.drop(line: line)
        }
        version.need(media: media)
        var edits = steeringEdits(media.attributes)
        if media.uri != nil {
            edits.set("URI", quoted: try checked(naming(.media(media))))
        }
        if let listing, listing.promoted.contains(media.index) {
            edits.set("DEFAULT", .enumerated("YES"))
            edits.set("AUTOSELECT", .enumerated("YES"))
        }
        try edits.apply(to: media.attributes, &writer)
    }

    /// Session keys, session data and image variants are optional. The offline view omits those that are not stored.
    private mutating func writeOptional(
        _ attributes: AttributeList, line: Int, hasURI: Bool, name: String?, steering: AttributeEdits = .init()
    ) throws(PlaylistError) {
        if listing != nil, hasURI, name == nil {
            return writer.drop(line: line)
        }
        version.need(key: attributes)
        var edits = steering
        edits.set("URI", quoted: try checked(name))
        try edits.apply(to: attributes, &writer)
    }

    private mutating func writeIFrames(
        _ variant: IFrameVariant, line: Int, naming: Naming
    ) throws(PlaylistError) {
        if let listing, !listing.iFrameVariants.contains(variant.index) {
            return writer.drop(line: line)
        }
        version.need(variant: variant.attributes)
        var edits = steeringEdits(variant.attributes)
        edits.set("URI", quoted: try checked(naming(.iFrameVariant(variant))))
        if let listing, let id = variant.video, !listing.groups.contains(Media.Group(type: .video, id: id)) {
            edits.set("VIDEO", .removed)
        }
        try edits.apply(to: variant.attributes, &writer)
    }

    private mutating func writeSteering(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        guard view.keepsSteering else { return writer.drop(line: line) }
        guard let steering = playlist.contentSteering, steering.line == line + 1, let name = naming(.steering(steering))
        else { return }
        var edits = AttributeEdits()
        edits.set("SERVER-URI", .quoted(name))
        try edits.apply(to: playlist.text.attributes(line), &writer)
    }

    private mutating func writeStart(_ line: Int) throws(PlaylistError) {
        guard view.isCorrected, let value = Start.reordered(playlist.text.attributes(line)) else { return }
        writer.replace(playlist.text.value(line), with: value)
    }

    private mutating func writeOther(_ line: Int) {
        switch playlist.text.lines[line].kind {
        case .tag(.define): writer.drop(line: line)
        case .tag(.version):
            if view.isCorrected {
                writer.replaceDeferred(playlist.text.value(line))
            }
        default: break
        }
    }

    private func checked(_ name: String?) throws(PlaylistError) -> String? {
        guard let name, view.isRelative else { return name }
        return try TextWriter.checkedRelative(name)
    }

    private func steeringEdits(_ attributes: AttributeList) -> AttributeEdits {
        var edits = AttributeEdits()
        if !view.keepsSteering, attributes.find("PATHWAY-ID") != nil {
            edits.set("PATHWAY-ID", .removed)
        }
        return edits
    }
}
