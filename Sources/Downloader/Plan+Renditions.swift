import EventLoop
import Fetching
import Library
import Playlist
import Retention

/// Connects the pure plan to the library: finds the holes of renditions in their folders.
extension Plan.Track {
    /// Finds the requested holes of a rendition whose playlist is known.
    ///
    /// - Parameter isTaken: called for each missing key; returns true if another rendition's track already has it.
    @LoopActor init(of rendition: Rendition, _ wanted: WantedTime, isTaken: (Resource) -> Bool) {
        self.init(segments: Self.segments(of: rendition, wanted))
        let needed = wanted == .whole ? nil : rendition.preliminaries { wanted.touches($0, $1) }
        preliminaries = rendition.preliminaries.enumerated().compactMap { place, preliminary in
            let (folder, resource) = preliminary
            guard needed?.contains(resource.name) ?? true, !folder.contains(resource.name.description) else {
                return nil
            }
            // An expired key can only be fetched again by a renewal.
            if case .key(let number) = resource.name.role, !rendition.keys.isUsable(number) { return nil }
            // A key that several renditions share is one hole.
            if folder !== rendition.folder, isTaken(resource) { return nil }
            return Plan.Hole(.preliminary(place), time: 0..<0)
        }
    }

    @LoopActor private static func segments(of rendition: Rendition, _ wanted: WantedTime) -> [Plan.Hole] {
        var holes: [Plan.Hole] = []
        var files = FileNumbers()
        rendition.forEachSegment { segment, start, end in
            guard wanted.touches(start, end), !segment.isGap else { return }
            guard !rendition.folder.contains(rendition.file(of: segment)) else { return }
            holes.append(Plan.Hole(.segment(segment.index), time: start..<end, part: files.part(of: segment)))
        }
        return holes
    }

    /// Numbers files in order of appearance; consecutive ranges of one file keep its number.
    private struct FileNumbers {
        private var uri = ""
        private var number = 0

        mutating func part(of segment: Segment) -> Plan.FilePart? {
            guard let range = segment.byteRange else { return nil }
            let uri = segment.uri
            if uri != self.uri { (self.uri, number) = (uri, number + 1) }
            return Plan.FilePart(file: number, bytes: range.offset..<range.end)
        }
    }
}

extension Rendition {
    /// Calls back for each segment with its start and end, in seconds from the start of the playlist.
    func forEachSegment(_ body: (Segment, _ start: Double, _ end: Double) -> Void) {
        guard let segments = source?.playlist.segments else { return }
        var time = 0.0
        for segment in segments {
            let end = time + segment.duration
            body(segment, time, end)
            time = end
        }
    }
}
