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
    @LoopActor static func make(
        of asset: Asset, faults: [String: [String: PieceFault]], pinned: PinnedContent
    ) async -> VerificationReport {
        var report = VerificationReport()
        var slice = LoopSlice()
        for rendition in asset.renditions + asset.content.images + asset.content.additions.sorted {
            let wrong = faults[rendition.folder.id] ?? [:]
            guard !rendition.folder.sizes.isEmpty || !wrong.isEmpty || pinned.includes(rendition: rendition.name.id)
            else { continue }
            var part = Part(rendition, faults: wrong, pinned: pinned)
            if let input = VerifiedSegments.Input(rendition, faults: Set(wrong.keys), pinned: pinned) {
                let found = await PureWork.shared.run(size: 64 * input.files.count, for: rendition) {
                    VerifiedSegments(input)
                }
                part.stored = found?.stored ?? []
                part.holes += found?.holes ?? []
            }
            report.parts.append(part)
            await slice.giveWay()
        }
        let wrongKeys = faults[asset.keys.folder.id] ?? [:]
        if let keys = Part(asset.keys, of: asset, faults: wrongKeys, pinned: pinned) {
            report.parts.append(keys)
        }
        let data = asset.content.sessionData.folder
        let wrong = faults[data.id] ?? [:]
        if !data.sizes.isEmpty || !wrong.isEmpty {
            report.parts.append(Part(data, faults: wrong) { _ in nil })
        }
        return report
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

    /// All that it is computed from.
    struct Input: Sendable {
        let segments: Segments
        /// The segments' files, by index.
        let files: [String]
        let sizes: PieceTable<Int64>
        /// The indices of segments of subtitles that the origin does not have.
        let givenUp: Set<Int>
        let folder: String
        let faults: Set<String>
        let pinned: PinnedContent

        /// Nil unless the playlist is known, and has ended.
        @LoopActor init?(_ rendition: Rendition, faults: Set<String>, pinned: PinnedContent) {
            guard let source = rendition.source, source.isDurable else { return nil }
            segments = source.playlist.segments
            files = rendition.segmentFiles
            sizes = rendition.folder.sizes
            givenUp = rendition.givenUpIndices
            folder = rendition.name.id
            self.faults = faults
            self.pinned = pinned
        }
    }

    init() {}

    init(_ input: Input) {
        var time = 0.0
        for (segment, file) in zip(input.segments, input.files) {
            let number = Int(segment.mediaSequenceNumber)
            let span = SegmentSpan(number: number, start: time, duration: segment.duration.seconds)
            time = span.end
            if segment.isGap || input.sizes[file] != nil {
                add(stored: span)
            } else if input.faults.contains(file) {
                addMismatch()
            } else {
                let isPinned = input.pinned.contains(.segment(number), of: input.folder, span)
                add(hole: file, span, isWanted: isPinned && !input.givenUp.contains(segment.index))
            }
        }
    }

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
