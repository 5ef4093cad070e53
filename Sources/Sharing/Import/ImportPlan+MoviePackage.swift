import Assets
import EventLoop
import Fetching
import HLS
import HTTPMessage
import PlaylistCheck

extension MoviePackage {
    var origin: WebURL? {
        var text = masterURL
        if master == nil {
            text = streams.first?.url
        }
        // A package may be somebody else's, who must not choose what a handler is asked.
        guard let text, let url = try? WebURL(text), !url.needsHandler else { return nil }
        return url
    }
}

extension ImportPlan {
    func read(_ package: MoviePackage) async throws(ExchangeError) {
        guard let master = package.master, case .multivariant(let playlist) = try await text(at: master) else {
            guard package.streams.count == 1 else { throw nothingFits }
            asset.content.adoptLone()
            guard let lone = asset.content.lone else { return }
            return try await read(package.streams[0], as: lone, imports: nil)
        }
        asset.adopt(playlist, base: asset.origin)
        var isAny = false
        let names = StreamNames(package.streams)
        for (rendition, uri) in zip(asset.renditions, asset.multivariant?.renditionURIs ?? []) {
            let resolved = (try? asset.origin.resolving(uri))?.text
            guard let index = names.index(of: uri, resolved: resolved) else { continue }
            try await read(package.streams[index], as: rendition, imports: playlist.variables)
            isAny = true
        }
        guard isAny else { throw nothingFits }
    }

    private var nothingFits: ExchangeError {
        ExchangeError(.badImport, "the multivariant playlist names none of the complete streams")
    }

    /// Reads a playlist, without the NULs that Apple's files may end with.
    private func text(
        at location: PlaylistFolder.Location, imports: [String: String]? = nil
    ) async throws(ExchangeError) -> Playlist {
        try await parsed(at: location, imports: imports) { [folder] () throws(ExchangeError) in
            guard let bytes = folder.contents(of: location.components, limit: PlaylistLimits.standard.bytes) else {
                throw ExchangeError(.badImport, "\(folder.name(location)) is not there")
            }
            guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return [] }
            return Array(bytes[...last])
        }
    }

    private func read(
        _ stream: MoviePackage.Stream, as rendition: Rendition, imports: [String: String]?
    ) async throws(ExchangeError) {
        let files = stream.files
        let name = folder.name(files.playlist)
        let base = (try? WebURL(stream.url)) ?? asset.origin
        let playlist = try await text(at: files.playlist, imports: imports)
        let media = try await adopt(playlist, for: rendition, base: base, imports: imports, as: name)
        guard media.keys.allSatisfy({ $0.method == .none }) else {
            throw ExchangeError(.badImport, "\(name) is encrypted, and a .movpkg has no keys")
        }
        let count = media.segments.count - media.gapCount
        guard count == files.segments.count, media.maps.count <= files.sections.count else {
            throw ExchangeError(
                .badImport, "\(name) names \(count) segments, and \(files.segments.count) are in the package")
        }
        let id = rendition.name.id
        for (map, source) in zip(media.maps, files.sections) {
            add(source.piece(rendition.name(of: map).description, of: id, namedBy: "\(name), line \(map.line)"))
            try await giveWay()
        }
        let names = rendition.segmentNames()
        try await addSegments(of: media) { segment, number in
            files.segments[number].piece(names.file(of: segment), of: id, namedBy: "\(name), line \(segment.line)")
        }
    }
}

extension MoviePackage.File {
    fileprivate func piece(_ file: String, of folder: String, namedBy: String) -> ImportPlan.Piece {
        ImportPlan.Piece(folder: folder, file: file, source: location, range: nil, length: length, namedBy: namedBy)
    }
}
