import EventLoop
public import Fetching
public import HLS
import HTTPMessage
package import Playheads
import SegmentFormat
import Store

/// Maps names to the resources of a rendition's playlists.
extension Rendition {
    /// Returns the resource with a name that a present or recent playlist of this rendition contains.
    public func resource(named name: PieceName) -> Resource? {
        if let latest, let resource = resource(named: name, in: latest) {
            return resource
        }
        if let source, let resource = resource(named: name, in: source) {
            return resource
        }
        if let long = live?.timeShift?.source, let resource = resource(named: name, in: long) {
            return resource
        }
        return live?.names.resource(name)
    }

    /// Returns the resource with a name from one playlist: the known one, or one that may continue it.
    func resource(named name: PieceName, in source: Source) -> Resource? {
        let found: Resource?
        switch name.role {
        case .segment(let number):
            guard let segment = source.segment(number) else { return nil }
            found = resource(of: segment, in: source)
        case .initialization(let index):
            found = source.playlist.maps.first { $0.index == index }.flatMap { resource(of: $0, in: source) }
        case .key(let number):
            found = keyNumbers.firstIndex(of: number).flatMap { key($0, name, in: source) }
        case .passing, .data: return nil
        }
        return found?.name == name ? found : nil
    }

    private func key(_ index: Int, _ name: PieceName, in source: Source) -> Resource? {
        let keys = source.playlist.keys
        guard keys.indices.contains(index) else { return nil }
        return resource(name, at: keys[index].uri, range: nil, in: source)
    }

    /// The file of the initialization section of a listed segment, by the segment's file; nil if it has none.
    package func section(behind file: String) -> String? {
        guard case .segment(let number)? = PieceName(file)?.role, let map = source?.segment(number)?.map else {
            return nil
        }
        return name(of: map).description
    }

    /// True if the playlist, which has ended, names it: only such resources are stored.
    func isListed(_ name: PieceName) -> Bool {
        guard let source else { return false }
        guard case .segment(let number) = name.role else { return resource(named: name, in: source) != nil }
        // Called for each cache miss: names are computed once, URLs each time.
        guard let segment = source.segment(number), !segment.isGap else { return false }
        return file(of: segment) == name.description
    }

    /// The segment as a resource; nil for a gap, or if the URI is no URL.
    public func resource(of segment: Segment, in source: Source? = nil) -> Resource? {
        guard !segment.isGap else { return nil }
        return resource(name(of: segment, in: source), at: segment.uri, range: segment.byteRange, in: source)
    }

    /// The initialization section as a resource.
    public func resource(of map: Map, in source: Source? = nil) -> Resource? {
        resource(name(of: map, in: source), at: map.uri, range: map.byteRange, in: source)
    }

    /// The resource at a URI of a playlist; nil if that is no URL.
    func resource(_ name: PieceName, at uri: String, range: SubRange?, in source: Source?) -> Resource? {
        guard let source = source ?? self.source, !source.isRecorded, let url = try? source.base.resolving(uri) else {
            return nil
        }
        return Resource(name: name, url: url, range: range?.bytes)
    }

    /// The time of a segment; nil if it is unknown, and for other pieces.
    package func span(of name: PieceName) -> SegmentSpan? {
        if case .segment(let number) = name.role {
            timeline?.span(of: number)
        } else {
            nil
        }
    }

    // MARK: Resources that must be stored before a segment plays

    /// The keys that are used, and all initialization sections.
    public var preliminaries: [(folder: PieceFolder, resource: Resource)] {
        guard let playlist = source?.playlist else { return [] }
        var preliminaries: [(folder: PieceFolder, resource: Resource)] = []
        for number in playlist.usedKeys.compactMap({ number(of: $0) }) {
            if let key = keys.resource(number) {
                preliminaries.append((keys.folder, key))
            }
        }
        for map in playlist.maps {
            if let section = resource(of: map) {
                preliminaries.append((folder, section))
            }
        }
        return preliminaries
    }

    /// The names of initialization sections with their keys, and of further keys.
    public func names(of sections: [Map], _ keys: [Key]) -> Set<PieceName> {
        let all = sections.flatMap(\.keys) + keys
        var names = Set(sections.map { name(of: $0) })
        for number in all.compactMap({ number(of: $0) }) {
            names.insert(KeyRing.name(number))
        }
        return names
    }

    // MARK: Resources of a live playlist besides its segments

    /// The part's file name; nil if its URI is no URL.
    public func name(of part: PartialSegment, in source: Source) -> PieceName? {
        let fileExtension = segmentNames().fileExtension(part.uri, part.map)
        return passingName(source.url(of: part), range: part.byteRange, fileExtension: fileExtension)
    }

    /// The number, in names, of the segment that a listed part belongs to; nil for any other resource.
    package func number(ofPart name: PieceName) -> Int? {
        guard case .passing = name.role, let latest else { return nil }
        let part = latest.playlist.parts.first { self.name(of: $0, in: latest) == name }
        return part.map { Int($0.mediaSequenceNumber + latest.shift) }
    }

    /// The byte range of a hinted resource. Without a length it ends where the origin ends it, if parts are ranges.
    private func range(of hint: PreloadHint, in source: Source) -> SubRange? {
        if let length = hint.length {
            return SubRange(offset: hint.start, length: length)
        }
        let isPartOfFile = hint.kind == .part && source.playlist.lastPart?.byteRange != nil
        guard hint.start > 0 || isPartOfFile else { return nil }
        return .open(from: hint.start)
    }

    /// The name that a hinted resource will have; nil for an unknown type.
    public func name(of hint: PreloadHint, in source: Source) -> PieceName? {
        let range = range(of: hint, in: source)
        guard range != nil || hint.start == 0 && hint.length == nil else { return nil }
        switch hint.kind {
        case .part:
            let fileExtension = segmentNames().fileExtension(hint.uri, source.playlist.lastPart?.map)
            return passingName(source.url(of: hint), range: range, fileExtension: fileExtension)
        case .map: return passingName(source.url(of: hint), range: range, fileExtension: "mp4")
        case .other: return nil
        }
    }

    private func passingName(_ url: WebURL?, range: SubRange?, fileExtension: String) -> PieceName? {
        guard let url else { return nil }
        let number = makeLive().names.number(url, range?.bytes)
        return PieceName(.passing(number), fileExtension: fileExtension)
    }

    /// The resources of a live playlist besides segments and keys.
    func passingResources(of source: Source) -> [Resource] {
        let playlist = source.playlist
        guard !source.isRecorded else { return [] }
        func resource(_ name: PieceName?, url: WebURL?, range: SubRange?) -> Resource? {
            guard let name, let url else { return nil }
            return Resource(name: name, url: url, range: range?.bytes)
        }
        let maps = playlist.maps.compactMap {
            resource(name(of: $0, in: source), url: source.url(of: $0), range: $0.byteRange)
        }
        let parts = playlist.parts.filter { !$0.isGap }.compactMap {
            resource(name(of: $0, in: source), url: source.url(of: $0), range: $0.byteRange)
        }
        let hints = playlist.preloadHints.compactMap {
            resource(name(of: $0, in: source), url: source.url(of: $0), range: range(of: $0, in: source))
        }
        let listed = maps + parts + hints
        // A delta update leaves out sections that are still in force.
        guard playlist.isDeltaUpdate, let full = live?.timeShift?.source ?? self.source else {
            return listed
        }
        return listed + full.playlist.maps.compactMap { self.resource(of: $0, in: full) }
    }

    /// The last segments that precede another playlist's: players request some just after their removal. Those at the end, if
    /// the other one's names begin anew.
    func resources(of source: Source, before other: Source) -> [Resource] {
        var count = other.firstNumber - source.firstNumber
        if count < 0 {
            // An older list removes nothing; after a restart of the numbers, all is gone.
            count = source.shift == other.shift ? 0 : .max
        }
        let gone = source.playlist.segments.prefix(count).suffix(Self.mostGone)
        return gone.compactMap { resource(of: $0, in: source) }
    }

    /// A stored piece that shows the parameters of its codecs: an initialization section, else a segment; nil for none.
    var storedSample: PieceName? {
        let names = folder.sizes.keys.compactMap { PieceName($0) }
        let sections = names.filter { name in
            guard case .initialization = name.role else { return false }
            return true
        }
        let candidates = sections.isEmpty ? names.filter(\.isSegment) : sections
        return candidates.min { $0.role.number < $1.role.number }
    }

    // MARK: Playlists from another URL or time

    /// True if a playlist from a mirror continues the known one, as far as can be seen.
    func mayContinue(with source: Source, owner: AnyObject) async -> Bool {
        guard let known = self.source else { return true }
        if known.playlist == source.playlist {
            return !known.isDurable || known.isDurable && !known.isRecorded && source.isDurable
        }
        let edition = self.edition
        let relation = await relation(of: source, to: known, owner)
        // The playlist may have been replaced meanwhile.
        guard edition == self.edition else { return false }
        switch relation {
        case .same: return if known.isDurable { await hasSameContent(as: source, owner: owner) } else { true }
        case .grown, .slid, .stale: return true
        case .changed: return false
        }
    }

    private func relation(
        of source: Source, to known: Source, _ owner: AnyObject
    ) async -> MediaPlaylist.Relation {
        await PureWork.shared.run(size: source.playlist.text.write().count, for: owner) {
            source.playlist.relation(to: known.playlist)
        } ?? .changed(at: nil)
    }

    /// True if a playlist equals the known one, which has ended, except for URLs: each name keeps its resource.
    package func hasSameContent(as source: Source, owner: AnyObject) async -> Bool {
        guard let known = self.source, known.isDurable, !known.isRecorded, source.isDurable else { return false }
        let content = name.content
        let edition = self.edition
        let isSame = await PureWork.shared.run(size: source.playlist.text.write().count, for: owner) {
            known.playlist == source.playlist || source.hasSameContent(as: known, content: content)
        }
        // The playlist may have been replaced meanwhile.
        return isSame ?? false && edition == self.edition
    }
}

extension Rendition.Source {
    /// See `Rendition.hasSameContent(as:owner:)`. Pure, and linear in the number of segments.
    fileprivate func hasSameContent(as known: Self, content: PieceName.Content) -> Bool {
        let new = playlist
        let old = known.playlist
        guard new.relation(to: old) == .same, new.keys.map(\.isFetchable) == old.keys.map(\.isFetchable),
            new.maps.count == old.maps.count
        else { return false }
        let names = Rendition.SegmentNames(shift: known.shift, content: content)
        return zip(new.segments, old.segments).allSatisfy { one, other in
            one.map?.index == other.map?.index && one.keys.map(\.index) == other.keys.map(\.index)
                && one.isGap == other.isGap && names.name(of: one) == names.name(of: other)
        }
    }
}

extension SubRange {
    /// A range whose end only the origin knows; see `Resource.range`.
    fileprivate static func open(from offset: Int) -> SubRange? { SubRange(openFrom: offset) }

    /// The range in the file.
    var bytes: Range<Int64> { Int64(offset)..<Int64(end) }
}

/// URLs of a playlist's lines, resolved on a worker for a large one.
extension Rendition.Source {
    /// The URL of a section.
    func url(of map: Map) -> WebURL? { url(in: preparations?.maps, at: map.index, or: map.uri) }
    /// The URL of a part.
    func url(of part: PartialSegment) -> WebURL? { url(in: preparations?.parts, at: part.index, or: part.uri) }
    /// The URL of a hint.
    func url(of hint: PreloadHint) -> WebURL? { url(in: preparations?.hints, at: hint.index, or: hint.uri) }

    /// The URL of a key.
    func url(of key: Key) -> WebURL? {
        guard let urls = preparations?.keyURLs, urls.indices.contains(key.index) else { return key.url(base: base) }
        return urls[key.index]
    }

    /// The prepared URL at an index; without one, that of the URI.
    private func url(in urls: [WebURL?]?, at index: Int, or uri: String) -> WebURL? {
        guard let urls, urls.indices.contains(index) else { return try? base.resolving(uri) }
        return urls[index]
    }
}

extension Rendition.Source {
    /// True if this is not what is left of another playlist, which has ended. An ended list may lose segments later, or get those
    /// that had left the window; it gets none at its end.
    func isOtherBroadcast(than ended: Rendition.Source) -> Bool {
        guard isDurable else { return true }
        return playlist.endSequenceNumber > ended.playlist.endSequenceNumber || urls.isDisjoint(with: ended.urls)
    }

    private var urls: Set<TokenlessURL> {
        let urls = playlist.segments.compactMap { try? base.resolving($0.uri) }
        return Set(urls.map { TokenlessURL($0) })
    }
}
