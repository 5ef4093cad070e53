import Assets
import EventLoop
import Fetching
import HLS
import Playheads
import Retention
package import Store

/// The findings of a verification, rendition by rendition.
package struct VerificationReport: Equatable, Sendable {
    /// Consecutive pieces that a rendition names and the store lacks.
    package struct Hole: Equatable, Sendable {
        /// The range of media time in seconds; nil for keys and initialization sections.
        package let time: Range<Double>?
        /// File names of the first and the last piece.
        package let first: String, last: String
        package let count: Int
        /// True if a download pins the pieces.
        package let isWanted: Bool
    }

    /// A damaged piece.
    package struct Mismatch: Equatable, Sendable {
        package let file: String
        /// The segment's range of media time in seconds; nil if it is not known, and for other pieces.
        package let time: Range<Double>?
        package let fault: PieceFault
        /// True if the piece was stored again.
        package let isRepaired: Bool
    }

    /// A rendition, or the keys or session data of the asset.
    package struct Part: Equatable, Sendable {
        /// The name of the folder in the bundle.
        package let id: String
        /// Number of stored pieces: undamaged and repaired ones.
        package var pieces = 0
        package var bytes: Int64 = 0
        /// Stored ranges of media time in seconds. Segments marked by EXT-X-GAP count as stored.
        package var stored: [Range<Double>] = []
        /// Missing pieces, without the damaged ones.
        package var holes: [Hole] = []
        package var mismatches: [Mismatch] = []

        init(id: String) { self.id = id }

        /// Number of missing pieces that a download pins or that were damaged.
        package var remaining: Int {
            let wanted = holes.filter(\.isWanted)
            return wanted.reduce(0) { $0 + $1.count } + mismatches.count { !$0.isRepaired }
        }
    }

    /// The parts with stored or pinned pieces.
    package var parts: [Part] = []

    /// Number of missing pieces that a download pins or that were damaged.
    package var remaining: Int { parts.reduce(0) { $0 + $1.remaining } }
}

extension VerificationReport {
    @LoopActor init(of asset: Asset, faults: [String: [String: PieceFault]], pinned: PinnedContent) {
        for rendition in asset.renditions + asset.content.images + asset.content.additions.sorted {
            let wrong = faults[rendition.folder.id] ?? [:]
            guard !rendition.folder.sizes.isEmpty || !wrong.isEmpty || pinned.includes(rendition: rendition.name.id)
            else { continue }
            parts.append(Part(rendition, faults: wrong, pinned: pinned))
        }
        let wrongKeys = faults[asset.keys.folder.id] ?? [:]
        if let keys = Part(asset.keys, of: asset, faults: wrongKeys, pinned: pinned) {
            parts.append(keys)
        }
        let data = asset.content.sessionData.folder
        let wrong = faults[data.id] ?? [:]
        if !data.sizes.isEmpty || !wrong.isEmpty {
            parts.append(Part(data, faults: wrong) { _ in nil })
        }
    }
}

extension VerificationReport.Part {
    @LoopActor fileprivate init(
        _ folder: PieceFolder, faults: [String: PieceFault], time: (String) -> Range<Double>?
    ) {
        self.init(id: folder.id)
        pieces = folder.sizes.count
        bytes = folder.pieceList.bytesByName
        mismatches = faults.map { file, fault in
            .init(file: file, time: time(file), fault: fault, isRepaired: folder.contains(file))
        }
        mismatches.sort { ($0.start, $0.file) < ($1.start, $1.file) }
    }

    @LoopActor fileprivate init(_ rendition: Rendition, faults: [String: PieceFault], pinned: PinnedContent) {
        let timeline = rendition.timeline
        self.init(rendition.folder, faults: faults) { file in
            guard case .segment(let number)? = PieceName(file)?.role, let span = timeline?.span(of: number) else {
                return nil
            }
            return span.start..<max(span.start, span.end)
        }
        guard let source = rendition.source, source.isDurable else { return }
        for map in source.playlist.maps {
            let file = rendition.name(of: map).description
            addHole(file, in: rendition.folder, faults: faults, pinned: pinned)
        }
        addSegments(of: source.playlist, in: rendition, faults: faults, pinned: pinned)
    }

    @LoopActor fileprivate init?(
        _ keys: KeyRing, of asset: Asset, faults: [String: PieceFault], pinned: PinnedContent
    ) {
        var wanted: Set<Int> = []
        for rendition in asset.renditions + asset.content.additions.sorted
        where !rendition.folder.sizes.isEmpty || pinned.includes(rendition: rendition.name.id) {
            wanted.formUnion(rendition.keyNumbers.compactMap(\.self))
        }
        guard !keys.folder.sizes.isEmpty || !faults.isEmpty || !wanted.isEmpty else { return nil }
        self.init(keys.folder, faults: faults) { _ in nil }
        for number in wanted.sorted() where keys.isUsable(number) {
            addHole(KeyRing.name(number).description, in: keys.folder, faults: faults, pinned: pinned)
        }
    }

    @LoopActor private mutating func addHole(
        _ file: String, in folder: PieceFolder, faults: [String: PieceFault], pinned: PinnedContent
    ) {
        guard !folder.contains(file), faults[file] == nil, let role = PieceName(file)?.role else { return }
        let isWanted = pinned.contains(role, of: folder.id, nil)
        holes.append(.init(time: nil, first: file, last: file, count: 1, isWanted: isWanted))
    }

    @LoopActor private mutating func addSegments(
        of playlist: MediaPlaylist, in rendition: Rendition, faults: [String: PieceFault], pinned: PinnedContent
    ) {
        var verified = VerifiedSegments()
        var time = 0.0
        for segment in playlist.segments {
            let span = SegmentSpan(
                number: Int(segment.mediaSequenceNumber), start: time, duration: segment.duration.seconds)
            time = span.end
            let file = rendition.file(of: segment)
            if segment.isGap || rendition.folder.contains(file) {
                verified.add(stored: span)
            } else if faults[file] != nil {
                verified.addMismatch()
            } else {
                let role = rendition.name(of: segment).role
                let isWanted = !rendition.isWithoutCues(segment) && pinned.contains(role, of: rendition.name.id, span)
                verified.add(hole: file, span, isWanted: isWanted)
            }
        }
        stored = verified.stored
        holes += verified.holes
    }
}

extension VerificationReport.Mismatch {
    /// In seconds, for the order: files without a time come first.
    fileprivate var start: Double { time?.lowerBound ?? -1 }
}

/// Joins consecutive stored or missing segments. Pure.
struct VerifiedSegments {
    /// Stored ranges of media time.
    private(set) var stored: [Range<Double>] = []
    private(set) var holes: [VerificationReport.Hole] = []
    private var last: Kind?

    private enum Kind: Equatable { case stored, hole(isWanted: Bool), mismatch }

    mutating func add(stored span: SegmentSpan) {
        if last == .stored, let first = stored.popLast() {
            stored.append(first.lowerBound..<span.end)
        } else {
            stored.append(span.start..<span.end)
        }
        last = .stored
    }

    mutating func add(hole file: String, _ span: SegmentSpan, isWanted: Bool) {
        if last == .hole(isWanted: isWanted), let before = holes.popLast(), let time = before.time {
            holes.append(
                .init(
                    time: time.lowerBound..<span.end, first: before.first, last: file, count: before.count + 1,
                    isWanted: isWanted))
        } else {
            holes.append(.init(time: span.start..<span.end, first: file, last: file, count: 1, isWanted: isWanted))
        }
        last = .hole(isWanted: isWanted)
    }

    mutating func addMismatch() { last = .mismatch }
}
