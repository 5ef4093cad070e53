package import EventLoop
package import Fetching
package import HLS
import HTTPMessage

/// The last minutes of a live rendition that somebody watches: what was fetched stays for a while after the origin's playlist has
/// dropped it, and the playlist for players lists it.
///
/// None of it is stored: the bytes are in files without a name, which end with the process.
@LoopActor package final class TimeShift {
    /// The length of the playlist for players, in seconds.
    private let seconds: Double
    private var past = PastSegments()
    /// By their numbers in names. Some are still on their way.
    private var segments: [Int: Fetch] = [:]
    /// Sections and keys.
    private var others: [PieceName: Fetch] = [:]
    /// The origin's latest full playlist.
    private var latest: Rendition.Source?
    /// The playlist for players; nil while it is the origin's own.
    package private(set) var source: Rendition.Source?

    package init(seconds: Double) { self.seconds = seconds }

    /// The number of files that it holds.
    package var count: Int { segments.count + others.count }
    /// The bytes of these files.
    package var bytes: Int64 {
        segments.values.reduce(0) { $0 + $1.written } + others.values.reduce(0) { $0 + $1.written }
    }

    // MARK: The origin's playlist

    /// Adopts a full playlist of the origin in place of the former one.
    func follow(_ source: Rendition.Source, behind former: Rendition.Source?, of rendition: Rendition) {
        if let former, former.shift == source.shift {
            past.follow(
                source.playlist, behind: former.playlist,
                isKept: { segment in self.isKept(segment, former, of: rendition) },
                resolve: { try? former.base.resolving($0).text })
        } else {
            // Its numbers have begun anew.
            past.forgetAll()
        }
        past.trim(toSeconds: max(0, seconds - source.playlist.duration.seconds))
        latest = source
        self.source = longer(source)
        release(of: rendition)
    }

    /// The playlist that a player gets for one of the origin's, full or delta update.
    package func extended(_ source: Rendition.Source) -> Rendition.Source {
        if let latest, latest.playlist == source.playlist {
            return self.source ?? source
        }
        return longer(source) ?? source
    }

    private func longer(_ source: Rendition.Source) -> Rendition.Source? {
        guard let text = try? past.text(before: source.playlist), case .media(let playlist)? = try? Playlist.parse(text)
        else { return nil }
        var long = Rendition.Source(playlist: playlist, base: source.base, imports: source.imports, born: source.born)
        long.shift = source.shift
        long.mirror = source.mirror
        long.channelShift = source.channelShift
        // It is no presentation of its own, even when the broadcast has ended.
        long.isWindow = source.isWindow || source.isDurable
        return long
    }

    /// Forgets everything.
    package func clear() {
        past.forgetAll()
        segments = [:]
        others = [:]
        latest = nil
        source = nil
    }

    /// Forgets the earliest segment, to make room. Returns false if there is none.
    package func forgetEarliest(of rendition: Rendition) -> Bool {
        guard let first = past.first else { return false }
        past.forget(upTo: first)
        remake(of: rendition)
        return true
    }

    private func remake(of rendition: Rendition) {
        guard let latest else { return }
        source = longer(latest)
        release(of: rendition)
    }

    /// Lets go of what the playlist for players does not name.
    private func release(of rendition: Rendition) {
        guard let latest, let listed = source ?? self.latest else { return }
        let first = Int(listed.firstNumber)
        segments = segments.filter { $0.key >= first }
        // A key or section comes before the playlist that names it is the latest one.
        let keys = (listed.playlist.keys + latest.playlist.keys).compactMap { rendition.number(of: $0, in: listed) }
        let maps = listed.playlist.maps.map { rendition.name(of: $0, in: listed) }
        let names = Set(keys.map(KeyRing.name) + maps)
        others = others.filter { names.contains($0.key) }
    }

    // MARK: What was fetched

    /// The fetch of a resource; nil if it is not held.
    func fetch(named name: PieceName) -> Fetch? {
        if case .segment(let number) = name.role {
            return segments[number]
        }
        return others[name]
    }

    /// The bytes of a held resource that another fetch may read; nil if there are none.
    func bytes(named name: PieceName) -> SharedBytes? {
        guard let fetch = fetch(named: name), fetch.isReadable else { return nil }
        return .fetch(fetch)
    }

    /// Holds the bytes of a resource that is being fetched, or was.
    func hold(_ fetch: Fetch, as name: PieceName, of rendition: Rendition) {
        guard self.fetch(named: name) !== fetch else { return }
        set(fetch, name)
        fetch.whenEnded { [weak self, weak fetch, weak rendition] result in
            guard let self, let fetch, let rendition, self.fetch(named: name) === fetch else { return }
            guard case .success = result, fetch.contentError == nil, fetch.isOnDisk, !fetch.isPiece else {
                return self.lose(name, of: rendition)
            }
        }
    }

    private func set(_ fetch: Fetch?, _ name: PieceName) {
        if case .segment(let number) = name.role {
            segments[number] = fetch
        } else {
            others[name] = fetch
        }
    }

    private func lose(_ name: PieceName, of rendition: Rendition) {
        set(nil, name)
        guard let latest, case .segment(let number) = name.role, let first = past.first else { return }
        let lost = number - latest.shift
        guard lost >= first else { return }
        past.forget(upTo: lost)
        remake(of: rendition)
    }

    /// True if players can have a listed segment once the origin has dropped it.
    package func isKept(_ segment: Segment, _ source: Rendition.Source, of rendition: Rendition) -> Bool {
        guard segments[Int(segment.mediaSequenceNumber + source.shift)] != nil else { return false }
        return missing(for: segment, source, of: rendition).isEmpty
    }

    /// The section and the keys of a segment that are not held.
    package func missing(
        for segment: Segment, _ source: Rendition.Source, of rendition: Rendition
    ) -> [(folder: PieceFolder, resource: Resource)] {
        var missing: [(folder: PieceFolder, resource: Resource)] = []
        if let map = segment.map, let resource = rendition.resource(of: map, in: source), others[resource.name] == nil {
            missing.append((rendition.folder, resource))
        }
        let keys = segment.keys + (segment.map?.keys ?? [])
        for key in keys {
            guard let number = rendition.number(of: key, in: source),
                let resource = rendition.keys.resource(number), others[resource.name] == nil,
                !rendition.keys.folder.contains(resource.name.description)
            else { continue }
            missing.append((rendition.keys.folder, resource))
        }
        return missing
    }
}

extension Library {
    /// Holds what the time shift of a rendition is about to list, of all that players have just had.
    package func holdRecent(for timeShift: TimeShift, of rendition: Rendition) {
        guard let source = rendition.source else { return }
        for segment in source.playlist.segments {
            if let resource = rendition.resource(of: segment, in: source),
                let fetch = loader.recentFetch(of: resource, in: rendition.folder)
            {
                timeShift.hold(fetch, as: resource.name, of: rendition)
            }
            for (folder, resource) in timeShift.missing(for: segment, source, of: rendition) {
                if let fetch = loader.recentFetch(of: resource, in: folder) {
                    timeShift.hold(fetch, as: resource.name, of: rendition)
                }
            }
        }
    }

    /// The held fetch of a resource; nil if no time shift holds it.
    func heldFetch(of resource: Resource, in folder: PieceFolder, of asset: Asset) -> Fetch? {
        // A key that has expired or was revoked comes from the origin, which decides who gets it.
        if case .key(let number) = resource.name.role, !asset.keys.isUsable(number) {
            return nil
        }
        for (_, timeShift) in timeShifts(of: resource.name, in: folder, of: asset) {
            if let fetch = timeShift.fetch(named: resource.name), fetch.contentError == nil {
                return fetch
            }
        }
        return nil
    }

    /// Holds a fetch for the time shifts that need it.
    func hold(_ fetch: Fetch, in folder: PieceFolder, of asset: Asset) {
        let name = fetch.resource.name
        for (rendition, timeShift) in timeShifts(of: name, in: folder, of: asset) {
            switch name.role {
            case .passing where !rendition.isSection(name): break
            case .segment, .key, .passing: timeShift.hold(fetch, as: name, of: rendition)
            case .initialization, .data: break
            }
        }
    }

    private func timeShifts(
        of name: PieceName, in folder: PieceFolder, of asset: Asset
    ) -> [(rendition: Rendition, timeShift: TimeShift)] {
        guard let content = asset.loadedContent else { return [] }
        var renditions = content.renditions
        if case .key = name.role {
            guard folder === asset.keys.folder else { return [] }
        } else {
            renditions = [content.rendition(folder.id)].compactMap(\.self)
        }
        var kept: [(rendition: Rendition, timeShift: TimeShift)] = []
        for rendition in renditions {
            if let timeShift = rendition.live?.timeShift {
                kept.append((rendition, timeShift))
            }
        }
        return kept
    }
}

extension Rendition {
    /// True if a name is that of a section, and not of a part or hint.
    fileprivate func isSection(_ name: PieceName) -> Bool {
        guard let source = live?.timeShift?.source ?? self.source else { return false }
        return source.playlist.maps.contains { self.name(of: $0, in: source) == name }
    }
}
