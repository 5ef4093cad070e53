public import Assets
import Fetching
import HLS
import HTTPMessage

extension Recording {
    /// Adopts a playlist of the origin, and returns it as a window of the recording: with the recording's numbers in
    /// its names, and not as a complete presentation even if it has ended.
    public func observe(_ source: Rendition.Source) -> Rendition.Source {
        var source = source
        source.isWindow = true
        if isActive, !source.playlist.isDeltaUpdate, stopReason == nil {
            adopt(&source)
        }
        source.shift = numbering.shift
        return source
    }

    private func adopt(_ source: inout Rendition.Source) {
        let playlist = source.playlist
        for url in source.keyURLs {
            rendition.keys.add(url)
        }
        if playlist.needsDRM {
            stopReason = "the stream is protected from here on (DRM)"
            return
        }
        if let restored {
            removeUnlisted(behind: restored, before: playlist)
        }
        let isNew = isNew
        let entries = numbering.accept(playlist)
        if let restart = entries.first(where: \.isRestart) {
            firstOfNumbering = restart.number
        }
        source.shift = numbering.shift
        channelOffset = source.channelShift.map { numbering.shift - $0 }
        // Even an old playlist is final if it has an end.
        if playlist.hasEndList {
            hasEnded = true
        }
        let number = Int(playlist.firstSequenceNumber + numbering.shift)
        guard number + playlist.segments.count == numbering.next || playlist.segments.isEmpty else { return }
        // Segments that were seen but not stored yet belong to the recorded playlist, although the window slides on.
        let leftOut = isNew ? min(leavesOut, max(0, playlist.segments.count - 1)) : 0
        if writer == nil, items.isEmpty {
            first = number + leftOut
        }
        window = number..<number + playlist.segments.count
        nameMaps(of: source, isRestart: entries.contains(where: \.isRestart))
        for (index, entry) in entries.enumerated() where index >= leftOut {
            add(entry, of: source, isFirst: index == leftOut)
        }
    }

    /// Deletes pieces that an earlier process stored beyond its playlist, unless the origin's playlist continues it.
    private func removeUnlisted(behind recorded: MediaPlaylist, before window: MediaPlaylist) {
        restored = nil
        for segment in recorded.segments.suffix(Self.recent) {
            recentMaps[Int(segment.mediaSequenceNumber)] = segment.map.flatMap { PieceName($0.uri)?.role.number }
        }
        guard !numbering.continues(in: window) else { return }
        rendition.folder.removePieces { name in
            switch name.role {
            case .segment(let number): number >= self.numbering.next
            case .initialization(let number): number >= self.nextMap
            case .key, .passing, .data: false
            }
        }
    }

    /// Longest expected window, in segments.
    private static let recent = 5_000

    /// An initialization section whose URL has changed is the same one if a segment that uses it is the same. After a
    /// restart of the numbers, one with an equal URL is a different one.
    private func nameMaps(of source: Rendition.Source, isRestart: Bool) {
        if isRestart {
            maps = [:]
            recentMaps = [:]
        }
        var now: [Int: Int] = [:]
        var present: [Resource: Int] = [:]
        for segment in source.playlist.segments {
            guard let map = segment.map, let url = try? source.base.resolving(map.uri) else { continue }
            let number = Int(segment.mediaSequenceNumber + numbering.shift)
            let bytes = map.byteRange.map { Int64($0.offset)..<Int64($0.end) }
            let key = Self.mapKey(url, bytes)
            var known = nextMap
            if let former = present[key] ?? maps[key] {
                known = former
            } else if let former = recentMaps[number] {
                known = former
            }
            nextMap = max(nextMap, known + 1)
            present[key] = known
            now[number] = known
        }
        maps = present
        recentMaps = now
    }

    /// A key for the URL and range of a section that has no name yet.
    static func mapKey(_ url: WebURL, _ bytes: Range<Int64>?) -> Resource {
        let name = PieceName(.initialization(0), fileExtension: "mp4")
        return Resource(name: name, url: url, range: bytes)
    }

    private func add(_ entry: LiveNumbering.Entry, of source: Rendition.Source, isFirst: Bool) {
        var item = Item(entry: entry, time: time, source: source, isFirstOfWindow: isFirst)
        if case .segment(let segment, _, _) = entry {
            item.file = rendition.name(of: segment, in: source)
            item.map = segment.map.map { rendition.name(of: $0, in: source) }
            if !segment.isGap {
                addNeeds(of: segment, to: &item)
            }
        }
        items.append(item)
        time += entry.length
        grew = .now
        reportLoss(of: entry)
    }

    private func addNeeds(of segment: Segment, to item: inout Item) {
        let ofMap = segment.map?.keys ?? []
        let keys = (segment.keys + ofMap).compactMap { rendition.number(of: $0, in: item.source) }
        let keyPieces = keys.compactMap { rendition.keys.resource($0) }
        item.needed = keyPieces.map { (rendition.keys.folder, $0) }
        let map = segment.map.flatMap { rendition.resource(of: $0, in: item.source) }
        let media = rendition.resource(of: segment, in: item.source)
        guard let media, segment.map == nil || map != nil else {
            item.needed = []
            item.loss = "its URI is no URL"
            return report("segment \(item.number) is missing in the recording: line \(segment.line) is no URL")
        }
        for piece in [map, media] {
            guard let piece else { continue }
            item.needed.append((rendition.folder, piece))
        }
    }

    private func reportLoss(of entry: LiveNumbering.Entry) {
        switch entry {
        case .missed(let missed):
            report(
                "\(missed.numbers.count) segments from \(missed.numbers.lowerBound) on are missing in the recording: they "
                    + "had left the origin's playlist before it was read")
        case .segment(_, let number, true):
            report("the origin began its numbers anew; the recording goes on with \(number) behind a discontinuity")
        case .segment: break
        }
    }
}
