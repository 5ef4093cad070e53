import EventLoop
import Fetching
import Library
import Playheads
import Playlist
import Retention
import Store

/// Builds the report from the current folders and playlists.
extension VerificationReport {
    /// - Parameters:
    ///   - faults: the faults by folder and file.
    ///   - pinned: the content pinned by downloads.
    @LoopActor init(of asset: Asset, faults: [String: [String: PieceFault]], pinned: PinnedContent) {
        for rendition in asset.renditions + asset.images {
            let wrong = faults[rendition.folder.id] ?? [:]
            guard !rendition.folder.sizes.isEmpty || !wrong.isEmpty || pinned.includes(rendition: rendition.name.id)
            else { continue }
            parts.append(Part(rendition, wrong, pinned))
        }
        if let keys = Part(asset.keys, faults[asset.keys.folder.id] ?? [:], of: asset, pinned) { parts.append(keys) }
        let data = asset.sessionData.folder
        let wrong = faults[data.id] ?? [:]
        if !data.sizes.isEmpty || !wrong.isEmpty { parts.append(Part(data, wrong) { _ in nil }) }
    }
}

extension VerificationReport.Part {
    @LoopActor fileprivate init(
        _ folder: PieceFolder, _ faults: [String: PieceFault], time: (String) -> Range<Double>?
    ) {
        self.init(id: folder.id)
        pieces = folder.sizes.count
        bytes = folder.bytes
        mismatches = faults.map { file, fault in
            .init(file: file, time: time(file), fault: fault, isMended: folder.contains(file))
        }
        mismatches.sort { ($0.time?.lowerBound ?? -1, $0.file) < ($1.time?.lowerBound ?? -1, $1.file) }
    }

    @LoopActor fileprivate init(_ rendition: Rendition, _ faults: [String: PieceFault], _ pinned: PinnedContent) {
        let timeline = rendition.timeline
        self.init(rendition.folder, faults) { file in
            guard case .segment(let number)? = PieceName(file)?.role else { return nil }
            return timeline?.span(of: number).map { $0.start..<max($0.start, $0.end) }
        }
        guard let source = rendition.source, source.isDurable else { return }
        for map in source.playlist.maps {
            addHole(rendition.name(of: map).description, rendition.folder, faults, pinned)
        }
        addSegments(of: source.playlist, rendition, faults, pinned)
    }

    @LoopActor fileprivate init?(
        _ keys: KeyRing, _ faults: [String: PieceFault], of asset: Asset, _ pinned: PinnedContent
    ) {
        var wanted: Set<Int> = []
        for rendition in asset.renditions
        where !rendition.folder.sizes.isEmpty || pinned.includes(rendition: rendition.name.id) {
            wanted.formUnion(rendition.keyNumbers.compactMap(\.self))
        }
        guard !keys.folder.sizes.isEmpty || !faults.isEmpty || !wanted.isEmpty else { return nil }
        self.init(keys.folder, faults) { _ in nil }
        for number in wanted.sorted() where keys.isUsable(number) {
            addHole(KeyRing.name(number).description, keys.folder, faults, pinned)
        }
    }

    /// Adds a missing key or initialization section.
    @LoopActor private mutating func addHole(
        _ file: String, _ folder: PieceFolder, _ faults: [String: PieceFault], _ pinned: PinnedContent
    ) {
        guard !folder.contains(file), faults[file] == nil, let role = PieceName(file)?.role else { return }
        holes.append(
            .init(time: nil, first: file, last: file, count: 1, isWanted: pinned.contains(role, of: folder.id, nil)))
    }

    @LoopActor private mutating func addSegments(
        of playlist: MediaPlaylist, _ rendition: Rendition, _ faults: [String: PieceFault], _ pinned: PinnedContent
    ) {
        var stretches = VerifiedStretches()
        var time = 0.0
        for segment in playlist.segments {
            let span = SegmentSpan(
                number: segment.mediaSequenceNumber, start: time, duration: segment.duration)
            time = span.end
            let file = rendition.file(of: segment)
            if segment.isGap || rendition.folder.contains(file) {
                stretches.add(whole: span)
            } else if faults[file] != nil {
                stretches.addMismatch()
            } else {
                let role = rendition.name(of: segment).role
                stretches.add(hole: file, span, isWanted: pinned.contains(role, of: rendition.name.id, span))
            }
        }
        whole = stretches.whole
        holes += stretches.holes
    }
}

/// Joins consecutive stored or missing segments. Pure.
struct VerifiedStretches {
    /// Stored ranges of media time.
    private(set) var whole: [Range<Double>] = []
    /// Missing segments.
    private(set) var holes: [VerificationReport.Hole] = []
    /// The kind of the last segment.
    private var last: Kind?

    private enum Kind: Equatable { case whole, hole(isWanted: Bool), mismatch }

    /// Adds a stored segment.
    mutating func add(whole span: SegmentSpan) {
        if last == .whole, let first = whole.popLast() {
            whole.append(first.lowerBound..<span.end)
        } else {
            whole.append(span.start..<span.end)
        }
        last = .whole
    }

    /// Adds a missing segment.
    mutating func add(hole file: String, _ span: SegmentSpan, isWanted: Bool) {
        if last == .hole(isWanted: isWanted), let before = holes.popLast(), let time = before.time {
            holes.append(
                .init(
                    time: time.lowerBound..<span.end, first: before.first, last: file, count: before.count + 1,
                    isWanted: isWanted))
        } else {
            holes.append(
                .init(time: span.start..<span.end, first: file, last: file, count: 1, isWanted: isWanted))
        }
        last = .hole(isWanted: isWanted)
    }

    /// Adds a damaged segment.
    mutating func addMismatch() { last = .mismatch }
}
